// Converts a budget into a snapshot for metrics and into a record for persistence.
import type { RequestClass } from '../model/request.ts';
import type { BudgetSnapshot } from '../model/snapshot.ts';
import type { Cooldown } from './cooldown.ts';
import type { RememberedBudget } from './memory.ts';
import type { RateWindow } from './rate-window.ts';
import type { RefillRate } from './refill-rate.ts';
import type { ServerClock } from './server-clock.ts';

/** Read-only view of a budget, for metrics and persistence. Times are monotonic milliseconds. */
export interface BudgetView {
  readonly limitKeys: readonly string[];
  readonly classes: readonly RequestClass[];
  readonly limit: number | null;
  /** Includes the refill of a token bucket since the last response. */
  readonly remaining: number | null;
  readonly inFlight: number;
  /** Requests of other clients per millisecond. */
  readonly otherClientsRate: number;
  readonly rtt: number | null;
  readonly window: RateWindow;
  readonly refillRate: RefillRate;
  readonly cooldown: Cooldown;
  readonly clock: ServerClock;
}

/** Returns the state that status and metrics report. */
export function toSnapshot(view: BudgetView, now: number): BudgetSnapshot {
  const { classes, limitKeys, limit, remaining, inFlight, otherClientsRate, rtt, refillRate, cooldown } = view;
  const { length, end } = view.window;
  const isKnown = remaining !== null && now < end;
  const window = length > 0 ? refillRate.period(length) : null;
  const { refill } = refillRate;
  const rate = limit === null || window === null ? null : (limit / window) * 1000;
  return {
    classes: [...classes],
    operations: limitKeys.flatMap((key) => key.split(' ')[1] ?? []),
    limit,
    left: isKnown ? Math.max(0, remaining - inFlight) : null,
    resetIn: isKnown ? end - now : null,
    window,
    refill,
    closedFor: Math.max(0, cooldown.until - now),
    rtt,
    foreign: otherClientsRate * 1000,
    rate: refill ?? rate,
  };
}

/** Returns the state to save for the next process; null if too little is known or operations have separate limits. */
export function toRememberedBudget(view: BudgetView, now: number): RememberedBudget | null {
  const { classes, limitKeys, limit, remaining, inFlight, refillRate, cooldown, clock } = view;
  const { length, end } = view.window;
  const isSplit = limitKeys.length > classes.length || limitKeys.some((key) => key.includes(' '));
  if (remaining === null || limit === null || length <= 0 || now >= end || isSplit) {
    return null;
  }
  return {
    classes: [...classes],
    limit,
    remaining: Math.max(0, Math.floor(remaining - inFlight)),
    resetAt: clock.toServer(end),
    window: Math.max(length, end - now),
    refill: refillRate.refill,
    closedUntil: cooldown.until > now ? clock.toServer(cooldown.until) : null,
  };
}
