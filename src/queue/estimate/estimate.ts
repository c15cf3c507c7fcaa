// Estimates how long a set of requests takes.
import type { BudgetSnapshot } from '../model/snapshot.ts';
import { SimulatedBudget } from './simulated-budget.ts';
import { ScheduleSimulation, type SimulatedQueue, type Work } from './simulation.ts';

/** Round trip assumed until a response has arrived, in milliseconds. */
const ASSUMED_RTT = 150;

/** Input of an estimate. */
export interface EstimateInput {
  readonly work: readonly Work[];
  /** Average round trip in milliseconds; null while unknown. */
  readonly rtt: number | null;
  /** Maximum requests in flight. */
  readonly concurrency: number;
  /** Maximum work items in progress. */
  readonly parallel: number;
  readonly budgets: readonly BudgetSnapshot[];
}

/**
 * Estimates the seconds until the last response, if nothing fails. Takes into account dependencies, round trips, the
 * concurrency limit and the known rate limits.
 */
export function estimateSeconds(load: EstimateInput): number {
  const simulated = new Map(
    load.budgets.map((budget) => [budget, new SimulatedBudget(budget, findSimilar(budget, load.budgets))]),
  );
  const queues = { write: createQueue('write', load, simulated), read: createQueue('read', load, simulated) };
  return new ScheduleSimulation(load.work, queues, load.concurrency, load.parallel).run() / 1000;
}

/** Finds a budget with the same limit and a known remaining count: the two are probably the same. */
function findSimilar({ limit }: BudgetSnapshot, budgets: readonly BudgetSnapshot[]): BudgetSnapshot | undefined {
  return budgets.find((other) => limit !== null && other.limit === limit && other.remaining !== null);
}

function createQueue(
  name: 'read' | 'write',
  load: EstimateInput,
  simulated: ReadonlyMap<BudgetSnapshot, SimulatedBudget>,
): SimulatedQueue {
  const { budgets } = load;
  const own = budgets.filter(({ classes, rtt }) => classes.includes(name) && rtt !== null);
  // A class without responses is assumed to share the budgets that are known to be limited.
  const shared = own.length > 0 ? own : budgets.filter(({ limit }) => limit !== null);
  return {
    budgets: shared.flatMap((budget) => simulated.get(budget) ?? []),
    rtt: own[0]?.rtt ?? load.rtt ?? ASSUMED_RTT,
    // An unknown budget is learned with one probe.
    probe: own.length > 0 ? 'done' : 'needed',
    waiting: [],
    next: 0,
  };
}
