import { AuthError, RejectedError } from '../../core/errors.ts';
import type { Route, TargetSpace } from '../decide/route.ts';
import type { IssueCluster } from '../model/cluster.ts';
import { clusterKey } from '../model/ownership-marker.ts';
import type { Memory, OwnRequest } from '../read/cluster-store.ts';
import type { IncrementalReader } from '../read/incremental-reader.ts';
import { compareSeverity, decideOpening, findReachedLimit, isAsKnown } from './choice.ts';
import { readClusters } from './clusters.ts';
import type { RunContext } from './context.ts';
import type { RunEnd, SkipReason } from './events.ts';
import { look } from './look.ts';
import { begin } from './open.ts';
import { type Proposal, prepare, routeBefore } from './prepare.ts';
import { muteMerged, postProgressComments, recordNumbers } from './progress-comments.ts';
import { type ListedRequest, type RequestList, withOwnRequests } from './requests.ts';
import { Reviewers } from './reviewers.ts';
import { completeOpened, draftIds, settleDrafts } from './settle.ts';

/** What a run did, in numbers. */
export type RunNumbers = Pick<RunEnd, 'read' | 'passing' | 'opened' | 'superseded' | 'commented' | 'skipped' | 'open'>;

/**
 * Runs the automation once over an organization's clusters. Returns null when the platform has none. Throws AppError;
 * what was done until then is kept, and the next run continues from there. See docs/clusters.md.
 */
export async function runClusters(context: RunContext): Promise<RunNumbers | null> {
  return new Run(context).go();
}

class Run {
  readonly #context: RunContext;
  readonly #skipped = new Map<string, SkipReason>();
  readonly #settled: Record<string, Memory['settled'][string]> = {};
  /** Clusters that need not be looked at again before they are updated. */
  readonly #lasting = new Set<string>();
  /** Clusters that cost requests and came to nothing. */
  #inVain = 0;
  #opened = 0;
  #superseded = 0;
  #commented = 0;

  constructor(context: RunContext) {
    this.#context = context;
  }

  async go(): Promise<RunNumbers | null> {
    const { book } = this.#context;
    // 1. The clusters, as far as they may have changed.
    const reading = await readClusters(this.#context, book.memory.reading);
    if (reading === null) {
      return null;
    }
    await recordNumbers(this.#context, reading.judged);
    const passing = reading.judged
      .flatMap(({ cluster, verdict }) => (verdict.passes ? [cluster] : []))
      .sort(compareSeverity);
    // 2. What there is already; where nothing is new, only what became of what is open.
    const { listing, superseded } = await look(this.#context, passing);
    this.#superseded += superseded;
    // 3. Which of them may be opened.
    const candidates = passing.filter((cluster) => this.#mayBegin(cluster, listing));
    if (listing !== null) {
      // 4. Claims, and what becomes of them.
      const prepared = await this.#begin(candidates, listing);
      await this.#settle(prepared, listing);
    }
    // 5. What is due to those that are open or merged.
    await this.#tend();
    await this.#remember(reading, passing, listing);
    return this.#numbers(reading, passing);
  }

  #mayBegin(cluster: IssueCluster, listing: RequestList | null): boolean {
    const choice = decideOpening(this.#context, cluster, listing);
    if (choice.may) {
      return true;
    }
    this.#skip(cluster, choice.reason, choice.why, choice.lasts);
    return false;
  }

  #skip(cluster: IssueCluster, reason: SkipReason, why: string, lasts = false): void {
    const { events, clock, book } = this.#context;
    const { id, label, updatedAt, issues } = cluster;
    this.#skipped.set(id, reason);
    if (lasts) {
      this.#lasting.add(id);
    }
    if (lasts && (reason === 'unrouted' || reason === 'archived' || reason === 'merged')) {
      const known = book.memory.settled[id];
      const isKnown = known?.reason === reason && isAsKnown(known, cluster);
      this.#settled[id] = isKnown ? known : { updatedAt, issues, at: clock.now(), reason, why };
    }
    events.onSkipped?.({ cluster: id, label, reason, why });
  }

  /** Begins as many as there is room for. What was begun is in the answer, by cluster. */
  async #begin(candidates: readonly IssueCluster[], listing: RequestList): Promise<ReadonlyMap<string, Proposal>> {
    const { config, book } = this.#context;
    const unfinished = book.live.filter(({ state, isManual }) => !isManual && (state === 'draft' || state === 'begun'));
    const prepared = new Map<string, Proposal>();
    const planned: ListedRequest[] = [...listing.requests];
    for (const cluster of candidates) {
      if (unfinished.length + prepared.size >= config.limits.maxPerRun) {
        this.#skip(cluster, 'limit-run', `limit reached: ${config.limits.maxPerRun} in a run`);
        continue;
      }
      if (this.#inVain >= MOST_IN_VAIN) {
        this.#skip(cluster, 'limit-run', `${MOST_IN_VAIN} others were tried in vain in this run`);
        continue;
      }
      const limit = findReachedLimit(this.#context, planned, null);
      if (limit !== null) {
        this.#skip(cluster, limit.reason, limit.why);
        continue;
      }
      const begun = await this.#beginOne(cluster, planned, listing);
      if (begun !== null) {
        prepared.set(cluster.id, begun);
        planned.push(plannedRequest(this.#context, begun));
      }
    }
    return prepared;
  }

  async #beginOne(
    cluster: IssueCluster,
    planned: readonly ListedRequest[],
    listing: RequestList,
  ): Promise<Proposal | null> {
    // Where no search is needed to know the space, that there is no room costs nothing.
    const early = await routeBefore(this.#context, cluster);
    if (early !== null && this.#roomIn(cluster, early, planned) === null) {
      return null;
    }
    try {
      const known = await withOwnRequests(this.#context, cluster.id, listing);
      if (known !== listing && !this.#mayBegin(cluster, known)) {
        this.#inVain += 1;
        return null;
      }
      const prepared = await prepare(this.#context, cluster);
      const space = this.#roomIn(cluster, prepared.route, planned);
      const begun = space === null ? null : await this.#claim(prepared, space);
      this.#inVain += begun === null ? 1 : 0;
      return begun;
    } catch (error) {
      if (!(error instanceof RejectedError || error instanceof AuthError)) {
        throw error;
      }
      this.#inVain += 1;
      this.#skip(cluster, 'failed', error.message);
      return null;
    }
  }

  /** The space, where there is one and room in it. */
  #roomIn(cluster: IssueCluster, route: Route, planned: readonly ListedRequest[]): TargetSpace | null {
    const { space } = route;
    if (space === null) {
      this.#skip(cluster, route.waits ? 'waiting' : 'unrouted', route.why, !route.waits);
      return null;
    }
    const limit = findReachedLimit(this.#context, planned, space.id);
    if (limit !== null) {
      this.#skip(cluster, limit.reason, limit.why);
    }
    return limit === null ? space : null;
  }

  async #claim(prepared: Proposal, space: TargetSpace): Promise<Proposal | null> {
    const { writer, events } = this.#context;
    const { cluster, subject, route } = prepared;
    if (writer === null) {
      const { id, label } = cluster;
      events.onWouldOpen?.({ cluster: id, label, space: space.id, subject, why: route.why });
      return prepared;
    }
    const begun = await begin(this.#context, prepared, space, false);
    if (begun.is === 'refused') {
      this.#skip(cluster, 'failed', begun.why);
      return null;
    }
    return prepared;
  }

  async #settle(prepared: ReadonlyMap<string, Proposal>, listing: RequestList): Promise<void> {
    const { writer } = this.#context;
    if (writer === null) {
      this.#opened = prepared.size;
      return;
    }
    await completeOpened(this.#context, listing);
    if (prepared.size === 0 && draftIds(this.#context).size === 0) {
      return;
    }
    const { opened, superseded } = await settleDrafts(this.#context, prepared.size === 0 ? listing : null, prepared);
    this.#opened = opened.length;
    this.#superseded += superseded.length;
    const reviewers = new Reviewers(this.#context);
    for (const entry of opened.filter(({ reviewersDue }) => reviewersDue)) {
      await reviewers.ask(entry, false);
    }
  }

  async #tend(): Promise<void> {
    const { book, writer } = this.#context;
    const reviewers = new Reviewers(this.#context);
    const isDue = ({ state, reviewersDue, missingSince }: OwnRequest) =>
      state === 'open' && reviewersDue && missingSince === null;
    for (const entry of writer === null ? [] : book.live.filter(isDue)) {
      await reviewers.ask(entry, true);
    }
    this.#commented = await postProgressComments(this.#context);
    await muteMerged(this.#context);
  }

  async #remember(
    reading: IncrementalReader,
    passing: readonly IssueCluster[],
    listing: RequestList | null,
  ): Promise<void> {
    const { book, clock } = this.#context;
    for (const { id } of passing) {
      if (book.liveOf(id)?.state === 'open') {
        this.#lasting.add(id);
      }
    }
    const { settled } = book.memory;
    const read = new Set(reading.judged.map(({ cluster }) => cluster.id));
    const kept = Object.entries(settled).filter(([id, { at }]) => !read.has(id) && clock.now() - at < DAY);
    await book.change({
      reading: reading.remember(this.#lasting),
      settled: { ...Object.fromEntries(kept), ...this.#settled },
      merges: mergesOf(passing, listing, book.memory.merges),
    });
  }

  #numbers({ judged }: IncrementalReader, passing: readonly IssueCluster[]): RunNumbers {
    const skipped: Partial<Record<SkipReason, number>> = {};
    for (const reason of this.#skipped.values()) {
      skipped[reason] = (skipped[reason] ?? 0) + 1;
    }
    return {
      read: judged.length,
      passing: passing.length,
      opened: this.#opened,
      superseded: this.#superseded,
      commented: this.#commented,
      skipped,
      open: this.#context.book.live.filter(({ state }) => state === 'open').length,
    };
  }
}

const DAY = 86_400_000;
/** A token that may not, or spaces that are full, keep no run busy with all the clusters that there are. */
const MOST_IN_VAIN = 20;

/** What is about to be made, as a list would show it. */
function plannedRequest({ clock }: RunContext, { cluster, route, subject }: Proposal): ListedRequest {
  const at = clock.now();
  return {
    id: '',
    space: route.space?.id ?? '',
    cluster: clusterKey(cluster.id),
    status: 'draft',
    subject,
    url: null,
    createdAt: at,
    updatedAt: at,
    superseded: false,
    isEmptyMerge: false,
    isDescribed: true,
    isDraftSubject: true,
  };
}

/** How many issues clusters have whose change requests are first seen to be merged now, whoever made them. */
function mergesOf(
  passing: readonly IssueCluster[],
  listing: RequestList | null,
  known: Memory['merges'],
): Memory['merges'] {
  const issues = new Map(passing.map((cluster) => [clusterKey(cluster.id), cluster.issues]));
  return Object.fromEntries(
    (listing?.requests ?? []).flatMap(({ id, status, cluster }) => {
      const count = status === 'merged' && known[id] === undefined ? issues.get(cluster) : undefined;
      return count === undefined ? [] : [[id, count]];
    }),
  );
}
