/** Opens change requests for clusters: the rules, the content, drafts that claim a cluster, and reviewers. */
import { AppError, CancelledError, RateLimitedError, TransientError } from '../core/errors.ts';
import { operations } from '../platform/operations/index.ts';
import type { RichDocument } from '../platform/rich-text/node.ts';
import {
  type ClusterChangeRequest,
  clusterKey,
  draftSubject,
  isOfCluster,
  supersededSubject,
} from './change-request.ts';
import {
  type CountedRequest,
  compareCreation,
  decideClaims,
  decideReopen,
  reachedLimits,
  SETTLE_DELAY,
  type SupersededDraft,
} from './claims.ts';
import { type ClusterIssue, clusterNumbers, type IssueCluster, parseTime, pickExamples } from './cluster.ts';
import { buildDescription, buildSubject, buildSupersededDescription, templateValues } from './description.ts';
import { isRefusal, nullIfRefused, type SkipReason, toEvent } from './events.ts';
import { listAll, type RequestList } from './follow.ts';
import {
  buildSearchQuery,
  chooseSpace,
  needsSearch,
  pickRelatedPages,
  type RankedSpace,
  type Route,
  rankSpaces,
  type TargetSpace,
} from './route.ts';
import type { ClusterSession, WritingSession } from './session.ts';
import { nullIfNotFound } from './sources.ts';
import type { KnownSkip, OwnRequest } from './store.ts';

const DAY = 86_400_000;
/** Number of spaces that a search may return. */
const MAX_RESULTS = 50;
/** Maximum age of a list by which drafts are opened, in milliseconds. */
const MAX_LIST_AGE = 600_000;
/** Age from which an unknown draft counts as abandoned, in milliseconds: far longer than any run takes. */
const ABANDONED_AFTER = 3_600_000;

/** Reason why no change request is opened now. */
export interface Skip {
  readonly reason: SkipReason;
  readonly why: string;
  /** True if no check is needed until the cluster is updated. */
  readonly lasts: boolean;
}

/**
 * Returns the reason why a cluster gets no change request, or null. Without a list, stored results that still hold are
 * used.
 */
export function findSkip(
  { store, clock, config }: ClusterSession,
  cluster: IssueCluster,
  list: RequestList | null,
): Skip | null {
  const { id, issues } = cluster;
  const own = store.findActive(id);
  if (own !== null) {
    const is = own.state === 'begun' ? 'was requested, but the response was lost' : `is ${own.state}`;
    const why = `its change request ${own.id === null ? '' : `${own.id} `}${is}`;
    return { reason: 'exists', why, lasts: own.state === 'open' };
  }
  if (list !== null) {
    const decision = decideReopen(
      list.requests.filter((request) => isOfCluster(request, id)),
      { issues, issuesAtMerge: store.issuesAtMerge, reopenGrowth: config.afterMerge.reopenGrowth },
    );
    if (!decision.may) {
      const { status } = decision.request;
      const reason = status === 'archived' || status === 'merged' ? status : 'exists';
      return { reason, why: decision.why, lasts: status !== 'draft' };
    }
  }
  const known = store.memory.skips[id];
  const holds = known !== undefined && isUnchanged(known, cluster) && Math.abs(clock.now() - known.at) < DAY;
  return holds && (list === null || known.reason === 'unrouted')
    ? { reason: known.reason, why: known.why, lasts: true }
    : null;
}

/** Returns whether a cluster is unchanged. Timestamps may be coarse, so the number of issues is compared too. */
export function isUnchanged(known: KnownSkip, { updatedAt, issues }: IssueCluster): boolean {
  return known.updatedAt === updatedAt && known.issues === issues;
}

/** Returns the routed space if one more change request may be opened there, else the reason. */
export function findSpace(
  session: ClusterSession,
  route: Route,
  planned: readonly CountedRequest[],
): TargetSpace | Skip {
  if (route.space === null) {
    return { reason: route.waits ? 'waiting' : 'unrouted', why: route.why, lasts: !route.waits };
  }
  return findReachedLimit(session, planned, route.space.id) ?? route.space;
}

/** Returns the limit that prevents one more change request. `space` null: limits of a space are not checked. */
export function findReachedLimit(
  { config, clock }: ClusterSession,
  planned: readonly CountedRequest[],
  space: string | null,
): Skip | null {
  const reached = reachedLimits(planned, { space: space ?? '', createdAt: clock.now() }, config.limits);
  const limit = reached.find(({ reason }) => reason !== 'limit-space') ?? reached[0];
  return limit === undefined ? null : { ...limit, lasts: false };
}

/** Returns a change request that will be created, as limits count it. */
export function planRequest({ clock }: ClusterSession, cluster: string, space: string): CountedRequest {
  return { space, cluster: clusterKey(cluster), status: 'draft', createdAt: clock.now(), superseded: false };
}

/** Content of a change request for a cluster, with its space. */
export interface Proposal {
  readonly cluster: IssueCluster;
  readonly route: Route;
  readonly subject: string;
  readonly describe: (claim: string) => RichDocument;
}

/**
 * Prepares the content of a change request. Takes two requests: the issues of the cluster, and a search for pages.
 * `space` overrides the routes. Throws AppError.
 */
export async function prepareProposal(
  session: ClusterSession,
  cluster: IssueCluster,
  space?: TargetSpace,
): Promise<Proposal> {
  const { source, routing, spaces, store, redaction } = session;
  const settings = session.config.changeRequest;
  const issues = await source.issues(cluster.id);
  await store.keepExamples(cluster.id, pickExamples(cluster, issues));
  const ranked = await search(session, cluster, issues, space === undefined);
  const route: Route =
    space === undefined ? chooseSpace(cluster, routing, await spaces(), ranked) : { space, why: 'chosen with --space' };
  return {
    cluster,
    route,
    subject: buildSubject(settings.subject, templateValues(cluster), redaction),
    describe: (claim) =>
      buildDescription({
        cluster,
        issues,
        pages: pickRelatedPages(ranked ?? [], route.space?.id ?? '', settings.maxPages),
        template: settings.description,
        most: settings.maxIssues,
        claim,
      }),
  };
}

/** Returns the route of a cluster if no search is needed for it, else null. Throws AppError. */
export async function routeWithoutSearch(session: ClusterSession, cluster: IssueCluster): Promise<Route | null> {
  const spaces = await session.spaces();
  return needsSearch(cluster, session.routing, spaces) ? null : chooseSpace(cluster, session.routing, spaces, null);
}

/** Returns null without a search if neither the routes nor the description need one, or there is nothing to search for. */
async function search(
  { reader, routing, spaces, config, events }: ClusterSession,
  cluster: IssueCluster,
  issues: readonly ClusterIssue[],
  isRouted: boolean,
): Promise<readonly RankedSpace[] | null> {
  const routes = isRouted && needsSearch(cluster, routing, await spaces());
  const query = buildSearchQuery(cluster, issues);
  if ((!routes && config.changeRequest.maxPages === 0) || query === '') {
    return null;
  }
  const input = { query: { query, limit: MAX_RESULTS } };
  const answer = await nullIfNotFound(reader.get(operations.searchOrganization, input));
  if (answer === null) {
    events.onTrouble?.({ cluster: cluster.id, message: 'this platform has no search over the organization (404)' });
  }
  return answer && rankSpaces(answer.items);
}

/**
 * Creates a draft, which claims the cluster. Stores the draft, then requests it, and never requests it again: after a
 * lost response, a list finds it by its subject. Returns the reason if the platform refused it, else null. Throws
 * AppError for errors that do not concern this draft.
 */
export async function createDraft(
  session: WritingSession,
  proposal: Proposal,
  space: TargetSpace,
  isManual: boolean,
): Promise<string | null> {
  const { writer, source, store, clock, random } = session;
  const { reviewers, templateId } = session.config.changeRequest;
  const { id, label } = proposal.cluster;
  const at = clock.now();
  const seen = clusterNumbers(proposal.cluster);
  const own: OwnRequest = {
    cluster: id,
    label,
    claim: Array.from({ length: 8 }, () => LETTERS[Math.floor(random() * LETTERS.length)] ?? 'a').join(''),
    id: null,
    space: space.id,
    subject: proposal.subject,
    url: null,
    revision: null,
    at,
    state: 'begun',
    mergedAt: null,
    isManual,
    why: proposal.route.why,
    reviewersDue: reviewers.length > 0,
    reported: { at, ...seen },
    seen,
    muteDue: false,
    missingSince: null,
  };
  await store.put(own);
  const body = {
    subject: draftSubject(own.claim, id),
    ...source.link(id),
    description: proposal.describe(own.claim),
    ...(templateId === null ? {} : { template: { id: templateId } }),
  };
  try {
    const answer = await writer.send(operations.createChangeRequest, { path: { spaceId: space.id }, body });
    const createdAt = parseTime(answer.createdAt);
    if (createdAt !== null) {
      clock.observeCreated(createdAt);
    }
    const url = answer.urls?.app ?? answer.urls?.location ?? null;
    const created: OwnRequest = { ...own, id: answer.id, url, revision: answer.revision ?? null, state: 'draft' };
    await store.put(created, { skew: clock.skew });
    return null;
  } catch (error) {
    return handleCreationError(session, own, error);
  }
}

/** Alphabet of claims, without characters that look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Interprets an error: the draft was created, was not created, or its state is unknown. */
async function handleCreationError(
  { store, events }: ClusterSession,
  own: OwnRequest,
  error: unknown,
): Promise<string | null> {
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
    return null;
  }
  await store.remove(own, { superseded: false });
  if (isRefusal(error)) {
    return error.message;
  }
  throw error;
}

interface Draft {
  readonly own: OwnRequest;
  readonly request: ClusterChangeRequest;
}

/**
 * Opens drafts whose claim is valid, and archives those that are superseded. `list` must have been requested after the
 * last draft; null requests one, after a delay, so that it contains everything that was created before the drafts.
 * `proposals`: contents of drafts by cluster, if known. Throws AppError.
 */
export async function settleDrafts(
  session: WritingSession,
  list: RequestList | null,
  proposals: ReadonlyMap<string, Proposal>,
): Promise<{ readonly opened: readonly OwnRequest[]; readonly superseded: readonly SupersededDraft[] }> {
  const { store, clock, signal, events } = session;
  if (list === null) {
    await clock.sleep(SETTLE_DELAY, signal);
  }
  const current = list ?? (await listAll(session));
  // In the order of creation, which is the order of severity.
  const drafts = current.requests.toSorted(compareCreation).flatMap((request): readonly Draft[] => {
    const own = store.findById(request.id);
    return own?.state === 'draft' && request.status === 'draft' ? [{ own, request }] : [];
  });
  const decision = decide(session, current, drafts);
  const superseded: SupersededDraft[] = [];
  const archive = async (draft: SupersededDraft) => {
    if (await archiveDraft(session, draft)) {
      superseded.push(draft);
    }
  };
  for (const draft of decision.superseded) {
    await archive(draft);
  }
  const opened: OwnRequest[] = [];
  for (const draft of drafts.filter(({ request }) => decision.open.some(({ id }) => id === request.id))) {
    const { own, request } = draft;
    const content = proposals.get(own.cluster) ?? (await contentOf(session, own));
    if (typeof content === 'string') {
      await archive({ request, why: content, to: null });
      continue;
    }
    const seen = clusterNumbers(content.cluster);
    const reported = { at: clock.now(), ...seen };
    const url = await update(session, request, { status: 'open', ...contentBody(draft, content) });
    if (url !== null) {
      const open: OwnRequest = { ...own, state: 'open', seen, reported, url: url || own.url };
      await store.put(open);
      events.onOpened?.({ ...toEvent(open), why: open.why });
      opened.push(open);
    }
  }
  return { opened, superseded };
}

/** Completes own drafts that a person opened meanwhile: they still have the subject of a draft. Throws AppError. */
export async function completeOpened(session: WritingSession, { requests }: RequestList): Promise<void> {
  for (const request of requests) {
    const own = request.status === 'open' && request.isDraftSubject ? session.store.findById(request.id) : null;
    const content = own === null ? null : await contentOf(session, own);
    if (own !== null && content !== null && typeof content !== 'string') {
      await update(session, request, contentBody({ own, request }, content));
    }
  }
}

/**
 * Archives drafts of Octavo that are an hour old and not stored: the daemon that created them lost its state. Drafts that
 * a person renamed stay. Records whether there are younger ones. Returns the number of archived ones. Throws AppError.
 */
export async function archiveAbandoned(session: WritingSession, { requests }: RequestList): Promise<number> {
  const { store, clock } = session;
  const stray = requests.filter(
    ({ id, status, isDraftSubject }) => status === 'draft' && isDraftSubject && store.findById(id) === null,
  );
  let archived = 0;
  for (const request of stray.filter(({ createdAt }) => clock.now() - createdAt > ABANDONED_AFTER)) {
    const why = 'no daemon continued it for an hour';
    archived += (await archiveDraft(session, { request, why, to: null })) ? 1 : 0;
  }
  await store.change({ hasStrayDrafts: stray.length > archived });
  return archived;
}

/** Decides which own drafts are opened. Limits and earlier merges do not apply to drafts that a person requested. */
function decide({ clock, store, config }: ClusterSession, list: RequestList, drafts: readonly Draft[]) {
  if (clock.monotonic() - list.at > MAX_LIST_AGE) {
    return { open: [], superseded: [] };
  }
  const { issuesAtMerge } = store;
  const claims = (isManual: boolean) =>
    new Map(drafts.flatMap(({ own, request }) => (own.isManual === isManual ? [[request.id, own.seen.issues]] : [])));
  const { limits } = config;
  const { reopenGrowth } = config.afterMerge;
  const manual = decideClaims(list.requests, claims(true), { limits: null, reopenGrowth: 0, issuesAtMerge });
  const automatic = decideClaims(list.requests, claims(false), { limits, reopenGrowth, issuesAtMerge });
  return {
    open: [...manual.open, ...automatic.open.slice(0, limits.maxPerRun)],
    superseded: [...manual.superseded, ...automatic.superseded],
  };
}

/** Prepares the content of a draft of an earlier run, or returns the reason why it must no longer be opened. */
async function contentOf(session: ClusterSession, { cluster: id, space }: OwnRequest): Promise<Proposal | string> {
  const cluster = await session.source.one(id);
  if (cluster === null || cluster.muted) {
    return cluster === null ? 'the cluster no longer exists' : 'the cluster was muted';
  }
  const target = (await session.spaces()).get(space);
  return target === undefined ? 'its space no longer exists' : prepareProposal(session, cluster, target);
}

/**
 * Archives a draft with the reason. Its subject and description distinguish it from one that a person archived. Returns
 * false if the platform refused.
 */
async function archiveDraft(session: WritingSession, { request, why, to }: SupersededDraft): Promise<boolean> {
  const { store, events } = session;
  const { id, cluster, space, url } = request;
  const description = buildSupersededDescription(cluster, why, to);
  const own = store.findById(id);
  const subject = supersededSubject(own?.subject ?? request.subject);
  if ((await update(session, request, { status: 'archived', subject, description })) === null) {
    return false;
  }
  if (own !== null) {
    await store.remove(own, { superseded: true });
  }
  events.onSuperseded?.({ cluster, label: own?.label ?? request.subject, request: id, space, url, why });
  return true;
}

interface Update {
  readonly status?: 'open' | 'archived';
  readonly subject?: string;
  readonly description?: RichDocument;
}

/** Returns the URL in the response, which may be empty; null if the platform refused the update. */
function update(
  { writer, events }: WritingSession,
  { id, space, cluster }: SupersededDraft['request'],
  body: Update,
): Promise<string | null> {
  return nullIfRefused(events, cluster, async () => {
    const path = { spaceId: space, changeRequestId: id };
    const answer = await writer.send(operations.updateChangeRequest, { path, body });
    return answer?.urls?.app ?? answer?.urls?.location ?? '';
  });
}

/** Fields that an opened change request gets and its draft may lack. */
function contentBody({ own, request }: Draft, { describe }: Proposal): Update {
  return { subject: own.subject, ...(request.isDescribed ? {} : { description: describe(own.claim) }) };
}

/**
 * Requests reviews of change requests that were opened now, and of earlier ones, from users who were not asked. A refusal
 * of the platform is reported, and the request is not repeated. Throws AppError.
 */
export async function requestReviews(
  session: WritingSession,
  opened: readonly OwnRequest[],
  earlier: readonly OwnRequest[] = [],
): Promise<void> {
  const { writer, reader, store, events } = session;
  let reviewers: Promise<readonly string[]> | null = null;
  for (const own of [...opened, ...earlier].filter(({ reviewersDue }) => reviewersDue)) {
    const path = { spaceId: own.space, changeRequestId: own.id ?? '' };
    const request = async () => {
      reviewers ??= findReviewers(session);
      const requested = earlier.includes(own)
        ? await Array.fromAsync(reader.pages(operations.listRequestedReviewers, { path }), ({ user }) => user?.id)
        : [];
      const users = (await reviewers).filter((user) => !requested.includes(user));
      if (users.length > 0) {
        await writer.send(operations.requestReviewers, { path, body: { users } });
      }
    };
    await nullIfRefused(events, own.cluster, request, 'cannot request reviews: ');
    await store.put({ ...own, reviewersDue: false });
  }
}

const TEAM = 'team/';

/** Finds the configured users: email addresses, and teams as `team/KEY`. */
async function findReviewers(session: ClusterSession): Promise<readonly string[]> {
  const users = new Set<string>();
  for (const name of session.config.changeRequest.reviewers) {
    const search = name.startsWith(TEAM) ? findTeam(session, name.slice(TEAM.length)) : findMember(session, name);
    const found = (await nullIfNotFound(search)) ?? [];
    if (found.length === 0) {
      session.events.onTrouble?.({ cluster: null, message: `${name} is not a possible reviewer` });
    }
    for (const id of found) {
      users.add(id);
    }
  }
  return [...users];
}

/** Finds the members of a team, by the key of its manifest or by its id. */
async function findTeam({ reader, names }: ClusterSession, name: string): Promise<readonly string[]> {
  const teamId = (await names.recorded('team')).get(name) ?? name;
  const members = reader.pages(operations.listTeamMembers, { path: { teamId } });
  return Array.fromAsync(members, ({ organization }) => organization.user?.id ?? organization.id);
}

async function findMember({ reader }: ClusterSession, email: string): Promise<readonly string[]> {
  for await (const { id, user } of reader.pages(operations.listMembers, { query: { search: email } })) {
    if (user?.email?.toLowerCase() === email.toLowerCase()) {
      return [user.id ?? id];
    }
  }
  return [];
}
