import type { Clock } from '../../core/clock.ts';
import type { Writer } from '../../platform/client.ts';
import { operations } from '../../platform/operations/index.ts';
import type { ClusterSource } from '../model/source.ts';
import type { ClusterStore } from '../read/cluster-store.ts';
import type { JudgedCluster } from '../read/incremental-reader.ts';
import { buildProgressComment, toReportedNumbers } from '../write/progress-comment.ts';
import { type ClusterEvents, nullIfRefused, toEvent } from './events.ts';

/** Stores the numbers of clusters whose change requests are followed. */
export async function recordNumbers(store: ClusterStore, judged: readonly JudgedCluster[]): Promise<void> {
  const clusters = new Map(judged.map(({ cluster }) => [cluster.id, cluster]));
  const changed = store.active.flatMap((own) => {
    const cluster = clusters.get(own.cluster);
    if (cluster === undefined) {
      return [];
    }
    const { issues, conversations, impact } = cluster;
    const { seen } = own;
    const isSame = seen.issues === issues && seen.conversations === conversations && seen.impact === impact;
    return isSame ? [] : [{ ...own, seen: { issues, conversations, impact } }];
  });
  await store.putAll(changed);
}

/** Parts that `FollowUps` needs. */
interface FollowUpParts {
  readonly writer: Writer;
  readonly source: Pick<ClusterSource, 'mute'>;
  readonly store: ClusterStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly events: ClusterEvents;
}

/** Progress comments on open change requests, and muting after merges. Methods throw AppError. */
export class FollowUps {
  readonly #parts: FollowUpParts;

  constructor(parts: FollowUpParts) {
    this.#parts = parts;
  }

  /**
   * Comments on open change requests whose clusters grew. Each comment is stored before it is posted: after a lost
   * response it may be missing, but it is never posted twice. Returns the number of comments.
   */
  async postProgressComments(): Promise<number> {
    const { writer, store, clock, events } = this.#parts;
    let count = 0;
    for (const own of store.active) {
      const isOpen = own.state === 'open' && own.missingSince === null;
      const markdown = isOpen ? buildProgressComment(own.seen, own.reported, clock.now()) : null;
      if (markdown === null) {
        continue;
      }
      await store.put({ ...own, reported: toReportedNumbers(own.seen, clock.now()) });
      const path = { spaceId: own.space, changeRequestId: own.id ?? '' };
      const isPosted = await nullIfRefused(events, own.cluster, async () => {
        await writer.send(operations.postChangeRequestComment, { path, body: { body: { markdown } } });
        return true;
      });
      if (isPosted) {
        count += 1;
        events.onCommented?.(toEvent(own));
      }
    }
    return count;
  }

  /** Mutes the clusters whose change request was merged, if configured. */
  async muteMerged(): Promise<void> {
    const { writer, source, store, events } = this.#parts;
    for (const own of store.active.filter(({ muteDue }) => muteDue)) {
      const { cluster, label } = own;
      const isMuted = await nullIfRefused(events, cluster, () => source.mute(writer, cluster, true));
      await store.put({ ...own, muteDue: false });
      if (isMuted !== null) {
        events.onMuted?.({ cluster, label });
      }
    }
  }
}
