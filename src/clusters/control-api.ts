/** Handles requests about clusters, of people and of the command line. */
import { z } from 'zod';
import { ConfigError, RejectedError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { isOfCluster } from './change-request.ts';
import { type CountedRequest, decideReopen } from './claims.ts';
import { clusterFacts, compareSeverity, type IssueCluster } from './cluster.ts';
import { listAll, type RequestList, withLinked } from './follow.ts';
import {
  createDraft,
  findSkip,
  findSpace,
  type Proposal,
  planRequest,
  prepareProposal,
  requestReviews,
  settleDrafts,
} from './open.ts';
import { type TargetSpace, unknownSpaceMessage } from './route.ts';
import type { ClusterAutomation } from './run.ts';
import { describeReasons, type JudgedCluster, readClusters } from './select.ts';
import { type ClusterSession, canWrite } from './session.ts';
import { NO_CLUSTERS } from './sources.ts';

const cluster = z.string().min(1);
const dryRun = z.boolean();
const MAX_REASON = 500;
/** Last time that JavaScript knows. */
const LAST_TIME = 8.64e15;

/** Schema of a request about clusters. A running daemon handles it, otherwise the command itself. */
export const clusterRequest = z.discriminatedUnion('subcommand', [
  z.strictObject({ subcommand: z.literal('list') }),
  /** `space`: manifest key or id of the target space; null to use the routes. */
  z.strictObject({ subcommand: z.literal('open'), cluster, space: z.string().min(1).nullable(), dryRun }),
  /** `until`: end of the mute, in milliseconds since the epoch; null or absent: until somebody unmutes it. */
  z.strictObject({
    subcommand: z.literal('mute'),
    cluster,
    muted: z.boolean(),
    reason: z.string().trim().max(MAX_REASON).optional(),
    until: z.number().min(0).max(LAST_TIME, 'is too late; choose an earlier end').nullable().optional(),
    dryRun,
  }),
]);
export type ClusterRequest = z.output<typeof clusterRequest>;

/** Maximum number of clusters whose target space a list determines: each may take two requests. */
const MAX_ROUTED = 50;
/** Target of a cluster whose space is not looked up. */
const NO_TARGET = { space: null, routeReason: null, subject: null };

/**
 * Handles a request. Throws ConfigError for something that does not exist, RejectedError for something that is not
 * allowed, and AppError for errors of the platform and the state file.
 */
export async function handleClusterRequest(
  automation: ClusterAutomation,
  request: ClusterRequest,
): Promise<JsonObject> {
  switch (request.subcommand) {
    case 'list':
      return automation.use({ dryRun: true, silent: true }, listClusters);
    case 'open':
      return automation.use(request, (session) => openCluster(session, request));
    default:
      return automation.use(request, (session) => muteCluster(session, request));
  }
}

async function listClusters(session: ClusterSession): Promise<JsonObject> {
  const { source, rule, clock } = session;
  const reader = await readClusters(source, rule, null, () => clock.now());
  if (reader === null) {
    throw noClusters(session);
  }
  const list = await listAll(session);
  const sorted = reader.judged.toSorted(
    (a, b) => Number(b.verdict.passes) - Number(a.verdict.passes) || compareSeverity(a.cluster, b.cluster),
  );
  const planned: CountedRequest[] = [...list.requests];
  const clusters: JsonObject[] = [];
  let routed = 0;
  for (const judged of sorted) {
    const reason = whyNotOpened(session, judged, list);
    const isRouted = reason === null && routed < MAX_ROUTED;
    routed += isRouted ? 1 : 0;
    clusters.push({
      ...describeCluster(judged, list),
      ...(isRouted
        ? await describeTarget(session, judged.cluster, planned)
        : { wouldOpen: false, reason: reason ?? 'selected; space not looked up', ...NO_TARGET }),
    });
  }
  return { clusters };
}

/** Returns the reason why a cluster gets no change request, checked without its space; null if there is none. */
function whyNotOpened(session: ClusterSession, { cluster, verdict }: JudgedCluster, list: RequestList): string | null {
  const reasons = describeReasons(verdict);
  if (reasons !== null) {
    return reasons;
  }
  const skip = findSkip(session, cluster, list);
  return skip === null || skip.reason === 'unrouted' ? null : skip.why;
}

function describeCluster({ cluster, verdict }: JudgedCluster, list: RequestList): JsonObject {
  const requests = list.requests.filter((request) => isOfCluster(request, cluster.id) && !request.superseded);
  return {
    ...clusterFacts(cluster),
    createdAt: toIsoTime(cluster.createdAt),
    updatedAt: toIsoTime(cluster.updatedAt),
    selected: verdict.passes,
    changeRequests: requests.map(({ id, space, status, url }) => ({ id, space, status, url })),
  };
}

/** Describes the target space of a cluster, and adds its change request to those that are planned. */
async function describeTarget(
  session: ClusterSession,
  cluster: IssueCluster,
  planned: CountedRequest[],
): Promise<JsonObject> {
  const { route, subject } = await prepareProposal(session, cluster);
  const described = { space: route.space && describeSpace(route.space), routeReason: route.why, subject };
  const found = findSpace(session, route, planned);
  if ('reason' in found) {
    const reason = route.space === null ? `${found.reason}: ${found.why}` : found.why;
    return { wouldOpen: false, reason, ...described };
  }
  planned.push(planRequest(session, cluster.id, found.id));
  return { wouldOpen: true, reason: null, ...described };
}

function describeSpace({ id, key, title }: TargetSpace): JsonObject {
  return { id, key, title };
}

function toIsoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

async function openCluster(
  session: ClusterSession,
  request: Extract<ClusterRequest, { subcommand: 'open' }>,
): Promise<JsonObject> {
  const found = await findCluster(session, request.cluster);
  if (found.muted) {
    throw new RejectedError(`${request.cluster} is muted; unmute it first with octavo clusters unmute`, 409);
  }
  const list = await withLinked(session, found.id, await listAll(session));
  const existing = findExisting(session, found, list);
  if (existing !== null) {
    return { ...existing, cluster: found.id, label: found.label };
  }
  const proposal = await prepareProposal(session, found, await findNamedSpace(session, request.space));
  const { space, why } = proposal.route;
  if (space === null) {
    throw new RejectedError(`no space found for ${found.id}: ${why}; choose one with --space`, 409);
  }
  return {
    cluster: found.id,
    label: found.label,
    subject: proposal.subject,
    routeReason: why,
    space: describeSpace(space),
    ...(await createAndOpen(session, proposal, space)),
  };
}

/** Returns the change request that blocks another one; null if there is none. A merged one does not block a person. */
function findExisting(
  { store }: ClusterSession,
  { id, issues }: IssueCluster,
  { requests }: RequestList,
): JsonObject | null {
  if (store.findActive(id)?.state === 'begun') {
    const reason = `the response to the creation of a change request for ${id} was lost; the next run looks for it`;
    throw new RejectedError(reason, 409);
  }
  const own = requests.filter((request) => isOfCluster(request, id));
  const decision = decideReopen(own, { issues, issuesAtMerge: new Map(), reopenGrowth: 0 });
  if (decision.may) {
    return null;
  }
  const { status, url, id: changeRequest } = decision.request;
  if (status === 'archived') {
    throw new RejectedError(`${id} ${decision.why}; unarchive it on the platform`, 409);
  }
  return { outcome: 'exists', changeRequest, status, url };
}

async function findNamedSpace({ spaces }: ClusterSession, name: string | null): Promise<TargetSpace | undefined> {
  if (name === null) {
    return undefined;
  }
  const known = await spaces();
  const all = known.has(name) ? known : await spaces(name);
  const space = all.get(name);
  if (space === undefined) {
    throw new ConfigError(unknownSpaceMessage(name, [...all.keys()]));
  }
  if (!space.usable) {
    throw new RejectedError(`${name} cannot be used: ${space.why ?? 'not usable'}`, 409);
  }
  return space;
}

async function createAndOpen(session: ClusterSession, proposal: Proposal, space: TargetSpace): Promise<JsonObject> {
  if (!canWrite(session)) {
    return { outcome: 'would-open' };
  }
  const refusal = await createDraft(session, proposal, space, true);
  if (refusal !== null) {
    throw new RejectedError(refusal, 409);
  }
  const { id } = proposal.cluster;
  const { opened, superseded } = await settleDrafts(session, null, new Map([[id, proposal]]));
  await requestReviews(session, opened);
  const own = session.store.findActive(id);
  if (own?.state === 'open') {
    return { outcome: 'opened', changeRequest: own.id, url: own.url };
  }
  const lost = superseded.find(({ request }) => isOfCluster(request, id));
  return lost === undefined
    ? { outcome: 'created', changeRequest: own?.id ?? null, url: own?.url ?? null }
    : { outcome: 'yielded', reason: lost.why, changeRequest: lost.to?.id ?? null, url: lost.to?.url ?? null };
}

async function muteCluster(
  session: ClusterSession,
  { cluster: id, muted, reason = '', until = null }: Extract<ClusterRequest, { subcommand: 'mute' }>,
): Promise<JsonObject> {
  const { source, store, writer } = session;
  const before = await findCluster(session, id);
  const changed = before.muted !== muted;
  const now = writer !== null && changed ? await source.mute(writer, id, muted) : before.muted;
  if (writer !== null) {
    await store.keepMute(id, now && (reason !== '' || until !== null) ? { reason, until } : null);
  }
  return { cluster: id, label: before.label, muted: now, changed };
}

async function findCluster(session: ClusterSession, id: string): Promise<IssueCluster> {
  const found = await session.source.one(id);
  if (found !== null) {
    return found;
  }
  const page = await session.source.page(null);
  if (page === null) {
    throw noClusters(session);
  }
  const hint = page.clusters.length === 0 ? 'the platform has none' : 'run octavo clusters list to see them';
  throw new ConfigError(`issue cluster ${JSON.stringify(id)} not found; ${hint}`);
}

function noClusters({ source }: ClusterSession): RejectedError {
  return new RejectedError(NO_CLUSTERS[source.kind], 404);
}
