import type { ClustersConfig } from '../../config/clusters.ts';
import type { Clock, Random } from '../../core/clock.ts';
import { AppError, CancelledError, RateLimitedError, TransientError } from '../../core/errors.ts';
import type { Writer } from '../../platform/client.ts';
import { operations } from '../../platform/operations/index.ts';
import type { PlatformTime } from '../../platform/platform-time.ts';
import type { TargetSpace } from '../decide/route.ts';
import { type IssueCluster, parseTime } from '../model/cluster.ts';
import { draftSubject } from '../model/ownership-marker.ts';
import type { ClusterSource } from '../model/source.ts';
import type { ClusterStore, OwnRequest } from '../read/cluster-store.ts';
import { toReportedNumbers } from '../write/progress-comment.ts';
import { type ClusterEvents, isRefusal } from './events.ts';
import type { Proposal } from './proposals.ts';

/** Result of creating a draft. `lost`: without a response, it is unknown whether the draft exists. */
export type DraftResult = { readonly is: 'created' | 'lost' } | { readonly is: 'refused'; readonly why: string };

/** Parts that `DraftCreator` needs. */
interface CreatorParts {
  readonly writer: Writer;
  readonly source: Pick<ClusterSource, 'link'>;
  readonly store: ClusterStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly time: PlatformTime;
  readonly random: Random;
  readonly settings: Pick<ClustersConfig['changeRequest'], 'reviewers' | 'templateId'>;
  readonly events: Pick<ClusterEvents, 'onTrouble'>;
}

/** Creates drafts of change requests. Each draft claims a cluster. */
export class DraftCreator {
  readonly #parts: CreatorParts;

  constructor(parts: CreatorParts) {
    this.#parts = parts;
  }

  /**
   * Stores the draft, then requests it, and never requests it again: after a lost response, a list finds it by its
   * subject. Throws AppError for errors that do not concern this draft.
   */
  async create(proposal: Proposal, space: TargetSpace, isManual: boolean): Promise<DraftResult> {
    const { writer, source, store, settings, time } = this.#parts;
    const { id } = proposal.cluster;
    const own = this.#begin(proposal, space, isManual);
    await store.put(own);
    const body = {
      subject: draftSubject(own.claim, id),
      ...source.link(id),
      description: proposal.describe(own.claim),
      ...(settings.templateId === null ? {} : { template: { id: settings.templateId } }),
    };
    try {
      const answer = await writer.send(operations.createChangeRequest, { path: { spaceId: space.id }, body });
      const createdAt = parseTime(answer.createdAt);
      if (createdAt !== null) {
        time.observeCreated(createdAt);
      }
      const created: OwnRequest = {
        ...own,
        id: answer.id,
        url: answer.urls?.app ?? answer.urls?.location ?? null,
        revision: answer.revision ?? null,
        state: 'draft',
      };
      await store.put(created, { skew: time.skew });
      return { is: 'created' };
    } catch (error) {
      return this.#handleError(own, error);
    }
  }

  #begin({ cluster, route, subject }: Proposal, space: TargetSpace, isManual: boolean): OwnRequest {
    const { clock, random, settings } = this.#parts;
    const at = clock.now();
    const { id, label, issues, conversations, impact }: IssueCluster = cluster;
    return {
      cluster: id,
      label,
      claim: randomClaim(random),
      id: null,
      space: space.id,
      subject,
      url: null,
      revision: null,
      at,
      state: 'begun',
      isManual,
      why: route.why,
      reviewersDue: settings.reviewers.length > 0,
      reported: toReportedNumbers(cluster, at),
      seen: { issues, conversations, impact },
      muteDue: false,
      missingSince: null,
    };
  }

  /** Interprets an error: the draft was created, was not created, or its state is unknown. */
  async #handleError(own: OwnRequest, error: unknown): Promise<DraftResult> {
    const { store, events } = this.#parts;
    const known = store.memory.entries.find(({ claim }) => claim === own.claim);
    if (known?.id != null || !(error instanceof AppError)) {
      throw error;
    }
    const isNotCreated =
      isRefusal(error) ||
      error instanceof RateLimitedError ||
      error instanceof CancelledError ||
      (error instanceof TransientError && !error.maybeDone);
    if (!isNotCreated) {
      events.onTrouble?.({
        cluster: own.cluster,
        message: `the response to a creation was lost; looking for the change request: ${error.message}`,
      });
      return { is: 'lost' };
    }
    await store.remove(own, { superseded: false });
    if (isRefusal(error)) {
      return { is: 'refused', why: error.message };
    }
    throw error;
  }
}

/** Alphabet of claims, without characters that look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

function randomClaim(random: Random): string {
  return Array.from({ length: 8 }, () => LETTERS[Math.floor(random() * LETTERS.length)] ?? 'a').join('');
}
