// Shares a rate limit between the replicas of a fleet, through a ledger that each of them changes in turn.

import { z } from 'zod';
import { type Clock, endsWithin } from '../core/clock.ts';
import type { Json } from '../core/json.ts';
import { type BudgetChange, type Call, type Permit, RateLimiter } from './limiter.ts';
import type { Decision } from './pacing.ts';
import type { RateHeaders } from './request.ts';
import type { ServerClock } from './server-clock.ts';
import { Timer } from './timer.ts';

/** Services that the budgets of a token share. */
interface SharedContext {
  readonly state: SharedState;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  /** Called when a request may be sent earlier than decided. */
  readonly wake: () => void;
}

/**
 * Rate limiter of a replica whose token other replicas use as well: a request needs the consent of the limiter, and a
 * reservation in the ledger of its budget. Token buckets have no ledger: what is left of them shows in every response.
 */
export class SharedLimiter extends RateLimiter {
  readonly #context: SharedContext;
  readonly #shared = new Map<string, SharedBudget>();
  /** Budget under which each request was sent. */
  readonly #sent = new WeakMap<Permit, SharedBudget>();

  constructor(context: SharedContext) {
    super(context.serverClock);
    this.#context = context;
  }

  override decide(call: Call, now: number, waiting: number, urgent: boolean): Decision {
    const decision = super.decide(call, now, waiting, urgent);
    if (decision.kind === 'wait' || this.budget(call).learned.isBucket) {
      return decision;
    }
    return this.#sharedBudget(call).decide(now, waiting) ?? decision;
  }

  override onSent(call: Call, now: number, probe: boolean): Permit {
    const permit = super.onSent(call, now, probe);
    const shared = this.#sharedBudget(call);
    this.#sent.set(permit, shared);
    shared.onSent();
    return permit;
  }

  override onResponse(permit: Permit, headers: RateHeaders, receivedAt: number): BudgetChange {
    this.#sent.get(permit)?.onAnswer(headers, receivedAt);
    return super.onResponse(permit, headers, receivedAt);
  }

  override onRefused(permit: Permit, headers: RateHeaders, receivedAt: number, jitter: number): void {
    this.#sent.get(permit)?.onAnswer(headers, receivedAt);
    super.onRefused(permit, headers, receivedAt, jitter);
  }

  override onLost(permit: Permit): void {
    this.#sent.get(permit)?.onLost();
    super.onLost(permit);
  }

  override onUnsent(permit: Permit): void {
    this.#sent.get(permit)?.onUnsent();
    super.onUnsent(permit);
  }

  #sharedBudget(call: Call): SharedBudget {
    const keys = [...this.budget(call).limitKeys].sort();
    const name = keys.join(',');
    const shared = this.#shared.get(name) ?? new SharedBudget(keys, this.#context);
    this.#shared.set(name, shared);
    return shared;
  }
}

/** Milliseconds until the next exchange if nothing was granted: while another replica's request shows the window, and later. */
const PROBE_POLL = 100;
const POLL = 1000;
/** Milliseconds after the last request, until what is left is given back. */
const IDLE = 250;
/** Milliseconds for an exchange. Then requests are sent without the ledger for a while. */
const TIMEOUT = 2000;
const WITHOUT = 5000;
/** Largest number of requests that are reserved at once. */
const BATCH = 50;
const WHY = 'waits for its share of the rate limit';

/** Part of a replica in a rate limit that several replicas share. Each request needs a reservation in the ledger. */
class SharedBudget {
  /** Rate-limit keys that share the budget. */
  readonly #keys: readonly string[];
  readonly #context: SharedContext;
  readonly #idle: Timer;
  #credit = 0;
  /** Server time at which the credit expires; null: it is for the request that shows the window. */
  #resetAt: number | null = null;
  #inFlight = 0;
  #lost = 0;
  #observed: LedgerWindow | null = null;
  /** True once a response had no rate-limit headers: there is nothing to share. */
  #isUnknown = false;
  #isExchanging = false;
  #nextAt = 0;
  #withoutUntil = 0;

  constructor(keys: readonly string[], context: SharedContext) {
    this.#keys = keys;
    this.#context = context;
    this.#idle = new Timer(context.clock, () => void this.#exchange(0));
  }

  /** Returns null if a request may be sent now; otherwise asks for reservations. */
  decide(now: number, waiting: number): Decision | null {
    if (this.#isUnknown || now < this.#withoutUntil) {
      return null;
    }
    this.#expire(now);
    if (this.#credit > 0) {
      return null;
    }
    if (!this.#isExchanging && now >= this.#nextAt) {
      void this.#exchange(Math.min(waiting, BATCH));
    }
    const until = this.#isExchanging ? Number.POSITIVE_INFINITY : this.#nextAt;
    return { kind: 'wait', until, why: WHY };
  }

  onSent(): void {
    this.#credit = Math.max(0, this.#credit - 1);
    this.#inFlight += 1;
  }

  onAnswer(headers: RateHeaders, receivedAt: number): void {
    this.#inFlight -= 1;
    const resetAt = this.#context.serverClock.resetOf(headers, receivedAt);
    const { limit, remaining } = headers;
    const wasUnknown = this.#isUnknown;
    this.#isUnknown = limit === null || remaining === null || resetAt === null;
    if (limit === null || remaining === null || resetAt === null) {
      if (!wasUnknown) {
        // Nobody needs to wait for a window to show.
        void this.#exchange(0);
      }
      return;
    }
    const known = this.#observed;
    this.#observed =
      known === null || resetAt > known.resetAt + SAME
        ? { limit, remaining, resetAt }
        : { limit, remaining: Math.min(remaining, known.remaining), resetAt: known.resetAt };
    this.#giveBackLater();
  }

  onLost(): void {
    this.#inFlight -= 1;
    this.#lost += 1;
    this.#giveBackLater();
  }

  onUnsent(): void {
    this.#inFlight -= 1;
    this.#giveBackLater();
  }

  #giveBackLater(): void {
    this.#idle.clear();
    this.#idle.set(this.#context.clock.monotonic() + IDLE);
  }

  #nextExchange({ granted, resetAt }: LedgerGrant, now: number): number {
    if (granted > 0) {
      return now;
    }
    const reset = resetAt === null ? now + PROBE_POLL : this.#context.serverClock.toMonotonic(resetAt);
    return Math.min(now + POLL, Math.max(reset, now + 1));
  }

  #expire(now: number): void {
    if (this.#resetAt !== null && this.#context.serverClock.toServer(now) >= this.#resetAt) {
      this.#credit = 0;
      this.#resetAt = null;
    }
  }

  async #exchange(wanted: number): Promise<void> {
    if (this.#isExchanging) {
      return;
    }
    this.#isExchanging = true;
    const { state, clock, serverClock, wake } = this.#context;
    const keys = this.#keys;
    const lost = this.#lost;
    const holder = `${state.replica} ${keys.join(',')}`;
    const report = { keys, holder, observed: this.#observed, inFlight: this.#inFlight, lost, wanted };
    // Credit that is left is given back, and reserved again if it is wanted.
    this.#credit = 0;
    let grant: LedgerGrant = { granted: 0, resetAt: null };
    const change = (value: Json): Json => {
      const result = exchangeKeys(value, { ...report, now: serverClock.toServer(clock.monotonic()) });
      grant = result.grant;
      return result.ledgers;
    };
    const done = state.update(change).then(
      () => true,
      () => false,
    );
    const hasEnded = await endsWithin(clock, TIMEOUT, [done]);
    this.#isExchanging = false;
    const now = clock.monotonic();
    if (!hasEnded || !(await done)) {
      this.#withoutUntil = now + WITHOUT;
    } else {
      this.#lost -= lost;
      this.#credit = grant.granted;
      this.#resetAt = grant.resetAt;
      this.#nextAt = this.#nextExchange(grant, now);
    }
    wake();
  }
}

/** Requests that the platform still accepts in a window, as a response showed it. Times are the server's. */
const window = z.object({
  limit: z.number().nonnegative(),
  remaining: z.number(),
  /** End of the window, in milliseconds since the epoch. */
  resetAt: z.number(),
});
type LedgerWindow = z.infer<typeof window>;

const ledger = z.object({
  window: window.nullable(),
  /** Requests that each holder may send or has in flight, by holder. */
  reserved: z.record(z.string(), z.number()),
  /** Holder whose request shows the next window, until a time; null: none. */
  probe: z.object({ holder: z.string(), until: z.number() }).nullable(),
});
export type Ledger = z.infer<typeof ledger>;

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

interface KeyedReport extends LedgerReport {
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

/** Part of a replica in an exchange with the ledger. */
interface LedgerReport {
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

interface LedgerGrant {
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
  const { window, reserved } = mergeWindow(before, report);
  const isOpen = window !== null && window.resetAt > now;
  const isProbed = before.probe !== null && before.probe.until > now && before.probe.holder !== holder;
  const others = Object.entries(reserved).filter(([id, count]) => id !== holder && count > 0);
  const taken = others.reduce((sum, [, count]) => sum + count, inFlight);
  const free = isOpen ? Math.max(0, Math.floor(window.remaining - taken)) : 0;
  // Half of what is free: the rest is for the others. Without a window, one request shows it.
  const granted = Math.min(wanted, isOpen ? Math.ceil(free / 2) : Number(!isProbed));
  const probe = isProbed ? before.probe : null;
  return {
    ledger: {
      window,
      reserved: { ...Object.fromEntries(others), [holder]: inFlight + granted },
      probe: !isOpen && granted > 0 ? { holder, until: now + PROBE } : probe,
    },
    grant: { granted, resetAt: isOpen ? window.resetAt : null },
  };
}

/** Returns one ledger for two, whose budgets turned out to be the same. */
function mergeLedgers(a: Ledger, b: Ledger): Ledger {
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

/** State of a token that several replicas change, one after the other. */
export interface SharedState {
  /** Id of this replica. */
  readonly replica: string;
  /** Replaces the state with the result of `change`. Throws if it cannot be used. */
  update(change: (value: Json) => Json): Promise<void>;
}
