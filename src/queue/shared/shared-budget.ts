import { type Clock, endsWithin } from '../../core/clock.ts';
import type { Json } from '../../core/json.ts';
import type { RateHeaders } from '../model/rate-headers.ts';
import { Timer } from '../model/timer.ts';
import type { Decision } from '../rate-limit/pacing.ts';
import type { ServerClock } from '../rate-limit/server-clock.ts';
import type { LedgerGrant, LedgerWindow } from './ledger.ts';
import { exchangeKeys } from './ledgers.ts';
import type { SharedState } from './shared-state.ts';

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

export interface SharedBudgetOptions {
  /** Rate-limit keys that share the budget. */
  readonly keys: readonly string[];
  readonly state: SharedState;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  /** Called when requests may be sent that had to wait. */
  readonly wake: () => void;
}

/** Part of a replica in a rate limit that several replicas share. Each request needs a reservation in the ledger. */
export class SharedBudget {
  readonly #options: SharedBudgetOptions;
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

  constructor(options: SharedBudgetOptions) {
    this.#options = options;
    this.#idle = new Timer(options.clock, () => void this.#exchange(0));
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
    const resetAt = this.#options.serverClock.resetOf(headers, receivedAt);
    const { limit, remaining } = headers;
    const wasUnknown = this.#isUnknown;
    this.#isUnknown = limit === null || remaining === null || resetAt === null;
    if (this.#isUnknown) {
      if (!wasUnknown) {
        // Nobody needs to wait for a window to show.
        void this.#exchange(0);
      }
      return;
    }
    if (limit !== null && remaining !== null && resetAt !== null) {
      const isNew = this.#observed === null || resetAt > this.#observed.resetAt + 1000;
      const lowest = isNew ? remaining : Math.min(remaining, this.#observed?.remaining ?? remaining);
      this.#observed = { limit, remaining: lowest, resetAt: isNew ? resetAt : (this.#observed?.resetAt ?? resetAt) };
    }
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
    this.#idle.set(this.#options.clock.monotonic() + IDLE);
  }

  #nextExchange({ granted, resetAt }: LedgerGrant, now: number): number {
    if (granted > 0) {
      return now;
    }
    const reset = resetAt === null ? now + PROBE_POLL : this.#options.serverClock.toMonotonic(resetAt);
    return Math.min(now + POLL, Math.max(reset, now + 1));
  }

  #expire(now: number): void {
    if (this.#resetAt !== null && this.#options.serverClock.toServer(now) >= this.#resetAt) {
      this.#credit = 0;
      this.#resetAt = null;
    }
  }

  async #exchange(wanted: number): Promise<void> {
    if (this.#isExchanging) {
      return;
    }
    this.#isExchanging = true;
    const { state, clock, keys, wake } = this.#options;
    const lost = this.#lost;
    const holder = `${state.replica} ${keys.join(',')}`;
    const report = { keys, holder, observed: this.#observed, inFlight: this.#inFlight, lost, wanted };
    // Credit that is left is given back, and reserved again if it is wanted.
    this.#credit = 0;
    let grant: LedgerGrant = { granted: 0, resetAt: null };
    const change = (value: Json): Json => {
      const now = this.#options.serverClock.toServer(clock.monotonic());
      const result = exchangeKeys(value, { ...report, now });
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
