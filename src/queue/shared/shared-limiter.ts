import type { Clock } from '../../core/clock.ts';
import type { RateHeaders } from '../model/rate-headers.ts';
import type { Budget } from '../rate-limit/budget.ts';
import type { RememberedBudget } from '../rate-limit/memory.ts';
import type { Decision } from '../rate-limit/pacing.ts';
import type { Permit } from '../rate-limit/permit.ts';
import { type BudgetChange, type Call, createRateLimiter, type RateLimiter } from '../rate-limit/rate-limiter.ts';
import type { ServerClock } from '../rate-limit/server-clock.ts';
import { SharedBudget } from './shared-budget.ts';
import type { SharedState } from './shared-state.ts';

export interface LimiterOptions {
  /** State that the replicas share; absent: this process is the only one that uses the token. */
  readonly state: SharedState | undefined;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  /** Called when a request may be sent earlier than decided. */
  readonly wake: () => void;
}

interface SharedLimiterOptions extends LimiterOptions {
  readonly limiter: RateLimiter;
  readonly state: SharedState;
}

/** Opens the rate limiter of a token, which other replicas may use as well. */
export function openLimiter({ state, ...options }: LimiterOptions): RateLimiter {
  const limiter = createRateLimiter(options.serverClock);
  return state === undefined ? limiter : new SharedLimiter({ ...options, limiter, state });
}

/**
 * Rate limiter of a replica whose token other replicas use as well: a request needs the consent of the limiter, and a
 * reservation in the ledger of its budget. Token buckets have no ledger: what is left of them shows in every response.
 */
class SharedLimiter implements RateLimiter {
  readonly #options: SharedLimiterOptions;
  readonly #limiter: RateLimiter;
  readonly #shared = new Map<string, SharedBudget>();
  /** Budget under which each request was sent. */
  readonly #sent = new WeakMap<Permit, SharedBudget>();

  constructor(options: SharedLimiterOptions) {
    this.#options = options;
    this.#limiter = options.limiter;
  }

  budget(call: Call): Budget {
    return this.#limiter.budget(call);
  }

  budgets(): readonly Budget[] {
    return this.#limiter.budgets();
  }

  remember(now: number): RememberedBudget[] {
    return this.#limiter.remember(now);
  }

  recall(remembered: readonly RememberedBudget[], now: number): void {
    this.#limiter.recall(remembered, now);
  }

  limitKey(call: Call): string {
    return this.#limiter.limitKey(call);
  }

  decide(call: Call, now: number, waiting: number, urgent: boolean): Decision {
    const decision = this.#limiter.decide(call, now, waiting, urgent);
    if (decision.kind === 'wait' || this.budget(call).isBucket) {
      return decision;
    }
    return this.#sharedBudget(call).decide(now, waiting) ?? decision;
  }

  onSent(call: Call, now: number, probe: boolean): Permit {
    const permit = this.#limiter.onSent(call, now, probe);
    const shared = this.#sharedBudget(call);
    this.#sent.set(permit, shared);
    shared.onSent();
    return permit;
  }

  onResponse(permit: Permit, headers: RateHeaders, receivedAt: number): BudgetChange {
    this.#sent.get(permit)?.onAnswer(headers, receivedAt);
    return this.#limiter.onResponse(permit, headers, receivedAt);
  }

  onRefused(permit: Permit, headers: RateHeaders, receivedAt: number, jitter: number): void {
    this.#sent.get(permit)?.onAnswer(headers, receivedAt);
    this.#limiter.onRefused(permit, headers, receivedAt, jitter);
  }

  onLost(permit: Permit): void {
    this.#sent.get(permit)?.onLost();
    this.#limiter.onLost(permit);
  }

  onUnsent(permit: Permit): void {
    this.#sent.get(permit)?.onUnsent();
    this.#limiter.onUnsent(permit);
  }

  #sharedBudget(call: Call): SharedBudget {
    const keys = [...this.budget(call).limitKeys].sort();
    const name = keys.join(',');
    const shared = this.#shared.get(name) ?? new SharedBudget({ ...this.#options, keys });
    this.#shared.set(name, shared);
    return shared;
  }
}
