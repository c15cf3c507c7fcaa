import { z } from 'zod';
import { ConfigError, RejectedError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { decideReopen } from '../decide/reopen-policy.ts';
import type { Route, TargetSpace } from '../decide/route.ts';
import { isOfCluster } from '../model/change-request.ts';
import type { IssueCluster } from '../model/cluster.ts';
import { clusterKey } from '../model/ownership-marker.ts';
import { NO_CLUSTERS } from '../model/source.ts';
import type { JudgedCluster } from '../read/incremental-reader.ts';
import { unknownSpaceMessage } from '../read/spaces.ts';
import type { ClusterAutomation } from './automation.ts';
import { compareSeverity, decideOpening, findReachedLimit } from './choice.ts';
import { readCluster, readClusters } from './clusters.ts';
import type { RunContext } from './context.ts';
import { follow } from './follow.ts';
import { begin } from './open.ts';
import { type Proposal, prepare } from './prepare.ts';
import { listRequests, type RequestList, withOwnRequests } from './requests.ts';
import { Reviewers } from './reviewers.ts';
import { draftIds, settleDrafts } from './settle.ts';

const cluster = z.string().min(1);
const dryRun = z.boolean();

/** What a person may ask about clusters, of a daemon or, where none runs, of the platform itself. */
export const clusterRequest = z.discriminatedUnion('about', [
  z.strictObject({ about: z.literal('list') }),
  /** `space`: where, by the key of a manifest or by id; null: where the routes say. */
  z.strictObject({ about: z.literal('open'), cluster, space: z.string().min(1).nullable(), dryRun }),
  z.strictObject({ about: z.literal('mute'), cluster, muted: z.boolean(), dryRun }),
]);
export type ClusterRequest = z.output<typeof clusterRequest>;

/** Clusters of which a list says where they would go: each may take two requests. */
const MOST_ROUTED = 50;

/**
 * Answers a question. Throws ConfigError for what is not there, RejectedError for what may not be, and AppError for
 * what the platform and the state file may come to.
 */
export async function handleClusterRequest(
  automation: ClusterAutomation,
  question: ClusterRequest,
): Promise<JsonObject> {
  switch (question.about) {
    case 'list':
      return automation.use('person', true, listAll);
    case 'open':
      return automation.use('person', question.dryRun, (context) => openOne(context, question));
    default:
      return automation.use('person', question.dryRun, (context) => muteOne(context, question));
  }
}

async function listAll(context: RunContext): Promise<JsonObject> {
  const silent = { ...context, events: {} };
  const reading = await readClusters(silent, null);
  if (reading === null) {
    throw noClusters(silent);
  }
  const listing = await listed(silent);
  const sorted = reading.judged.toSorted(
    (a, b) => Number(b.verdict.passes) - Number(a.verdict.passes) || compareSeverity(a.cluster, b.cluster),
  );
  const planned = [...listing.requests];
  const clusters: JsonObject[] = [];
  let routed = 0;
  for (const judged of sorted) {
    const told = tell(silent, judged, listing);
    const looks = told.opens && routed < MOST_ROUTED;
    routed += looks ? 1 : 0;
    const prepared = looks ? await prepare(silent, judged.cluster) : null;
    const space = prepared?.route.space ?? null;
    const limit = space === null ? null : findReachedLimit(silent, planned, space.id);
    const opens = space !== null && limit === null;
    if (opens && prepared !== null) {
      planned.push({
        ...PLANNED,
        cluster: clusterKey(judged.cluster.id),
        space: space.id,
        createdAt: silent.clock.now(),
      });
    }
    clusters.push({
      ...told.about,
      opens,
      why:
        prepared === null
          ? told.why
          : space === null
            ? `${nowhere(prepared.route)}: ${prepared.route.why}`
            : (limit?.why ?? 'opens'),
      space: space === null ? null : { id: space.id, key: space.key, title: space.title },
      route: prepared?.route.why ?? null,
      subject: prepared?.subject ?? null,
    });
  }
  return { clusters };
}

function nowhere(route: Route): string {
  return route.space === null && route.waits ? 'waiting' : 'unrouted';
}

const PLANNED = {
  id: '',
  status: 'draft',
  subject: '',
  url: null,
  updatedAt: 0,
  superseded: false,
  isEmptyMerge: false,
  isDescribed: true,
  isDraftSubject: true,
} as const;

/** The change requests that there are, with what has become of those that were made here. */
async function listed(context: RunContext): Promise<RequestList> {
  return follow(context, await listRequests(context, draftIds(context)));
}

/** What is known of a cluster before a space is looked for. */
function tell(context: RunContext, { cluster: one, verdict }: JudgedCluster, listing: RequestList) {
  const { id, label, impact, muted, issues, conversations, createdAt, updatedAt, url } = one;
  const requests = listing.requests.filter((request) => isOfCluster(request, id) && !request.superseded);
  const choice = decideOpening(context, one, listing);
  const reasons = verdict.passes ? [] : verdict.reasons.map(({ words }) => words);
  const isUnrouted = !choice.may && choice.reason === 'unrouted';
  const opens = verdict.passes && (choice.may || isUnrouted);
  return {
    opens,
    why: !verdict.passes ? reasons.join('; ') : choice.may || isUnrouted ? 'selected; space not looked up' : choice.why,
    about: {
      ...{ id, label, impact, muted, issues, conversations, url },
      createdAt: timeText(createdAt),
      updatedAt: timeText(updatedAt),
      passes: verdict.passes,
      reasons,
      changeRequests: requests.map(({ id: request, space, status, url: address }) => ({
        ...{ id: request, space, status },
        url: address,
      })),
    },
  };
}

function timeText(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

async function openOne(context: RunContext, question: Extract<ClusterRequest, { about: 'open' }>): Promise<JsonObject> {
  const one = await clusterAt(context, question.cluster);
  if (one.muted) {
    throw new RejectedError(`${question.cluster} is muted; unmute it first with octavo clusters unmute`, 409);
  }
  const listing = await withOwnRequests(context, one.id, await listed(context));
  const there = standing(context, one, listing);
  if (there !== null) {
    return { ...there, cluster: one.id, label: one.label };
  }
  const prepared = await prepare(context, one, await spaceNamed(context, question.space));
  const { space, why } = prepared.route;
  if (space === null) {
    throw new RejectedError(`no space found for ${one.id}: ${why}; decideOpening one with --space`, 409);
  }
  const told = {
    ...{ cluster: one.id, label: one.label, subject: prepared.subject, why },
    space: { id: space.id, key: space.key, title: space.title },
  };
  return context.writer === null
    ? { outcome: 'would open', ...told }
    : { ...told, ...(await claim(context, prepared, space)) };
}

/** What stands in the way of a wish; null: nothing does. One that was merged does not: whoever asks knows of it. */
function standing(context: RunContext, { id, issues }: IssueCluster, { requests }: RequestList): JsonObject | null {
  const own = context.book.liveOf(id);
  if (own !== null && own.state === 'begun') {
    throw new RejectedError(
      `the response to the creation of a change request for ${id} was lost; the next run looks for it`,
      409,
    );
  }
  const of = requests.filter((request) => isOfCluster(request, id));
  const fate = decideReopen(of, { issues, issuesAtMerge: new Map(), reopenGrowth: 0 });
  if (!fate.may && fate.request.status === 'archived') {
    throw new RejectedError(`${id} ${fate.why}; unarchive it on the platform`, 409);
  }
  const request = fate.may ? null : fate.request;
  return request === null
    ? null
    : { outcome: 'is there', changeRequest: request.id, status: request.status, url: request.url };
}

async function spaceNamed(context: RunContext, name: string | null): Promise<TargetSpace | undefined> {
  if (name === null) {
    return undefined;
  }
  const known = await context.spaces();
  const spaces = known.has(name) ? known : await context.spaces(name);
  const space = spaces.get(name);
  if (space === undefined) {
    throw new ConfigError(unknownSpaceMessage(name, [...spaces.keys()]));
  }
  if (!space.usable) {
    throw new RejectedError(`${name} cannot be used: ${space.why ?? 'not usable'}`, 409);
  }
  return space;
}

async function claim(context: RunContext, prepared: Proposal, space: TargetSpace): Promise<JsonObject> {
  const begun = await begin(context, prepared, space, true);
  if (begun.is === 'refused') {
    throw new RejectedError(begun.why, 409);
  }
  const { id } = prepared.cluster;
  const { opened, superseded } = await settleDrafts(context, null, new Map([[id, prepared]]));
  const reviewers = new Reviewers(context);
  for (const entry of opened.filter(({ reviewersDue }) => reviewersDue)) {
    await reviewers.ask(entry, false);
  }
  const open = context.book.liveOf(id);
  if (open?.state === 'open') {
    return { outcome: 'opened', changeRequest: open.id, url: open.url };
  }
  const lost = superseded.find(({ request }) => isOfCluster(request, id));
  if (lost !== undefined) {
    return { outcome: 'gave way', why: lost.why, changeRequest: lost.to?.id ?? null, url: lost.to?.url ?? null };
  }
  return { outcome: 'begun', changeRequest: open?.id ?? null, url: open?.url ?? null };
}

async function muteOne(
  context: RunContext,
  { cluster: clusterId, muted }: Extract<ClusterRequest, { about: 'mute' }>,
): Promise<JsonObject> {
  const before = await clusterAt(context, clusterId);
  const { writer } = context;
  if (writer === null || before.muted === muted) {
    return { cluster: clusterId, label: before.label, muted: before.muted, changes: before.muted !== muted };
  }
  return {
    cluster: clusterId,
    label: before.label,
    muted: await context.source.mute(writer, clusterId, muted),
    changes: true,
  };
}

async function clusterAt(context: RunContext, id: string): Promise<IssueCluster> {
  const found = await readCluster(context, id);
  if (found !== null) {
    return found;
  }
  const page = await context.source.page(null);
  if (page === null) {
    throw noClusters(context);
  }
  const hint = page.clusters.length === 0 ? 'the platform has none' : 'run octavo clusters list to see them';
  throw new ConfigError(`issue cluster ${JSON.stringify(id)} not found; ${hint}`);
}

function noClusters({ source }: RunContext): RejectedError {
  return new RejectedError(NO_CLUSTERS[source.kind], 404);
}
