/** Queues and their samples for the pages of other replicas. Durations become times, which stay true. */
import { PRIORITIES } from '../../queue/request.ts';
import type { BudgetSnapshot, QueueSnapshot } from '../../queue/snapshot.ts';
import type { BudgetSample } from '../../web/model/budget-samples.ts';
import type { MapChunk } from './map-chunks.ts';

/** Times in milliseconds since the epoch, of what was a duration; null if there is none. */
interface KeptBudget extends Omit<BudgetSnapshot, 'resetIn' | 'cooldown'> {
  readonly resetAt: number | null;
  readonly cooldownUntil: number | null;
}

interface KeptQueue extends Omit<QueueSnapshot, 'budgets' | 'oldest'> {
  readonly budgets: readonly KeptBudget[];
  readonly oldestAt: number | null;
}

/** Writes a queue. */
export function writeQueue({ budgets, oldest, ...rest }: QueueSnapshot, now: number): string {
  const kept: KeptQueue = {
    ...rest,
    budgets: budgets.map(({ resetIn, cooldown, ...budget }) => ({
      ...budget,
      resetAt: resetIn === null ? null : resetIn <= 0 ? 0 : now + resetIn,
      cooldownUntil: cooldown <= 0 ? null : now + cooldown,
    })),
    oldestAt: oldest === null ? null : now - oldest,
  };
  return JSON.stringify(kept);
}

/** Reads a queue. Returns a function that computes its state at a time. */
export function readQueue(content: string): (now: number) => QueueSnapshot {
  const { budgets: kept, oldestAt, ...rest } = JSON.parse(content) as KeptQueue;
  const budgets = [...kept];
  return (now) => ({
    ...rest,
    budgets: budgets.map(({ resetAt, cooldownUntil, ...budget }) => ({
      ...budget,
      resetIn: resetAt === null ? null : Math.max(0, resetAt - now),
      cooldown: cooldownUntil === null ? 0 : Math.max(0, cooldownUntil - now),
    })),
    oldest: oldestAt === null ? null : Math.max(0, now - oldestAt),
  });
}

/** State of a queue that is not known. */
export const UNKNOWN_QUEUE: QueueSnapshot = {
  budgets: [],
  waiting: Object.fromEntries(PRIORITIES.map((priority) => [priority, 0])) as QueueSnapshot['waiting'],
  oldest: null,
  inFlight: 0,
  outcomes: { answered: 0, rejected: 0, refused: 0, failed: 0, retried: 0, cancelled: 0 },
  rtt: null,
  clockSkew: null,
  breaker: 'closed',
  retryQuota: 0,
};

/** Milliseconds whose samples are one part. */
const SAMPLES_PER_PART = 600_000;

/** Writes samples in parts of ten minutes. All but the last part stay the same. */
export function writeSamples(samples: readonly BudgetSample[]): readonly MapChunk[] {
  const parts = Map.groupBy(samples, ({ at }) => Math.floor(at / SAMPLES_PER_PART));
  return [...parts].map(([part, some]) => ({ part: `samples/${part}`, content: JSON.stringify(some) }));
}

export function readSamples(contents: readonly string[]): readonly BudgetSample[] {
  return contents.flatMap((content) => JSON.parse(content) as BudgetSample[]).sort((a, b) => a.at - b.at);
}
