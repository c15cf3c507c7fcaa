import type { ClustersConfig } from '../../config/clusters.ts';
import type { TargetSpace } from '../decide/route.ts';
import type { IssueCluster } from '../model/cluster.ts';
import { clusterKey } from '../model/ownership-marker.ts';
import type { Memory } from '../read/cluster-store.ts';
import { type IncrementalReader, readClusters } from '../read/incremental-reader.ts';
import type { ListedRequest, RequestList } from './change-request-lists.ts';
import { isRefusal, type RunEnd, type SkipReason } from './events.ts';
import { recordNumbers } from './follow-ups.ts';
import { compareSeverity, isUnchanged, type Skip } from './opening-rules.ts';
import type { Proposal } from './proposals.ts';
import type { ClusterSession } from './session.ts';

/** Counts of a run. */
export type RunNumbers = Pick<RunEnd, 'read' | 'passing' | 'opened' | 'superseded' | 'commented' | 'skipped' | 'open'>;

/**
 * Runs the automation once over an organization's clusters. Returns null if the platform has none. Throws AppError;
 * everything done until then is stored, and the next run continues from there. See docs/clusters.md.
 */
export async function runClusters(
  session: ClusterSession,
  config: Pick<ClustersConfig, 'limits' | 'progressComments'>,
): Promise<RunNumbers | null> {
  return new Run(session, config).go();
}

class Run {
  readonly #session: ClusterSession;
  readonly #config: Pick<ClustersConfig, 'limits' | 'progressComments'>;
  readonly #skipped = new Map<string, SkipReason>();
  readonly #skips: Record<string, Memory['skips'][string]> = {};
  /** Clusters that need no check before their next update. */
  readonly #lasting = new Set<string>();
  /** Number of clusters that took requests without a result. */
  #failedAttempts = 0;
  #opened = 0;
  #superseded = 0;
  #commented = 0;

  constructor(session: ClusterSession, config: Pick<ClustersConfig, 'limits' | 'progressComments'>) {
    this.#session = session;
    this.#config = config;
  }

  async go(): Promise<RunNumbers | null> {
    const { source, rule, store, clock, tracker, rules, writes, events } = this.#session;
    // 1. Read the clusters that may have changed.
    const reader = await readClusters(source, rule, store.memory.reading, () => clock.now());
    if (reader === null) {
      return null;
    }
    await recordNumbers(store, reader.judged);
    events.onRead?.(reader.judged);
    const selected = reader.judged
      .flatMap(({ cluster, verdict }) => (verdict.passes ? [cluster] : []))
      .sort(compareSeverity);
    // 2. Track existing change requests: only the open ones if nothing may be opened.
    const mayOpen = () => selected.some((cluster) => rules.findSkip(cluster, null) === null);
    const list = await tracker.listIfNeeded(selected.length > 0, mayOpen);
    if (list !== null && writes !== null) {
      this.#superseded += (await writes.drafts.archiveAbandoned(list)).length;
    }
    // 3. Choose the clusters that may get a change request.
    const candidates = selected.filter((cluster) => this.#isCandidate(cluster, list));
    if (list !== null) {
      // 4. Create drafts, then open those whose claim is valid.
      await this.#settle(await this.#createDrafts(candidates, list), list);
    }
    // 5. Follow up on open and merged change requests.
    await this.#followUp();
    await this.#remember(reader, selected, list);
    return this.#numbers(reader, selected);
  }

  #isCandidate(cluster: IssueCluster, list: RequestList | null): boolean {
    const skip = this.#session.rules.findSkip(cluster, list);
    if (skip !== null) {
      this.#skip(cluster, skip);
    }
    return skip === null;
  }

  #skip(cluster: IssueCluster, { reason, why, lasts }: Skip): void {
    const { events, clock, store } = this.#session;
    const { id, label, updatedAt, issues } = cluster;
    this.#skipped.set(id, reason);
    if (lasts) {
      this.#lasting.add(id);
    }
    if (lasts && (reason === 'unrouted' || reason === 'archived' || reason === 'merged')) {
      const known = store.memory.skips[id];
      const isKnown = known?.reason === reason && isUnchanged(known, cluster);
      this.#skips[id] = isKnown ? known : { updatedAt, issues, at: clock.now(), reason, why };
    }
    events.onSkipped?.({ cluster: id, label, reason, why });
  }

  /** Creates as many drafts as the limits allow, and returns their contents by cluster. */
  async #createDrafts(candidates: readonly IssueCluster[], list: RequestList): Promise<ReadonlyMap<string, Proposal>> {
    const { store, rules } = this.#session;
    const unfinished = store.active.filter(
      ({ state, isManual }) => !isManual && (state === 'draft' || state === 'begun'),
    );
    const created = new Map<string, Proposal>();
    const planned: ListedRequest[] = [...list.requests];
    for (const cluster of candidates) {
      const limit = this.#findRunLimit(unfinished.length + created.size) ?? rules.findReachedLimit(planned, null);
      if (limit !== null) {
        this.#skip(cluster, limit);
        continue;
      }
      const proposal = await this.#createDraft(cluster, planned, list);
      if (proposal !== null) {
        created.set(cluster.id, proposal);
        planned.push(rules.plan(cluster.id, proposal.route.space?.id ?? ''));
      }
    }
    return created;
  }

  #findRunLimit(count: number): Skip | null {
    const { maxPerRun } = this.#config.limits;
    const why =
      count >= maxPerRun
        ? `limit reached: ${maxPerRun} in a run`
        : this.#failedAttempts >= MAX_FAILED_ATTEMPTS
          ? `${MAX_FAILED_ATTEMPTS} others failed in this run`
          : null;
    return why === null ? null : { reason: 'limit-run', why, lasts: false };
  }

  async #createDraft(
    cluster: IssueCluster,
    planned: readonly ListedRequest[],
    list: RequestList,
  ): Promise<Proposal | null> {
    const { rules, lists, proposals } = this.#session;
    // If the space is known without a search, check first whether it is full: that takes no request.
    const route = await proposals.routeWithoutSearch(cluster);
    const early = route === null ? null : rules.findSpace(route, planned);
    if (early !== null && 'reason' in early) {
      this.#skip(cluster, early);
      return null;
    }
    try {
      const linked = await lists.withLinked(cluster.id, list);
      if (linked !== list && !this.#isCandidate(cluster, linked)) {
        this.#failedAttempts += 1;
        return null;
      }
      const proposal = await proposals.prepare(cluster);
      const space = rules.findSpace(proposal.route, planned);
      const failure = 'reason' in space ? space : await this.#claim(proposal, space);
      if (failure === null) {
        return proposal;
      }
      this.#skip(cluster, failure);
    } catch (error) {
      if (!isRefusal(error)) {
        throw error;
      }
      this.#skip(cluster, { reason: 'failed', why: error.message, lasts: false });
    }
    this.#failedAttempts += 1;
    return null;
  }

  /** Creates the draft, or reports it in a dry run. Returns the reason of a failure, or null. */
  async #claim(proposal: Proposal, space: TargetSpace): Promise<Skip | null> {
    const { writes, events } = this.#session;
    if (writes === null) {
      const { cluster, subject, route } = proposal;
      events.onWouldOpen?.({ cluster: cluster.id, label: cluster.label, space: space.id, subject, why: route.why });
      return null;
    }
    const result = await writes.creator.create(proposal, space, false);
    return result.is === 'refused' ? { reason: 'failed', why: result.why, lasts: false } : null;
  }

  async #settle(created: ReadonlyMap<string, Proposal>, list: RequestList): Promise<void> {
    const { writes, store } = this.#session;
    if (writes === null) {
      this.#opened = created.size;
      return;
    }
    await writes.drafts.completeOpened(list);
    if (created.size === 0 && store.draftIds.size === 0) {
      return;
    }
    const { opened, superseded } = await writes.drafts.settle(created.size === 0 ? list : null, created);
    this.#opened = opened.length;
    this.#superseded += superseded.length;
    await writes.reviewers.requestFor(opened);
  }

  async #followUp(): Promise<void> {
    const { writes } = this.#session;
    if (writes !== null) {
      await writes.reviewers.requestMissing();
      this.#commented = this.#config.progressComments ? await writes.followUps.postProgressComments() : 0;
      await writes.followUps.muteMerged();
    }
  }

  async #remember(
    reader: IncrementalReader,
    selected: readonly IssueCluster[],
    list: RequestList | null,
  ): Promise<void> {
    const { store, clock } = this.#session;
    for (const { id } of selected) {
      if (store.findActive(id)?.state === 'open') {
        this.#lasting.add(id);
      }
    }
    const { skips, merges } = store.memory;
    const read = new Set(reader.judged.map(({ cluster }) => cluster.id));
    const kept = Object.entries(skips).filter(([id, { at }]) => !read.has(id) && clock.now() - at < DAY);
    await store.change({
      reading: reader.toState(this.#lasting),
      skips: { ...Object.fromEntries(kept), ...this.#skips },
      merges: newMerges(selected, list, merges),
    });
  }

  #numbers({ judged }: IncrementalReader, selected: readonly IssueCluster[]): RunNumbers {
    const skipped: Partial<Record<SkipReason, number>> = {};
    for (const reason of this.#skipped.values()) {
      skipped[reason] = (skipped[reason] ?? 0) + 1;
    }
    return {
      read: judged.length,
      passing: selected.length,
      opened: this.#opened,
      superseded: this.#superseded,
      commented: this.#commented,
      skipped,
      open: this.#session.store.active.filter(({ state }) => state === 'open').length,
    };
  }
}

const DAY = 86_400_000;
/** Failed attempts before a run gives up, such as when the token cannot write or the spaces are full. */
const MAX_FAILED_ATTEMPTS = 20;

/** Returns the number of issues for each change request that was first seen as merged now. */
function newMerges(
  selected: readonly IssueCluster[],
  list: RequestList | null,
  known: Memory['merges'],
): Memory['merges'] {
  const issues = new Map(selected.map((cluster) => [clusterKey(cluster.id), cluster.issues]));
  return Object.fromEntries(
    (list?.requests ?? []).flatMap(({ id, status, cluster }) => {
      const count = status === 'merged' && known[id] === undefined ? issues.get(cluster) : undefined;
      return count === undefined ? [] : [[id, count]];
    }),
  );
}
