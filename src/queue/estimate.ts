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
  const { budgets, concurrency } = load;
  const reading = rttOf('read', load);
  const writing = rttOf('write', load);
  let longest = rounds('read', load.reads, load) * reading + rounds('write', load.writes, load) * writing;
  const known = budgets.filter(({ limit }) => limit !== null);
  const calls = new Map<BudgetSnapshot, number>();
  for (const [name, amount] of [['read', load.reads] as const, ['write', load.writes] as const]) {
    const own = budgets.filter(({ classes, rtt }) => classes.includes(name) && rtt !== null);
    // What was never asked is taken to draw on what is known to be limited.
    const payers = own.length > 0 ? own : known;
    for (const budget of payers) {
      calls.set(budget, (calls.get(budget) ?? 0) + amount / (own.length > 0 ? own.length : 1));
    }
  }
  for (const [budget, amount] of calls) {
    longest = Math.max(longest, rateBound(budget, amount, concurrency, Math.max(reading, writing)));
  }
  return longest / 1000;
}

/** Round trips one after the other; where a class was never asked, one call goes ahead to learn its budget. */
function rounds(name: 'read' | 'write', calls: number, { budgets, concurrency }: Load): number {
  const wasAsked = budgets.some(({ classes, rtt }) => classes.includes(name) && rtt !== null);
  return calls === 0 || wasAsked ? Math.ceil(calls / concurrency) : 1 + Math.ceil((calls - 1) / concurrency);
}

function rttOf(name: 'read' | 'write', { budgets, rtt }: Load): number {
  return budgets.find(({ classes, rtt: own }) => classes.includes(name) && own !== null)?.rtt ?? rtt ?? ASSUMED_RTT;
}

/** Milliseconds until the last of so many calls is answered. */
function rateBound(budget: BudgetSnapshot, calls: number, concurrency: number, rtt: number): number {
  const { limit, window, refill, closedFor } = budget;
  if (calls === 0) {
    return 0;
  }
  const beyond = calls - (budget.left ?? limit ?? calls);
  if (limit === null || window === null || limit === 0 || beyond <= 0) {
    return closedFor;
  }
  if (refill !== null && refill > 0) {
    return Math.max(closedFor, (beyond / refill) * 1000 + rtt);
  }
  const fullWindows = Math.ceil(beyond / limit) - 1;
  const lastWindow = beyond - fullWindows * limit;
  const opens = (budget.resetIn ?? window) + fullWindows * window;
  // One call to see the new window, then the rest of them.
  return Math.max(closedFor, opens) + (1 + Math.ceil((lastWindow - 1) / concurrency)) * rtt;
}
