import type { RateHeaders } from '../model/rate-headers.ts';
import { REQUEST_CLASSES, type RequestClass } from '../model/request.ts';
import { Budget } from './budget.ts';
import { compareBudgets } from './budget-comparison.ts';
import type { RememberedBudget } from './memory.ts';
import type { Decision } from './pacing.ts';
import { PerOperationLimits } from './per-operation-limits.ts';
import type { Permit } from './permit.ts';
import type { ServerClock } from './server-clock.ts';

/** Answers in a row that must agree before two budgets are taken for one. */
const PROOF = 3;

/** What of a request says which budget it draws on. */
export interface Call {
  readonly class: RequestClass;
  /** The operation. */
  readonly name: string;
}

/** What an answer proved of the budgets, if anything: that two are one, or that each operation of a class has one. */
export type Proven = 'joined' | 'split' | null;

/**
 * Decides when a request may be sent, from what the answers say. Pure: time is passed in (monotonic milliseconds),
 * nothing waits in here.
 *
 * | state of the budget | next request |
 * |---|---|
 * | nothing known, or the window is over | one probe, the others wait for its answer |
 * | more left than wait | goes |
 * | less left than wait | goes if urgent; else as the window's end comes nearer |
 * | nothing certain left | one at a time while something may be left |
 * | nothing left | waits for the reset |
 * | refused (429) | waits for Retry-After, else the reset; then one probe |
 */
export interface RateLimiter {
  /** The budget a call draws on: one for its class, or for its operation where those proved to differ. */
  budget(call: Call): Budget;
  /** Every budget once. */
  budgets(): readonly Budget[];
  /** What another process may go on from. */
  remember(now: number): RememberedBudget[];
  /** Goes on from what another process remembered; call it before anything is sent. */
  recall(remembered: readonly RememberedBudget[], now: number): void;
  /** Calls that wait in one line: those of a class, or of an operation where its class was split. */
  lane(call: Call): string;
  /** `waiting`: requests that wait for the same budget. */
  decide(call: Call, now: number, waiting: number, urgent: boolean): Decision;
  onSent(call: Call, now: number, probe: boolean): Permit;
  /** An answer that is no refusal. */
  onResponse(permit: Permit, headers: RateHeaders, receivedAt: number): Proven;
  /** A 429. `jitter` from 0 to 1 spreads the wait where the platform names none. */
  onRefused(permit: Permit, headers: RateHeaders, receivedAt: number, jitter: number): void;
  /** Sent, and no answer. */
  onLost(permit: Permit): void;
  /** It never reached the platform. */
  onUnsent(permit: Permit): void;
}

/** Every class starts with a budget of its own. */
export function createRateLimiter(clock: ServerClock): RateLimiter {
  return new ClassGate(clock);
}

class ClassGate implements RateLimiter {
  readonly #clock: ServerClock;
  readonly #byLane = new Map<string, Budget>();
  readonly #split = new Set<RequestClass>();
  readonly #splitProofs = new Map<RequestClass, PerOperationLimits>();
  readonly #joinProofs = new Map<string, number>();
  #budgets: Budget[] = [];

  constructor(clock: ServerClock) {
    this.#clock = clock;
    for (const name of REQUEST_CLASSES) {
      this.#add(new Budget(name, name, clock));
      this.#splitProofs.set(name, new PerOperationLimits());
    }
  }

  lane(call: Call): string {
    return this.#split.has(call.class) ? `${call.class} ${call.name}` : call.class;
  }

  budget(call: Call): Budget {
    const lane = this.lane(call);
    return this.#byLane.get(lane) ?? this.#add(new Budget(lane, call.class, this.#clock));
  }

  budgets(): readonly Budget[] {
    return this.#budgets;
  }

  remember(now: number): RememberedBudget[] {
    return this.#budgets.flatMap((budget) => budget.remember(now) ?? []);
  }

  recall(remembered: readonly RememberedBudget[], now: number): void {
    for (const each of remembered) {
      const [own, ...others] = each.classes.flatMap((name) => this.#byLane.get(name) ?? []);
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
    return this.budget(call).onSent({ call, lane: this.lane(call), sentAt: now, probe });
  }

  onResponse(permit: Permit, headers: RateHeaders, receivedAt: number): Proven {
    this.#clock.observe(headers, permit.sentAt, receivedAt);
    const own = this.#of(permit);
    own.onResponse(permit, headers, receivedAt);
    if (headers.remaining === null || this.lane(permit.call) !== permit.lane) {
      return null;
    }
    const { class: requestClass, name } = permit.call;
    // What is left of a bucket rises by itself, which would look like several budgets.
    if (!this.#split.has(requestClass) && !own.isBucket) {
      const proof = this.#splitProofs.get(requestClass);
      if (proof?.observe(name, headers, permit.sentAt, receivedAt)) {
        this.#splitClass(requestClass);
        return 'split';
      }
    }
    return this.#joinProven(own) ? 'joined' : null;
  }

  onRefused(permit: Permit, headers: RateHeaders, receivedAt: number, jitter: number): void {
    this.#clock.observe(headers, permit.sentAt, receivedAt);
    this.#of(permit).onRefused(permit, headers, receivedAt, jitter);
  }

  onLost(permit: Permit): void {
    this.#of(permit).onLost(permit);
  }

  onUnsent(permit: Permit): void {
    this.#of(permit).onUnsent(permit);
  }

  /** The budget a call was sent under, even where it would be another one now. */
  #of(permit: Permit): Budget {
    return this.#byLane.get(permit.lane) as Budget;
  }

  #add(budget: Budget): Budget {
    for (const lane of budget.lanes) {
      this.#byLane.set(lane, budget);
    }
    this.#budgets.push(budget);
    return budget;
  }

  /** From now on each operation of the class has a budget of its own. */
  #splitClass(requestClass: RequestClass): void {
    this.#split.add(requestClass);
    this.#budgets = this.#budgets.filter((budget) => budget.leave(requestClass));
  }

  /** Looks for another budget that this answer proves to be the same. */
  #joinProven(own: Budget): boolean {
    for (const other of this.#budgets) {
      const verdict = other === own ? 'none' : compareBudgets(own, other);
      if (verdict === 'none') {
        continue;
      }
      const pair = [own.lanes[0], other.lanes[0]].sort().join(', ');
      const proof = verdict === 'same' ? (this.#joinProofs.get(pair) ?? 0) + 1 : 0;
      this.#joinProofs.set(pair, proof);
      if (proof >= PROOF) {
        this.#join(own, other);
        return true;
      }
    }
    return false;
  }

  #join(into: Budget, other: Budget): void {
    into.absorb(other);
    this.#budgets = this.#budgets.filter((budget) => budget !== other);
    for (const lane of other.lanes) {
      this.#byLane.set(lane, into);
    }
  }
}
