import type { RequestClass } from '../model/request.ts';
import type { BudgetSnapshot } from '../model/snapshot.ts';
import type { Closure } from './cooldown.ts';
import type { RememberedBudget } from './memory.ts';
import type { RateWindow } from './rate-window.ts';
import type { Pace } from './refill-rate.ts';
import type { ServerClock } from './server-clock.ts';

/** How a budget stands, for those who tell of it. Times are monotonic milliseconds. */
export interface Standing {
  readonly lanes: readonly string[];
  readonly classes: readonly RequestClass[];
  readonly limit: number | null;
  /** With what has flowed into a bucket since the last answer. */
  readonly remaining: number | null;
  readonly inFlight: number;
  /** Calls of others per millisecond. */
  readonly foreign: number;
  readonly rtt: number | null;
  readonly window: RateWindow;
  readonly pace: Pace;
  readonly closure: Closure;
  readonly clock: ServerClock;
}

/** What status and metrics show. */
export function snapshotOf(standing: Standing, now: number): BudgetSnapshot {
  const { classes, lanes, limit, remaining, inFlight, foreign, rtt, pace, closure } = standing;
  const { length, end } = standing.window;
  const isKnown = remaining !== null && now < end;
  const window = length > 0 ? pace.period(length) : null;
  const { refill } = pace;
  const rate = limit === null || window === null ? null : (limit / window) * 1000;
  return {
    classes: [...classes],
    operations: lanes.flatMap((lane) => lane.split(' ')[1] ?? []),
    limit,
    left: isKnown ? Math.max(0, remaining - inFlight) : null,
    resetIn: isKnown ? end - now : null,
    window,
    refill,
    closedFor: Math.max(0, closure.until - now),
    rtt,
    foreign: foreign * 1000,
    rate: refill ?? rate,
  };
}

/** What another process may go on from; null where too little is known, or operations have budgets of their own. */
export function rememberBudget(standing: Standing, now: number): RememberedBudget | null {
  const { classes, lanes, limit, remaining, inFlight, pace, closure, clock } = standing;
  const { length, end } = standing.window;
  const isSplit = lanes.length > classes.length || lanes.some((lane) => lane.includes(' '));
  if (remaining === null || limit === null || length <= 0 || now >= end || isSplit) {
    return null;
  }
  return {
    classes: [...classes],
    limit,
    remaining: Math.max(0, Math.floor(remaining - inFlight)),
    resetAt: clock.toServer(end),
    window: Math.max(length, end - now),
    refill: pace.refill,
    closedUntil: closure.until > now ? clock.toServer(closure.until) : null,
  };
}
