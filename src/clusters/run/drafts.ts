import type { ClustersConfig } from '../../config/clusters.ts';
import type { Clock } from '../../core/clock.ts';
import { append } from '../../core/lists.ts';
import type { Writer } from '../../platform/client.ts';
import { operations } from '../../platform/operations/index.ts';
import type { RichDocument } from '../../platform/rich-text/node.ts';
import { type ClaimDecision, decideClaims, SETTLE_DELAY, type SupersededDraft, UNLIMITED } from '../decide/claims.ts';
import { compareCreation } from '../decide/reopen-policy.ts';
import type { Spaces } from '../decide/route.ts';
import type { ClusterChangeRequest } from '../model/change-request.ts';
import { supersededSubject } from '../model/ownership-marker.ts';
import type { ClusterSource } from '../model/source.ts';
import type { ClusterStore, OwnRequest } from '../read/cluster-store.ts';
import { buildSupersededDescription } from '../write/description.ts';
import { toReportedNumbers } from '../write/progress-comment.ts';
import type { ListedRequest, RequestList } from './change-request-lists.ts';
import { type ClusterEvents, nullIfRefused, toEvent } from './events.ts';
import type { Proposal, Proposals } from './proposals.ts';
import type { RequestTracker } from './request-tracker.ts';

/** Maximum age of a list by which drafts are opened, in milliseconds. */
const MAX_LIST_AGE = 600_000;
/** Age from which an unknown draft counts as abandoned, in milliseconds: far longer than any run takes. */
const ABANDONED_AFTER = 3_600_000;

/** Drafts that were opened, and drafts that were archived. */
interface DraftOutcome {
  readonly opened: readonly OwnRequest[];
  readonly superseded: readonly SupersededDraft[];
}

interface Draft {
  readonly own: OwnRequest;
  readonly request: ListedRequest;
}

/** Parts that `Drafts` needs. */
interface DraftParts {
  readonly writer: Writer;
  readonly source: Pick<ClusterSource, 'one'>;
  readonly store: ClusterStore;
  readonly tracker: RequestTracker;
  readonly proposals: Proposals;
  readonly spaces: () => Promise<Spaces>;
  readonly config: Pick<ClustersConfig, 'limits' | 'afterMerge'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly events: ClusterEvents;
}

/** Decides about own drafts, and opens or archives them. Methods throw AppError. */
export class Drafts {
  readonly #parts: DraftParts;

  constructor(parts: DraftParts) {
    this.#parts = parts;
  }

  /**
   * Opens drafts whose claim is valid, and archives those that are superseded. `list` must have been requested after
   * the last draft; null requests one, after a delay, so that it contains everything that was created before the
   * drafts. `proposals`: contents of drafts by cluster, if known.
   */
  async settle(list: RequestList | null, proposals: ReadonlyMap<string, Proposal>): Promise<DraftOutcome> {
    const current = list ?? (await this.#listAfterDelay());
    const decision = this.#decide(current);
    const opened: OwnRequest[] = [];
    const superseded: SupersededDraft[] = [];
    for (const each of decision.superseded) {
      append(superseded, await this.#archive(each));
    }
    for (const draft of this.#draftsIn(current)) {
      if (decision.open.some(({ id }) => id === draft.request.id)) {
        const outcome = await this.#open(draft, proposals);
        append(opened, outcome.opened);
        append(superseded, outcome.superseded);
      }
    }
    return { opened, superseded };
  }

  /** Completes own drafts that a person opened meanwhile: they still have the subject of a draft. */
  async completeOpened({ requests }: RequestList): Promise<void> {
    for (const request of requests) {
      const own = request.status === 'open' && request.isDraftSubject ? this.#parts.store.findById(request.id) : null;
      const content = own === null ? null : await this.#contentOf(own);
      if (own !== null && content !== null && typeof content !== 'string') {
        await this.#update(request, contentBody({ own, request }, content));
      }
    }
  }

  /**
   * Archives drafts of Octavo that are an hour old and not stored: the daemon that created them lost its state. Drafts that
   * a person renamed stay. Records whether there are younger ones.
   */
  async archiveAbandoned({ requests }: RequestList): Promise<readonly SupersededDraft[]> {
    const { store, clock } = this.#parts;
    const stray = requests.filter(
      ({ id, status, isDraftSubject }) => status === 'draft' && isDraftSubject && store.findById(id) === null,
    );
    const archived: SupersededDraft[] = [];
    for (const request of stray.filter(({ createdAt }) => clock.now() - createdAt > ABANDONED_AFTER)) {
      const why = 'no daemon continued it for an hour';
      append(archived, await this.#archive({ request, why, to: null }));
    }
    await store.change({ hasStrayDrafts: stray.length > archived.length });
    return archived;
  }

  async #listAfterDelay(): Promise<RequestList> {
    const { clock, signal, tracker } = this.#parts;
    await clock.sleep(SETTLE_DELAY, signal);
    return tracker.listAll();
  }

  /** Returns the own drafts in a list, in the order of creation, which is the order of severity. */
  #draftsIn({ requests }: RequestList): readonly Draft[] {
    return requests.toSorted(compareCreation).flatMap((request) => {
      const own = this.#parts.store.findById(request.id);
      return own?.state === 'draft' && request.status === 'draft' ? [{ own, request }] : [];
    });
  }

  /** Decides which own drafts are opened. Limits and earlier merges do not apply to drafts that a person requested. */
  #decide(list: RequestList): ClaimDecision {
    const { clock, store, config } = this.#parts;
    if (clock.monotonic() - list.at > MAX_LIST_AGE) {
      return { open: [], superseded: [] };
    }
    const drafts = this.#draftsIn(list);
    const { issuesAtMerge } = store;
    const claims = (isManual: boolean) =>
      new Map(drafts.flatMap(({ own, request }) => (own.isManual === isManual ? [[request.id, own.seen.issues]] : [])));
    const { limits } = config;
    const { reopenGrowth } = config.afterMerge;
    const manual = decideClaims(list.requests, claims(true), { limits: UNLIMITED, reopenGrowth: 0, issuesAtMerge });
    const automatic = decideClaims(list.requests, claims(false), { limits, reopenGrowth, issuesAtMerge });
    return {
      open: [...manual.open, ...automatic.open.slice(0, limits.maxPerRun)],
      superseded: [...manual.superseded, ...automatic.superseded],
    };
  }

  /** Prepares the content of a draft of an earlier run, or returns the reason why it must no longer be opened. */
  async #contentOf({ cluster: id, space }: OwnRequest): Promise<Proposal | string> {
    const cluster = await this.#parts.source.one(id);
    if (cluster === null || cluster.muted) {
      return cluster === null ? 'the cluster no longer exists' : 'the cluster was muted';
    }
    const target = (await this.#parts.spaces()).get(space);
    return target === undefined ? 'its space no longer exists' : this.#parts.proposals.prepare(cluster, target);
  }

  async #open(draft: Draft, proposals: ReadonlyMap<string, Proposal>): Promise<DraftOutcome> {
    const { store, clock, events } = this.#parts;
    const { own, request } = draft;
    const content = proposals.get(own.cluster) ?? (await this.#contentOf(own));
    if (typeof content === 'string') {
      return { opened: [], superseded: await this.#archive({ request, why: content, to: null }) };
    }
    const reported = toReportedNumbers(content.cluster, clock.now());
    const { at: _, ...seen } = reported;
    const url = await this.#update(request, { status: 'open', ...contentBody(draft, content) });
    if (url === null) {
      return { opened: [], superseded: [] };
    }
    const open: OwnRequest = { ...own, state: 'open', seen, reported, url: url || own.url };
    await store.put(open);
    events.onOpened?.({ ...toEvent(open), why: open.why });
    return { opened: [open], superseded: [] };
  }

  /** Archives a draft with the reason. Its subject and description distinguish it from one that a person archived. */
  async #archive({ request, why, to }: SupersededDraft): Promise<readonly SupersededDraft[]> {
    const { store, events } = this.#parts;
    const description = buildSupersededDescription(request.cluster, why, to);
    const own = store.findById(request.id);
    const subject = supersededSubject(own?.subject ?? request.subject);
    const url = await this.#update(request, { status: 'archived', subject, description });
    if (url === null) {
      return [];
    }
    if (own !== null) {
      await store.remove(own, { superseded: true });
    }
    const { id, cluster, space } = request;
    const label = own?.label ?? request.subject;
    events.onSuperseded?.({ cluster, label, request: id, space, url: request.url, why });
    return [{ request, why, to }];
  }

  /** Returns the URL in the response, which may be empty; null if the platform refused the update. */
  #update({ id, space, cluster }: ClusterChangeRequest, body: Update): Promise<string | null> {
    const { writer, events } = this.#parts;
    return nullIfRefused(events, cluster, async () => {
      const path = { spaceId: space, changeRequestId: id };
      const answer = await writer.send(operations.updateChangeRequest, { path, body });
      return answer?.urls?.app ?? answer?.urls?.location ?? '';
    });
  }
}

interface Update {
  readonly status?: 'open' | 'archived';
  readonly subject?: string;
  readonly description?: RichDocument;
}

/** Fields that an opened change request gets and its draft may lack. */
function contentBody({ own, request }: Draft, { describe }: Proposal): Update {
  return { subject: own.subject, ...(request.isDescribed ? {} : { description: describe(own.claim) }) };
}
