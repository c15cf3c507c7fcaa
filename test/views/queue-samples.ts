/** Sample budgets and queues. */
import type { BudgetSnapshot, QueueSnapshot } from '../../src/queue/snapshot.ts';

export function someBudget(over: Partial<BudgetSnapshot> = {}): BudgetSnapshot {
  const unknown = { resetIn: null, window: null, refillRate: null, rtt: null, rate: null };
  return {
    classes: ['read'],
    operations: [],
    limit: 100,
    remaining: 40,
    cooldown: 0,
    otherClientsRate: 0,
    ...unknown,
    ...over,
  };
}

export function someQueue(over: Partial<QueueSnapshot> = {}): QueueSnapshot {
  return {
    budgets: [someBudget()],
    waiting: { person: 0, apply: 3, clusters: 0, ingestion: 4, drift: 0 },
    oldest: null,
    inFlight: 2,
    outcomes: { answered: 0, rejected: 0, refused: 5, failed: 0, retried: 0, cancelled: 0 },
    rtt: null,
    clockSkew: null,
    breaker: 'closed',
    retryQuota: 500,
    ...over,
  };
}
