/** Ledger of one rate limit that several replicas share. See docs/fleet.md#budgets. */
import { z } from 'zod';

/** Requests that the platform still accepts in a window, as a response showed it. Times are the server's. */
const window = z.object({
  limit: z.number().nonnegative(),
  remaining: z.number(),
  /** End of the window, in milliseconds since the epoch. */
  resetAt: z.number(),
});
export type LedgerWindow = z.infer<typeof window>;

export const ledger = z.object({
  window: window.nullable(),
  /** Requests that each holder may send or has in flight, by holder. */
  reserved: z.record(z.string(), z.number()),
  /** Holder whose request shows the next window, until a time; null: none. */
  probe: z.object({ holder: z.string(), until: z.number() }).nullable(),
});
export type Ledger = z.infer<typeof ledger>;

/** Part of a replica in an exchange with the ledger. */
export interface LedgerReport {
  /** Budget of a replica. */
  readonly holder: string;
  /** Server time, as the replica estimates it. */
  readonly now: number;
  /** Lowest count that a response has shown in the newest window; null if none. */
  readonly observed: LedgerWindow | null;
  /** Requests in flight. */
  readonly inFlight: number;
  /** Requests without a response since the last report, which the platform may have counted. */
  readonly lost: number;
  /** Requests that it would like to send. */
  readonly wanted: number;
}

export interface LedgerGrant {
  readonly granted: number;
  /** End of the window that the requests are granted for; null if one request is to show the window. */
  readonly resetAt: number | null;
}

/** Resets of one window differ by rounding. */
const SAME = 1000;
/** Milliseconds for the request that shows a window. */
const PROBE = 5000;
export const EMPTY_LEDGER: Ledger = { window: null, reserved: {}, probe: null };

/** Returns the ledger after a report of a replica, and the requests that the replica may send now. */
export function exchange(
  before: Ledger,
  report: LedgerReport,
): { readonly ledger: Ledger; readonly grant: LedgerGrant } {
  const { holder, now, inFlight, wanted } = report;
  const current = mergeWindow(before, report);
  const probe =
    before.probe !== null && before.probe.until > now && before.probe.holder !== holder ? before.probe : null;
  const others = Object.entries(current.reserved).filter(([id]) => id !== holder);
  if (current.window === null || current.window.resetAt <= now) {
    const isProbing = probe === null && wanted > 0;
    const granted = isProbing ? 1 : 0;
    return {
      ledger: {
        window: current.window,
        reserved: { ...Object.fromEntries(others), [holder]: inFlight + granted },
        probe: isProbing ? { holder, until: now + PROBE } : probe,
      },
      grant: { granted, resetAt: null },
    };
  }
  const reserved = others.reduce((sum, [, count]) => sum + count, inFlight);
  const free = Math.max(0, Math.floor(current.window.remaining - reserved));
  // Half of what is free: the rest is for the others.
  const granted = Math.min(wanted, Math.ceil(free / 2));
  return {
    ledger: {
      window: current.window,
      reserved: { ...Object.fromEntries(others.filter(([, count]) => count > 0)), [holder]: inFlight + granted },
      probe,
    },
    grant: { granted, resetAt: current.window.resetAt },
  };
}

/** Returns one ledger for two, whose budgets turned out to be the same. */
export function mergeLedgers(a: Ledger, b: Ledger): Ledger {
  const [older, newer] = (a.window?.resetAt ?? 0) <= (b.window?.resetAt ?? 0) ? [a, b] : [b, a];
  const reserved = { ...older.reserved };
  for (const [holder, count] of Object.entries(newer.reserved)) {
    reserved[holder] = (reserved[holder] ?? 0) + count;
  }
  return { window: newestWindow(older.window, newer.window), reserved, probe: newer.probe ?? older.probe };
}

/** Returns the newer window; of two views of one window, the one with the lower count. */
function newestWindow(older: LedgerWindow | null, newer: LedgerWindow | null): LedgerWindow | null {
  const isSame = older !== null && newer !== null && newer.resetAt - older.resetAt <= SAME;
  return isSame ? { ...newer, remaining: Math.min(older.remaining, newer.remaining) } : newer;
}

/** Returns the window and the reservations in it. */
function mergeWindow(
  { window: known, reserved }: Ledger,
  { observed, now, lost }: LedgerReport,
): Pick<Ledger, 'window' | 'reserved'> {
  const isOver = known === null || known.resetAt <= now;
  if (observed !== null && observed.resetAt > now && (isOver || observed.resetAt > known.resetAt + SAME)) {
    return { window: observed, reserved: isOver ? {} : reserved };
  }
  if (known === null) {
    return { window: null, reserved };
  }
  const isSame = observed !== null && Math.abs(observed.resetAt - known.resetAt) <= SAME;
  const remaining = Math.min(known.remaining - lost, isSame ? observed.remaining : Number.POSITIVE_INFINITY);
  return { window: { ...known, remaining }, reserved };
}
