/**
 * Ledgers of a token, one for each budget. Replicas learn at different times that rate-limit keys, such as reads and
 * writes, share a budget. What one of them has learned is stored here, so that all use the same ledger.
 */
import { z } from 'zod';
import { EMPTY_LEDGER, exchange, type LedgerGrant, type LedgerReport, ledger, mergeLedgers } from './ledger.ts';

const ledgers = z.array(
  z.object({
    keys: z.array(z.string()),
    /** Server time until which the keys share a budget, unless a replica reports it again. */
    joinedUntil: z.number(),
    ledger,
  }),
);
type Entry = z.infer<typeof ledgers>[number];

/** Milliseconds for which keys stay joined after the last report of a replica that has joined them. */
const JOINED = 600_000;
/** Milliseconds after the end of its window for which a ledger is kept. */
const KEPT = 3_600_000;

export interface KeyedReport extends LedgerReport {
  /** Rate-limit keys that share the budget, as far as the replica knows. */
  readonly keys: readonly string[];
}

/**
 * Returns the ledgers after a report of a replica, and the requests that the replica may send now. An unknown format counts as
 * no ledgers.
 */
export function exchangeKeys(
  stored: unknown,
  { keys, ...report }: KeyedReport,
): { readonly ledgers: readonly Entry[]; readonly grant: LedgerGrant } {
  const { now } = report;
  const parsed = ledgers.safeParse(stored);
  const before = (parsed.success ? parsed.data : []).flatMap((entry) => separate(entry, keys, now));
  const [own, others] = [before.filter(isOf(keys)), before.filter((entry) => !isOf(keys)(entry))];
  const merged = own.reduce((sum, entry) => mergeLedgers(sum, entry.ledger), EMPTY_LEDGER);
  const result = exchange(merged, report);
  const until = own.reduce((latest, entry) => Math.max(latest, entry.joinedUntil), 0);
  const entry = {
    keys: [...new Set([...keys, ...own.flatMap((each) => each.keys)])].sort(),
    joinedUntil: keys.length > 1 ? now + JOINED : until,
    ledger: result.ledger,
  };
  return { ledgers: [...others.filter(isRecent(now)), entry], grant: result.grant };
}

function isOf(keys: readonly string[]): (entry: Entry) => boolean {
  return (entry) => entry.keys.some((key) => keys.includes(key));
}

function isRecent(now: number): (entry: Entry) => boolean {
  return ({ ledger: { window, probe } }) => Math.max(window?.resetAt ?? 0, probe?.until ?? 0) > now - KEPT;
}

/** Returns an entry without keys that nobody has reported as joined for a while, and another one for those. */
function separate(entry: Entry, keys: readonly string[], now: number): readonly Entry[] {
  const rest = entry.keys.filter((key) => !keys.includes(key));
  const isJoined = entry.joinedUntil > now || rest.length === 0 || rest.length === entry.keys.length;
  return isJoined
    ? [entry]
    : [
        { ...entry, keys: entry.keys.filter((key) => keys.includes(key)) },
        { ...entry, keys: rest },
      ];
}
