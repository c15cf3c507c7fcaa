import type { BudgetSnapshot } from './snapshot.ts';

/** Assumed until an answer has come in, in milliseconds. */
const ASSUMED_RTT = 150;

/** What an estimate is made from. */
export interface Load {
  readonly writes: number;
  readonly reads: number;
  /** Milliseconds; null while unknown. */
  readonly rtt: number | null;
  /** Requests at a time. */
  readonly concurrency: number;
  readonly budgets: readonly BudgetSnapshot[];
}

/** Seconds that the requests take: bound by latency or by the rate limit, whichever is longer. */
export function estimateSeconds(load: Load): number {
  const rounds = Math.ceil(load.reads / load.concurrency) + Math.ceil(load.writes / load.concurrency);
  let longest = rounds * (load.rtt ?? ASSUMED_RTT);
  for (const budget of load.budgets) {
    const calls =
      (budget.classes.includes('read') ? load.reads : 0) + (budget.classes.includes('write') ? load.writes : 0);
    longest = Math.max(longest, rateBound(budget, calls));
  }
  return longest / 1000;
}

/** Milliseconds until the last of so many calls may be sent. */
function rateBound(budget: BudgetSnapshot, calls: number): number {
  const { limit, window } = budget;
  if (calls === 0) {
    return 0;
  }
  if (limit === null || window === null || limit === 0) {
    return budget.closedFor;
  }
  const beyond = calls - (budget.left ?? limit);
  if (beyond <= 0) {
    return budget.closedFor;
  }
  const fullWindows = Math.ceil(beyond / limit) - 1;
  return Math.max(budget.closedFor, (budget.resetIn ?? 0) + fullWindows * window);
}
