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

const ledger = z.object({
  window: window.nullable(),
  /** Requests that each replica may send or has in flight, by replica. */
  reserved: z.record(z.string(), z.number()),
  /** Replica whose request shows the next window, until a time; null: none. */
  probe: z.object({ replica: z.string(), until: z.number() }).nullable(),
});
export type Ledger = z.infer<typeof ledger>;

/** Part of a replica in an exchange with the ledger. */
export interface LedgerReport {
  readonly replica: string;
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
const EMPTY: Ledger = { window: null, reserved: {}, probe: null };

/** Reads a stored ledger; an unknown format is an empty one. */
export function parseLedger(value: unknown): Ledger {
  const parsed = ledger.safeParse(value);
  return parsed.success ? parsed.data : EMPTY;
}

/** Returns the ledger after a report of a replica, and the requests that the replica may send now. */
export function exchange(
  before: Ledger,
  report: LedgerReport,
): { readonly ledger: Ledger; readonly grant: LedgerGrant } {
  const { replica, now, inFlight, wanted } = report;
  const current = mergeWindow(before, report);
  const probe =
    before.probe !== null && before.probe.until > now && before.probe.replica !== replica ? before.probe : null;
  const others = Object.entries(current.reserved).filter(([id]) => id !== replica);
  if (current.window === null || current.window.resetAt <= now) {
    const isProbing = probe === null && wanted > 0;
    const granted = isProbing ? 1 : 0;
    return {
      ledger: {
        window: current.window,
        reserved: { ...Object.fromEntries(others), [replica]: inFlight + granted },
        probe: isProbing ? { replica, until: now + PROBE } : probe,
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
      reserved: { ...Object.fromEntries(others.filter(([, count]) => count > 0)), [replica]: inFlight + granted },
      probe,
    },
    grant: { granted, resetAt: current.window.resetAt },
  };
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
