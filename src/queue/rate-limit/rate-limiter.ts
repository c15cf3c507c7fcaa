// Limits the rate of requests to what the platform's responses allow.
import type { RateHeaders } from '../model/rate-headers.ts';
import { REQUEST_CLASSES, type RequestClass } from '../model/request.ts';
import { Budget } from './budget.ts';
import type { RememberedBudget } from './memory.ts';
import type { Decision } from './pacing.ts';
import { PerOperationLimits } from './per-operation-limits.ts';
import type { Permit } from './permit.ts';
import type { ServerClock } from './server-clock.ts';

/** Consecutive responses that must agree before two budgets are merged. */
const REQUIRED_EVIDENCE = 3;

/** Part of a request that determines its budget. */
export interface Call {
  readonly class: RequestClass;
  /** Name of the operation. */
  readonly name: string;
}

/** Change of the budgets after a response: two were joined, or a class was split into one per operation. */
export type BudgetChange = 'joined' | 'split' | null;

/**
 * Rate limiter that decides from the responses when a request may be sent. It never waits itself; the time is
 * passed in, in monotonic milliseconds.
 *
 * | state of the budget | next request |
 * |---|---|
 * | unknown, or the window is over | one is sent as a probe, the others wait for its response |
 * | enough for all waiting requests | sent |
 * | not enough for all waiting requests | sent if urgent; otherwise paced over the window |
 * | possibly used up by other clients | one at a time |
 * | used up | waits for the reset |
 * | cooldown after a 429 | waits for Retry-After, else for the reset; then one probe |
 */
export interface RateLimiter {
  /** Returns the budget of a call: that of its class, or of its operation if the class was split. */
  budget(call: Call): Budget;
  /** Returns each budget once. */
  budgets(): readonly Budget[];
  /** Returns the state to save for the next process. */
  remember(now: number): RememberedBudget[];
  /** Restores the state that another process saved; call it before anything is sent. */
  recall(remembered: readonly RememberedBudget[], now: number): void;
  /** Returns the rate-limit key of a call: its class, or its operation if the class was split. */
  limitKey(call: Call): string;
  /** Decides about the next request; `waiting` requests share its budget. */
  decide(call: Call, now: number, waiting: number, urgent: boolean): Decision;
  /** Records a request that is sent now. */
  onSent(call: Call, now: number, probe: boolean): Permit;
  /** Records a response other than 429. */
  onResponse(permit: Permit, headers: RateHeaders, receivedAt: number): BudgetChange;
  /** Records a 429. `jitter` in [0, 1) spreads the backoff if the platform names no wait. */
  onRefused(permit: Permit, headers: RateHeaders, receivedAt: number, jitter: number): void;
  /** Records a request that was sent and got no response. */
  onLost(permit: Permit): void;
  /** Records a request that never reached the platform. */
  onUnsent(permit: Permit): void;
}

/** Creates a rate limiter with one budget per class. */
export function createRateLimiter(clock: ServerClock): RateLimiter {
  return new ClassRateLimiter(clock);
}

class ClassRateLimiter implements RateLimiter {
  readonly #clock: ServerClock;
  readonly #byKey = new Map<string, Budget>();
  readonly #split = new Set<RequestClass>();
  readonly #splitDetectors = new Map<RequestClass, PerOperationLimits>();
  readonly #joinEvidence = new Map<string, number>();
  #budgets: Budget[] = [];

  constructor(clock: ServerClock) {
    this.#clock = clock;
    for (const name of REQUEST_CLASSES) {
      this.#add(new Budget(name, name, clock));
      this.#splitDetectors.set(name, new PerOperationLimits());
    }
  }

  limitKey(call: Call): string {
    return this.#split.has(call.class) ? `${call.class} ${call.name}` : call.class;
  }

  budget(call: Call): Budget {
    const key = this.limitKey(call);
    return this.#byKey.get(key) ?? this.#add(new Budget(key, call.class, this.#clock));
  }

  budgets(): readonly Budget[] {
    return this.#budgets;
  }

  remember(now: number): RememberedBudget[] {
    return this.#budgets.flatMap((budget) => budget.remember(now) ?? []);
  }

  recall(remembered: readonly RememberedBudget[], now: number): void {
    for (const each of remembered) {
      const [own, ...others] = each.classes.flatMap((name) => this.#byKey.get(name) ?? []);
      for (const other of others) {
        if (own !== undefined && other !== own) {
          this.#join(own, other);
        }
      }
      own?.recall(each, now);
    }
  }

  decide(call: Call, now: number, waiting: number, urgent: boolean): Decision {
    return this.budget(call).decide(now, waiting, urgent);
  }

  onSent(call: Call, now: number, probe: boolean): Permit {
    return this.budget(call).onSent({ call, limitKey: this.limitKey(call), sentAt: now, probe });
  }

  onResponse(permit: Permit, headers: RateHeaders, receivedAt: number): BudgetChange {
    this.#clock.observe(headers, permit.sentAt, receivedAt);
    const own = this.#budgetOf(permit);
    own.onResponse(permit, headers, receivedAt);
    if (headers.remaining === null || this.limitKey(permit.call) !== permit.limitKey) {
      return null;
    }
    const { class: requestClass, name } = permit.call;
    // The remaining count of a bucket rises by itself, which would look like separate limits.
    if (!this.#split.has(requestClass) && !own.isBucket) {
      const detector = this.#splitDetectors.get(requestClass);
      if (detector?.observe(name, headers, permit.sentAt, receivedAt)) {
        this.#splitClass(requestClass);
        return 'split';
      }
    }
    return this.#joinIfSame(own) ? 'joined' : null;
  }

  onRefused(permit: Permit, headers: RateHeaders, receivedAt: number, jitter: number): void {
    this.#clock.observe(headers, permit.sentAt, receivedAt);
    this.#budgetOf(permit).onRefused(permit, headers, receivedAt, jitter);
  }

  onLost(permit: Permit): void {
    this.#budgetOf(permit).onLost(permit);
  }

  onUnsent(permit: Permit): void {
    this.#budgetOf(permit).onUnsent(permit);
  }

  /** Returns the budget under which a call was sent, even if it would be another one now. */
  #budgetOf(permit: Permit): Budget {
    return this.#byKey.get(permit.limitKey) as Budget;
  }

  #add(budget: Budget): Budget {
    for (const key of budget.limitKeys) {
      this.#byKey.set(key, budget);
    }
    this.#budgets.push(budget);
    return budget;
  }

  /** Gives each operation of the class a separate budget. */
  #splitClass(requestClass: RequestClass): void {
    this.#split.add(requestClass);
    this.#budgets = this.#budgets.filter((budget) => budget.removeClass(requestClass));
  }

  /** Joins a budget with another one once there is enough evidence that they are the same. */
  #joinIfSame(own: Budget): boolean {
    for (const other of this.#budgets) {
      const verdict = other === own ? 'none' : compareBudgets(own, other);
      if (verdict === 'none') {
        continue;
      }
      const pair = [own.limitKeys[0], other.limitKeys[0]].sort().join(', ');
      const evidence = verdict === 'same' ? (this.#joinEvidence.get(pair) ?? 0) + 1 : 0;
      this.#joinEvidence.set(pair, evidence);
      if (evidence >= REQUIRED_EVIDENCE) {
        this.#join(own, other);
        return true;
      }
    }
    return false;
  }

  #join(into: Budget, other: Budget): void {
    into.merge(other);
    this.#budgets = this.#budgets.filter((budget) => budget !== other);
    for (const key of other.limitKeys) {
      this.#byKey.set(key, into);
    }
  }
}

/**
 * Compares two budgets. They appear to be the same when limit and reset agree, both have about the same count
 * remaining, and `own` dropped by more than its own requests. `none`: there is no evidence either way.
 */
function compareBudgets(own: Budget, other: Budget): 'same' | 'different' | 'none' {
  if (own.remaining === null || other.remaining === null) {
    return 'none';
  }
  if (own.limit !== other.limit) {
    return 'different';
  }
  if (own.resetAt !== other.resetAt) {
    return 'none';
  }
  const slack = own.inFlight + other.inFlight + 2;
  // Within a window the remaining count only falls, so a later response cannot show more than an earlier one.
  if (own.remaining > other.remaining + slack) {
    return 'different';
  }
  return own.unexplained >= 1 && own.remaining >= other.remaining - slack ? 'same' : 'none';
}
