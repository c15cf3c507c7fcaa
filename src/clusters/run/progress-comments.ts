import { AuthError, RejectedError } from '../../core/errors.ts';
import { operations } from '../../platform/operations/index.ts';
import type { JudgedCluster } from '../read/incremental-reader.ts';
import { buildProgressComment, toReportedNumbers } from '../write/progress-comment.ts';
import type { RunContext } from './context.ts';
import { toEvent } from './events.ts';

/** Keeps what was read of the clusters whose change requests are followed. */
export async function recordNumbers({ book }: RunContext, judged: readonly JudgedCluster[]): Promise<void> {
  const clusters = new Map(judged.map(({ cluster }) => [cluster.id, cluster]));
  const changed = book.live.flatMap((entry) => {
    const cluster = clusters.get(entry.cluster);
    if (cluster === undefined) {
      return [];
    }
    const { issues, conversations, impact } = cluster;
    const { seen } = entry;
    const isSame = seen.issues === issues && seen.conversations === conversations && seen.impact === impact;
    return isSame ? [] : [{ ...entry, seen: { issues, conversations, impact } }];
  });
  await book.putAll(changed);
}

/**
 * Comments on open change requests with what came since. It is noted first that it was said: where the answer is lost it
 * may not have been, and it is never said twice. Gives how many comments there are more. Throws AppError.
 */
export async function postProgressComments(context: RunContext): Promise<number> {
  const { config, book, clock, writer, events } = context;
  let count = 0;
  for (const entry of config.progressComments && writer !== null ? book.live : []) {
    const markdown =
      entry.state === 'open' && entry.missingSince === null
        ? buildProgressComment(entry.seen, entry.told, clock.now())
        : null;
    if (markdown !== null) {
      await book.put({ ...entry, told: toReportedNumbers(entry.seen, clock.now()) });
      const path = { spaceId: entry.space, changeRequestId: entry.id ?? '' };
      const isSaid = await attempt(context, entry.cluster, () =>
        writer?.send(operations.postChangeRequestComment, { path, body: { body: { markdown } } }),
      );
      if (isSaid) {
        count += 1;
        events.onCommented?.(toEvent(entry));
      }
    }
  }
  return count;
}

/** Mutes the clusters whose change request was merged, where that is wished. Throws AppError. */
export async function muteMerged(context: RunContext): Promise<void> {
  const { book, source, writer, events } = context;
  for (const entry of book.live) {
    if (entry.muteDue && writer !== null) {
      const { cluster, label } = entry;
      const isMuted = await attempt(context, cluster, () => source.mute(writer, cluster, true));
      await book.put({ ...entry, muteDue: false });
      if (isMuted) {
        events.onMuted?.({ cluster, label });
      }
    }
  }
}

/** Whether the platform did it; that it refused is told. */
async function attempt(
  { events }: RunContext,
  cluster: string,
  work: () => Promise<unknown> | undefined,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof RejectedError || error instanceof AuthError) {
      events.onTrouble?.({ cluster, message: error.message });
      return false;
    }
    throw error;
  }
}
