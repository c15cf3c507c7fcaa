import type { RequestClass } from '../model/request.ts';
import type { BudgetSnapshot } from '../model/snapshot.ts';
import type { Cooldown } from './cooldown.ts';
import type { RememberedBudget } from './memory.ts';
import type { RateWindow } from './rate-window.ts';
import type { RefillRate } from './refill-rate.ts';
import type { ServerClock } from './server-clock.ts';

/** How a budget stands, for those who tell of it. Times are monotonic milliseconds. */
export interface BudgetView {
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
  readonly refillRate: RefillRate;
  readonly cooldown: Cooldown;
  readonly clock: ServerClock;
}

/** What status and metrics show. */
export function snapshotOf(view: BudgetView, now: number): BudgetSnapshot {
  const { classes, lanes, limit, remaining, inFlight, foreign, rtt, refillRate, cooldown } = view;
  const { length, end } = view.window;
  const isKnown = remaining !== null && now < end;
  const window = length > 0 ? refillRate.period(length) : null;
  const { refill } = refillRate;
  const rate = limit === null || window === null ? null : (limit / window) * 1000;
  return {
    classes: [...classes],
    operations: lanes.flatMap((lane) => lane.split(' ')[1] ?? []),
    limit,
    left: isKnown ? Math.max(0, remaining - inFlight) : null,
    resetIn: isKnown ? end - now : null,
    window,
    refill,
    closedFor: Math.max(0, cooldown.until - now),
    rtt,
    foreign: foreign * 1000,
    rate: refill ?? rate,
  };
}

/** What another process may go on from; null where too little is known, or operations have budgets of their own. */
export function rememberBudget(view: BudgetView, now: number): RememberedBudget | null {
  const { classes, lanes, limit, remaining, inFlight, refillRate, cooldown, clock } = view;
  const { length, end } = view.window;
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
    refill: refillRate.refill,
    closedUntil: cooldown.until > now ? clock.toServer(cooldown.until) : null,
  };
}
