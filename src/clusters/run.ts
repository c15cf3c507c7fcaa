/** Runs the cluster automation of an organization: the steps of one run, and runs and requests one at a time. */
import { createHash } from 'node:crypto';
import PQueue from 'p-queue';
import type { ClustersConfig } from '../config/clusters.ts';
import type { Clock } from '../core/clock.ts';
import { ConfigError, NotThePlatformError, toError } from '../core/errors.ts';
import { canonicalJson } from '../core/json.ts';
import type { Reader, Writer } from '../platform/client.ts';
import { ConversationsProbe, isMissingOperation } from '../platform/conversations-probe.ts';
import type { Priority } from '../queue/request.ts';
import type { Note } from '../store/record.ts';
import { clusterKey } from './change-request.ts';
import type { CountedRequest } from './claims.ts';
import { compareSeverity, type IssueCluster } from './cluster.ts';
import { type ClusterEvents, isRefusal, type RunEnd, redactEvents, type SkipReason } from './events.ts';
import {
  endMutes,
  followOpen,
  listAll,
  muteMerged,
  postProgressComments,
  type RequestList,
  recordNumbers,
  withLinked,
} from './follow.ts';
import {
  archiveAbandoned,
  completeOpened,
  createDraft,
  findReachedLimit,
  findSkip,
  findSpace,
  isUnchanged,
  type Proposal,
  planRequest,
  prepareProposal,
  requestReviews,
  routeWithoutSearch,
  type Skip,
  settleDrafts,
} from './open.ts';
import { limitRedaction, redactError, redactSource } from './redaction.ts';
import { createRouting, type Names, readSpaces, type Spaces } from './route.ts';
import { createSelectionRule, readClusters } from './select.ts';
import { type ClientObserver, type ClusterSession, canWrite, PlatformClock } from './session.ts';
import { type ClusterSource, type FindingsName, NO_CLUSTERS, openIssueClusters, openSiteTopics } from './sources.ts';
import { ClusterStore, type Memory, type OwnRequest } from './store.ts';

/** Counts of a run. */
type RunNumbers = Pick<RunEnd, 'read' | 'passing' | 'opened' | 'superseded' | 'commented' | 'skipped' | 'open'>;

const DAY = 86_400_000;
/** Failed attempts before a run gives up, such as when the token cannot write or the spaces are full. */
const MAX_FAILED_ATTEMPTS = 20;

/** Selected clusters for which a run opens nothing, by id, with the time of the decision. */
type Skipped = Map<string, Skip & { readonly cluster: IssueCluster; readonly at: number }>;

/**
 * Runs the automation once over an organization's clusters. Returns null if the platform has none. Throws AppError;
 * everything done until then is stored, and the next run continues from there. See docs/clusters.md.
 */
async function runClusters(session: ClusterSession): Promise<RunNumbers | null> {
  const { config, source, rule, store, clock, events } = session;
  const writing = canWrite(session) ? session : null;
  if (writing !== null) {
    await endMutes(writing);
  }
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
  // 2. Follow existing change requests: only the open ones if nothing may be opened.
  const list = await listIfNeeded(session, selected);
  let superseded = list === null || writing === null ? 0 : await archiveAbandoned(writing, list);
  // 3. Choose the clusters that may get a change request.
  const skipped: Skipped = new Map();
  const candidates = selected.filter((cluster) => {
    const skip = findSkip(session, cluster, list);
    return skip === null || recordSkip(session, skipped, cluster, skip);
  });
  // 4. Create drafts, then open those whose claim is valid.
  const created = list === null ? new Map<string, Proposal>() : await createDrafts(session, skipped, candidates, list);
  let opened: readonly OwnRequest[] = [];
  if (list !== null && writing !== null) {
    await completeOpened(writing, list);
    if (created.size > 0 || store.draftIds.size > 0) {
      const settled = await settleDrafts(writing, created.size === 0 ? list : null, created);
      opened = settled.opened;
      superseded += settled.superseded.length;
    }
  }
  // 5. Follow up on open and merged change requests.
  let commented = 0;
  if (writing !== null) {
    const earlier = store.active.filter(
      ({ state, missingSince, claim }) =>
        state === 'open' && missingSince === null && opened.every((each) => each.claim !== claim),
    );
    await requestReviews(writing, opened, earlier);
    commented = config.progressComments ? await postProgressComments(writing) : 0;
    await muteMerged(writing);
  }
  // 6. Store what the next run need not check again.
  const lasting = selected.filter(
    ({ id }) => skipped.get(id)?.lasts === true || store.findActive(id)?.state === 'open',
  );
  const read = new Set(reader.judged.map(({ cluster }) => cluster.id));
  await store.change({
    reading: reader.toState(new Set(lasting.map(({ id }) => id))),
    skips: newSkips(session, skipped, read),
    merges: newMerges(selected, list, store.memory.merges),
  });
  const counts: Partial<Record<SkipReason, number>> = {};
  for (const { reason } of skipped.values()) {
    counts[reason] = (counts[reason] ?? 0) + 1;
  }
  return {
    read: reader.judged.length,
    passing: selected.length,
    opened: writing === null ? created.size : opened.length,
    superseded,
    commented,
    skipped: counts,
    open: store.active.filter(({ state }) => state === 'open').length,
  };
}

/** Lists all change requests if something may be opened, a draft is undecided, or the last list is a day old. */
async function listIfNeeded(session: ClusterSession, selected: readonly IssueCluster[]): Promise<RequestList | null> {
  const { store, clock } = session;
  const { hasStrayDrafts, listedAt } = store.memory;
  const mayOpen = () => selected.some((cluster) => findSkip(session, cluster, null) === null);
  const isDue = listedAt === null || Math.abs(clock.now() - listedAt) >= DAY;
  const isPending = store.active.some(
    ({ state, missingSince }) => missingSince === null && (state === 'draft' || state === 'begun'),
  );
  const isUndecided = isPending || hasStrayDrafts || (isDue && (selected.length > 0 || store.active.length > 0));
  // A change request that was followed may no longer block another one.
  const isNeeded = mayOpen() || isUndecided || !(await followOpen(session)) || mayOpen();
  return isNeeded ? listAll(session) : null;
}

/** Records and reports that nothing is opened for a cluster. Returns false: it is not a candidate. */
function recordSkip({ events, clock }: ClusterSession, skipped: Skipped, cluster: IssueCluster, skip: Skip): false {
  skipped.set(cluster.id, { ...skip, cluster, at: clock.now() });
  events.onSkipped?.({ cluster: cluster.id, label: cluster.label, reason: skip.reason, why: skip.why });
  return false;
}

/** Creates as many drafts as the limits allow, and returns their contents by cluster. */
async function createDrafts(
  session: ClusterSession,
  skipped: Skipped,
  candidates: readonly IssueCluster[],
  list: RequestList,
): Promise<ReadonlyMap<string, Proposal>> {
  const { maxPerRun } = session.config.limits;
  const unfinished = session.store.active.filter(
    ({ state, isManual }) => !isManual && (state === 'draft' || state === 'begun'),
  );
  const created = new Map<string, Proposal>();
  const planned: CountedRequest[] = [...list.requests];
  // Clusters that took requests without a result.
  let failedAttempts = 0;
  const findRunLimit = (): Skip | null => {
    const isFull = unfinished.length + created.size >= maxPerRun;
    const why = isFull
      ? `the limit of ${maxPerRun} in a run is reached`
      : `${MAX_FAILED_ATTEMPTS} others failed in this run`;
    return isFull || failedAttempts >= MAX_FAILED_ATTEMPTS ? { reason: 'limit-run', why, lasts: false } : null;
  };
  for (const cluster of candidates) {
    const limit = findRunLimit() ?? findReachedLimit(session, planned, null);
    // If the space is known without a search, check first whether it is full: that takes no request.
    const route = limit === null ? await routeWithoutSearch(session, cluster) : null;
    const early = limit ?? (route === null ? null : findSpace(session, route, planned));
    if (early !== null && 'reason' in early) {
      recordSkip(session, skipped, cluster, early);
      continue;
    }
    const outcome = await claim(session, cluster, planned, list);
    if ('reason' in outcome) {
      recordSkip(session, skipped, cluster, outcome);
      failedAttempts += 1;
    } else {
      created.set(cluster.id, outcome);
      planned.push(planRequest(session, cluster.id, outcome.route.space?.id ?? ''));
    }
  }
  return created;
}

/** Creates a draft, or reports it in a dry run. Returns its content, or the reason of a failure. */
async function claim(
  session: ClusterSession,
  cluster: IssueCluster,
  planned: readonly CountedRequest[],
  list: RequestList,
): Promise<Proposal | Skip> {
  try {
    const linked = await withLinked(session, cluster.id, list);
    const skip = linked === list ? null : findSkip(session, cluster, linked);
    if (skip !== null) {
      return skip;
    }
    const proposal = await prepareProposal(session, cluster);
    const space = findSpace(session, proposal.route, planned);
    if ('reason' in space) {
      return space;
    }
    if (canWrite(session)) {
      const refusal = await createDraft(session, proposal, space, false);
      return refusal === null ? proposal : { reason: 'failed', why: refusal, lasts: false };
    }
    const { subject, route } = proposal;
    const { id, label } = cluster;
    session.events.onWouldOpen?.({ cluster: id, label, space: space.id, subject, why: route.why });
    return proposal;
  } catch (error) {
    if (!isRefusal(error)) {
      throw error;
    }
    return { reason: 'failed', why: error.message, lasts: false };
  }
}

/** Returns the lasting reasons to store: those of this run, and recent ones of clusters that it did not read. */
function newSkips({ store, clock }: ClusterSession, skipped: Skipped, read: ReadonlySet<string>): Memory['skips'] {
  const { skips } = store.memory;
  const kept = Object.entries(skips).filter(([id, { at }]) => !read.has(id) && clock.now() - at < DAY);
  const added = [...skipped].flatMap(([id, { cluster, reason, why, lasts, at }]) => {
    if (!lasts || (reason !== 'unrouted' && reason !== 'archived' && reason !== 'merged')) {
      return [];
    }
    const known = skips[id];
    const isKnown = known?.reason === reason && isUnchanged(known, cluster);
    const { updatedAt, issues } = cluster;
    return [[id, isKnown ? known : { updatedAt, issues, at, reason, why }] as const];
  });
  return Object.fromEntries([...kept, ...added]);
}

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

/** Nothing new is started after the signal aborts. The redaction applies to everything that comes from tickets. */
interface AutomationOptions
  extends Pick<ClusterSession, 'config' | 'names' | 'random' | 'redaction' | 'signal' | 'events'> {
  /** Opens a client that can only read. */
  readonly openReader: (priority: Priority, observer: ClientObserver) => Reader;
  /** Opens a client that can write; null for a dry run, which has no way to write. */
  readonly openWriter: ((priority: Priority, observer: ClientObserver) => Writer) | null;
  /** Stored state of the organization's clusters. */
  readonly note: Note;
  /** Returns the id of the site whose topics are used when the platform has no clusters; null or absent for none. */
  readonly site?: (() => Promise<string>) | null;
  /** Shared detection of whether the platform has clusters. */
  readonly probe?: ConversationsProbe;
  readonly clock: Clock;
}

/** Interval in which a platform without clusters is checked again, in milliseconds. */
const RECHECK_INTERVAL = DAY;
/**
 * Interval in which a site without topics is checked again, in milliseconds: the manifests may create the site. A
 * little less than an hour, the interval of the default schedule.
 */
const SITE_RECHECK_INTERVAL = 3_000_000;

const NO_NUMBERS: RunNumbers = { read: 0, passing: 0, opened: 0, superseded: 0, commented: 0, skipped: {}, open: 0 };

/** Cluster automation of an organization: runs, and requests of the control API, one at a time. */
export class ClusterAutomation {
  readonly #options: AutomationOptions;
  readonly #turns = new PQueue({ concurrency: 1 });
  /** Time on the monotonic clock since when the platform lacks clusters; null if it has them or that is unknown. */
  #absentSince: number | null = null;
  /** True if every space in the settings has been found, so that a run without changes need not read spaces. */
  #areSpacesKnown: boolean;
  readonly #probe: ConversationsProbe;
  readonly #findings: FindingsName = { is: null };
  #kind: ClusterSource['kind'] | null = null;

  constructor(options: AutomationOptions) {
    const redaction = limitRedaction(options.redaction);
    const own = options.config.changeRequest.reviewers;
    this.#options = { ...options, redaction, events: redactEvents(options.events, redaction, own) };
    this.#probe = options.probe ?? new ConversationsProbe();
    this.#areSpacesKnown = options.config.spaceNames.length === 0;
  }

  /** Runs once. Never rejects: the result and the events contain the error. */
  run(): Promise<RunEnd> {
    return this.#turns.add(async () => {
      const { clock, events, openWriter, signal, site } = this.#options;
      const started = clock.monotonic();
      let requests = 0;
      const finish = (attempt: Attempt): RunEnd => ({
        ...NO_NUMBERS,
        ...attempt,
        source: this.#kind,
        requests,
        milliseconds: clock.monotonic() - started,
        dryRun: openWriter === null,
      });
      const since = this.#absentSince;
      const pause = site ? SITE_RECHECK_INTERVAL : RECHECK_INTERVAL;
      if (signal.aborted || (since !== null && started - since < pause)) {
        return finish({ outcome: since === null ? 'failed' : 'unsupported', error: null });
      }
      const onRequest = () => {
        requests += 1;
      };
      const end = finish(await this.#attempt(onRequest));
      this.#absentSince = end.outcome === 'unsupported' ? clock.monotonic() : null;
      events.onRunEnd?.(end);
      return end;
    });
  }

  /** Runs `work` for a person with an open session while no run is in progress. */
  use<T>(
    { dryRun, silent = false }: { readonly dryRun: boolean; readonly silent?: boolean },
    work: (session: ClusterSession) => Promise<T>,
  ): Promise<T> {
    return this.#turns.add(async () => {
      try {
        return await work(await this.#open('person', dryRun, silent ? {} : this.#options.events));
      } catch (error) {
        // The platform may have been replaced; the next request detects it again.
        if (isMissingOperation(error)) {
          this.#probe.forget();
        }
        throw redactError(error, this.#options.redaction);
      }
    });
  }

  /**
   * Checks that every space in the settings exists. What cannot be checked yet is checked by the first run. Throws
   * ConfigError with the position of each unknown space.
   */
  async checkSpaces(): Promise<void> {
    const { config, names } = this.#options;
    const recorded = await names.recorded('space');
    this.#areSpacesKnown ||= config.spaceNames.every(({ name }) => recorded.has(name));
    if (this.#areSpacesKnown || !config.enabled) {
      return;
    }
    const declared = await names.declared();
    if (declared === null || config.spaceNames.every(({ name }) => recorded.has(name) || declared.has(name))) {
      return;
    }
    const known = { ...names, declared: async () => declared };
    try {
      await this.#readSpaces(this.#options.openReader('clusters', {}), known);
    } catch (error) {
      if (error instanceof ConfigError) {
        throw error;
      }
    }
  }

  /** Resolves when nothing is in progress. */
  idle(): Promise<void> {
    return this.#turns.onIdle();
  }

  async #attempt(onRequest: () => void): Promise<Attempt> {
    const open = () => this.#open('clusters', false, this.#options.events, onRequest);
    try {
      const session = await open();
      if (!this.#areSpacesKnown) {
        await session.spaces();
      }
      const numbers = (await runClusters(session)) ?? (await this.#tryOtherSource(session, open));
      if (numbers !== null) {
        return { ...numbers, outcome: 'done', error: null };
      }
      const reason = NO_CLUSTERS[this.#options.site ? 'topics' : 'clusters'];
      return { outcome: 'unsupported', error: new NotThePlatformError(reason) };
    } catch (error) {
      // Work that stops with the daemon is not reported as an error.
      return { outcome: 'failed', error: this.#options.signal.aborted ? null : toError(error) };
    }
  }

  /** Repeats a run with topics if there are no clusters any more, or with clusters if there are no topics. */
  async #tryOtherSource({ source }: ClusterSession, open: () => Promise<ClusterSession>): Promise<RunNumbers | null> {
    this.#probe.forget();
    if ((this.#options.site ?? null) === null) {
      return null;
    }
    const session = await open();
    return session.source.kind === source.kind ? null : runClusters(session);
  }

  /** Opens the organization's issue clusters, or the topics of the configured site if there are no clusters. */
  async #openSource(reader: Reader, clock: Clock): Promise<ClusterSource> {
    const { site = null } = this.#options;
    const source: ClusterSource =
      site === null || (await this.#probe.has(reader))
        ? openIssueClusters(reader)
        : openSiteTopics(reader, await site(), clock, this.#findings);
    this.#kind = source.kind;
    return source;
  }

  /** Opens the clients and the stored state. Throws AppError. */
  async #open(
    priority: Priority,
    dryRun: boolean,
    events: ClusterEvents,
    onRequest: () => void = () => undefined,
  ): Promise<ClusterSession> {
    const { config, openReader, openWriter, note, names, random, redaction, signal } = this.#options;
    const keeps = !dryRun && openWriter !== null;
    const store = await ClusterStore.open(note, settingsHash(config), { keeps, redaction });
    const clock = new PlatformClock(this.#options.clock, store.memory.skew);
    const observer: ClientObserver = { onRequest, onAnswer: clock.observeAnswer };
    const writer = keeps ? openWriter(priority, observer) : null;
    const reader = writer ?? openReader(priority, observer);
    const source = redactSource(await this.#openSource(reader, clock), redaction);
    const rule = createSelectionRule(config);
    let known: Promise<Spaces> | null = null;
    const spaces = (additional?: string) => {
      known =
        additional === undefined
          ? (known ?? this.#readSpaces(reader, names))
          : this.#readSpaces(reader, names, additional);
      return known;
    };
    return {
      config,
      reader,
      writer,
      source,
      names,
      spaces,
      store,
      clock,
      random,
      redaction,
      signal,
      events,
      // Verdicts about clusters do not apply to topics.
      rule: source.kind === 'clusters' ? rule : { ...rule, hash: `${rule.hash} ${source.kind}` },
      routing: createRouting(config),
    };
  }

  async #readSpaces(reader: Reader, names: Names, additional?: string): Promise<Spaces> {
    const spaces = await readSpaces(reader, names, this.#options.config, additional);
    this.#areSpacesKnown = true;
    return spaces;
  }
}

type Attempt = Pick<RunEnd, 'outcome' | 'error'> & Partial<RunNumbers>;

/** Returns a hash of the settings that affect stored results. */
function settingsHash({ select, routes, search, defaultSpace, afterMerge }: ClustersConfig): string {
  const text = canonicalJson({ select, routes, search, defaultSpace, afterMerge });
  return createHash('sha256').update(text).digest('hex');
}
