import { NotThePlatformError } from '../../core/errors.ts';
import type { IssueCluster } from '../model/cluster.ts';
import type { ClusterPage } from '../model/source.ts';
import { IncrementalReader, type ReaderState } from '../read/incremental-reader.ts';
import type { RunContext } from './context.ts';

/**
 * Reads the clusters newest-updated first, as far as is needed; null where the platform has none (404 on their list).
 * `before` null: all of them. Throws AppError.
 */
export async function readClusters(context: RunContext, before: ReaderState | null): Promise<IncrementalReader | null> {
  const { source, rule, clock } = context;
  // The first answer tells the platform's time.
  let answer: ClusterPage | null = await source.page(null);
  if (answer === null) {
    return null;
  }
  const reading = new IncrementalReader(rule, before, clock.now());
  const seen = new Set<string>();
  let page: string | null = null;
  do {
    answer ??= await source.page(page);
    if (answer === null) {
      return null;
    }
    page = reading.take(answer.clusters, answer.next === null) ? answer.next : null;
    if (page !== null && seen.has(page)) {
      throw new NotThePlatformError('listConversationClusters: the platform names the same next page twice');
    }
    seen.add(page ?? '');
    answer = null;
  } while (page !== null);
  for (const id of reading.toAsk) {
    reading.takeOne(id, await readCluster(context, id));
  }
  return reading;
}

/** One cluster; null where there is none with this id. Throws AppError. */
export function readCluster({ source }: RunContext, clusterId: string): Promise<IssueCluster | null> {
  return source.one(clusterId);
}
