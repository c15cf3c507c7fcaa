import type { BudgetSnapshot } from '../model/snapshot.ts';
import { SimulatedBudget } from './simulated-budget.ts';
import { type Lane, ScheduleSimulation, type Work } from './simulation.ts';

/** Assumed until an answer has come in, in milliseconds. */
const ASSUMED_RTT = 150;

/** What an estimate is made from. */
export interface Load {
  readonly work: readonly Work[];
  /** Milliseconds; null while unknown. */
  readonly rtt: number | null;
  /** Requests at a time. */
  readonly concurrency: number;
  /** Pieces of work at a time. */
  readonly parallel: number;
  readonly budgets: readonly BudgetSnapshot[];
}

/**
 * Seconds until the last of the work is answered, if nothing fails: bound by what waits for what, by the round trips, by
 * how many requests go at a time, and by the rate limit as far as it is known.
 */
export function estimateSeconds(load: Load): number {
  const taps = new Map(
    load.budgets.map((budget) => [budget, new SimulatedBudget(budget, seenBeside(budget, load.budgets))]),
  );
  const lanes = { write: laneOf('write', load, taps), read: laneOf('read', load, taps) };
  return new ScheduleSimulation(load.work, lanes, load.concurrency, load.parallel).run() / 1000;
}

/** Two budgets of the same size are likely to be one, though that is not proven yet: what was seen of the one last. */
function seenBeside({ limit }: BudgetSnapshot, budgets: readonly BudgetSnapshot[]): BudgetSnapshot | undefined {
  return budgets.find((other) => limit !== null && other.limit === limit && other.left !== null);
}

function laneOf(name: 'read' | 'write', load: Load, taps: ReadonlyMap<BudgetSnapshot, SimulatedBudget>): Lane {
  const { budgets } = load;
  const own = budgets.filter(({ classes, rtt }) => classes.includes(name) && rtt !== null);
  // What was never asked is taken to draw on what is known to be limited.
  const payers = own.length > 0 ? own : budgets.filter(({ limit }) => limit !== null);
  return {
    taps: payers.flatMap((budget) => taps.get(budget) ?? []),
    rtt: own[0]?.rtt ?? load.rtt ?? ASSUMED_RTT,
    // Then one call goes ahead to learn the budget.
    asking: own.length > 0 ? 'known' : 'never',
    waiting: [],
    next: 0,
  };
}
