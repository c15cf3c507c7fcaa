import { NotThePlatformError } from '../core/errors.ts';
import { operations } from '../platform/operations/index.ts';
import type { Answer, Input } from '../platform/operations/operation.ts';
import { clusterOf, type IssueCluster } from './cluster.ts';
import { ClusterReading, type ReadingState } from './early-stop.ts';
import type { RunContext } from './run-context.ts';
import { isNotThere } from './spaces.ts';

type ClusterPage = Answer<typeof operations.listConversationClusters>;
type ClusterQuery = Input<typeof operations.listConversationClusters>['query'];

const NEWEST_FIRST = { sort: 'updatedAt', order: 'desc', limit: 1000 } as const;

/**
 * Reads the clusters newest-updated first, as far as is needed; null where the platform has none (404 on their list).
 * `before` null: all of them. Throws AppError.
 */
export async function readClusters(context: RunContext, before: ReadingState | null): Promise<ClusterReading | null> {
  const { reader, rule, clock } = context;
  const reading = new ClusterReading(rule, before, clock.now());
  const seen = new Set<string>();
  let page: string | null = null;
  do {
    const query: ClusterQuery = { ...NEWEST_FIRST, ...(page === null ? {} : { page }) };
    const answer: ClusterPage | null = await orNull(
      page === null,
      reader.get(operations.listConversationClusters, { query }),
    );
    if (answer === null) {
      return null;
    }
    const next: string | null = answer.next?.page ?? null;
    page = reading.take(answer.items.map(clusterOf), next === null) ? next : null;
    if (page !== null && seen.has(page)) {
      throw new NotThePlatformError('listConversationClusters: the platform names the same next page twice');
    }
    seen.add(page ?? '');
  } while (page !== null);
  for (const id of reading.toAsk) {
    reading.takeOne(id, await readCluster(context, id));
  }
  return reading;
}

/** Null for a 404, where that has a meaning. */
async function orNull<T>(hasMeaning: boolean, read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (hasMeaning && isNotThere(error)) {
      return null;
    }
    throw error;
  }
}

/** One cluster; null where there is none with this id. Throws AppError. */
export async function readCluster({ reader }: RunContext, clusterId: string): Promise<IssueCluster | null> {
  const answer = await orNull(true, reader.get(operations.getConversationCluster, { path: { clusterId } }));
  return answer === null ? null : clusterOf(answer);
}
