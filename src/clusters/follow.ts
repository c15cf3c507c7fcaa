/** Follows change requests of clusters: lists them, records what happened to own ones, comments on progress and mutes. */
import { isDeepStrictEqual } from 'node:util';
import { RejectedError } from '../core/errors.ts';
import { largest } from '../core/lists.ts';
import type { Reader } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';
import {
  type ClusterChangeRequest,
  type KnownLink,
  readDraftMarker,
  readMarker,
  toClusterChangeRequest,
} from './change-request.ts';
import { clusterNumbers, parseTime } from './cluster.ts';
import { buildProgressComment } from './description.ts';
import { nullIfRefused, toEvent } from './events.ts';
import type { JudgedCluster } from './select.ts';
import type { ClusterSession, WritingSession } from './session.ts';
import { type ChangeRequestItem, nullIfNotFound } from './sources.ts';
import { type ClusterStore, LIST_MODES, type ListMode, type OwnRequest } from './store.ts';

/** Change requests of an organization at one time. */
export interface RequestList {
  /** Change requests of clusters. */
  readonly requests: readonly ClusterChangeRequest[];
  /** Every listed change request, by id. */
  readonly answers: Answers;
  /** Start of the request, on the monotonic clock. */
  readonly at: number;
}

type Answers = ReadonlyMap<string, ChangeRequestItem>;

const DAY = 86_400_000;
/**
 * Time for which a detected list mode is used, in milliseconds. It is shorter for `spaces`, which needs the most
 * requests, because an upgraded platform may support another mode.
 */
const MODE_LIFETIME = { statuses: 7 * DAY, status: 7 * DAY, all: 7 * DAY, spaces: DAY };
/** Number of change requests to read one by one; for more, listing all is cheaper. */
const MAX_SINGLE_READS = 5;
/** Number of spaces that are listed at the same time. */
const MAX_CONCURRENT = 10;

const ALL = ['draft', 'open', 'merged', 'archived'] as const;
/**
 * Statuses in the usual order of changes, so that a change request whose status changes during the listing is listed at
 * least once. Those that a person reopens meanwhile are found by listing `open` again at the end.
 */
const ONE_BY_ONE = [...ALL, 'open'] as const;
type Status = (typeof ALL)[number];

/** List functions by mode. Each returns null if the platform refuses the list, or lists something else than requested. */
const MODES: Readonly<Record<ListMode, (session: ClusterSession) => Promise<Answers | null>>> = {
  statuses: (session) => listOrganization(session, ALL),
  status: listEachStatus,
  all: async (session) => {
    const answers = await listOrganization(session);
    // Only an answer that is not open shows that the list is not limited to open ones.
    return answers !== null && [...answers.values()].some(({ status }) => status !== 'open') ? answers : null;
  },
  spaces: listSpaces,
};

/**
 * Lists the change requests in every status and records what happened to own ones. Throws AppError. Uses one list of all
 * statuses, else one list per status, else a list without a status filter that is not limited to open ones, else one
 * list per space. The first mode that works is stored. A platform may hide drafts in a list: a list that lacks an own
 * draft is not used.
 */
export async function listAll(session: ClusterSession): Promise<RequestList> {
  const { store, clock } = session;
  const at = clock.monotonic();
  const modes = orderedModes(session);
  for (const mode of modes) {
    const answers = await MODES[mode](session);
    if (answers !== null && (mode === 'spaces' || !hidesDrafts(answers, store.draftIds))) {
      clock.observeListed(
        largest(
          [...answers.values()].map(({ createdAt }) => parseTime(createdAt) ?? 0),
          0,
        ),
      );
      const now = clock.now();
      const isKnown = store.memory.listing?.mode === mode && modes[0] === mode;
      const listing = isKnown ? store.memory.listing : { mode, since: now };
      await store.change({ listing, listedAt: now, skew: clock.skew });
      return track(session, toList(session, answers, at));
    }
  }
  throw new Error('the lists of every space always exist');
}

/**
 * Updates active change requests with one request for the open ones, so that a run without changes takes the same number
 * of requests for any number of spaces. Returns false if listing all is necessary or cheaper. Throws AppError.
 */
export async function followOpen(session: ClusterSession): Promise<boolean> {
  const { store, clock } = session;
  if (store.active.length === 0) {
    return true;
  }
  const at = clock.monotonic();
  const open = await listOrganization(session);
  const missing = store.active.filter(({ id, missingSince }) => missingSince === null && open?.has(id ?? '') !== true);
  if (open === null || missing.length > MAX_SINGLE_READS) {
    return false;
  }
  await track(session, toList(session, open, at));
  return true;
}

/** Adds the change requests of a cluster that only the platform's own link shows. Throws AppError. */
export async function withLinked(session: ClusterSession, cluster: string, list: RequestList): Promise<RequestList> {
  const linked = (await session.source.requestsOf(cluster)).filter(({ id }) => !list.answers.has(id));
  return linked.length === 0
    ? list
    : toList(session, new Map([...list.answers, ...linked.map((each) => [each.id, each] as const)]), list.at);
}

/** Assigns listed change requests to clusters. */
function toList({ store, redaction }: ClusterSession, answers: Answers, at: number): RequestList {
  const links = knownLinks(store);
  const requests = [...answers.values()].flatMap((answer) => toClusterChangeRequest(answer, links, redaction) ?? []);
  return { requests, answers, at };
}

/** Returns the modes to try, the last one that worked first. */
function orderedModes({ store, clock, source }: ClusterSession): readonly ListMode[] {
  const modes = LIST_MODES.filter((mode) => mode !== 'statuses' || source.takesStatuses);
  const { listing } = store.memory;
  const isValid =
    listing !== null &&
    modes.includes(listing.mode) &&
    Math.abs(clock.now() - listing.since) < MODE_LIFETIME[listing.mode];
  return isValid ? [listing.mode, ...modes.filter((mode) => mode !== listing.mode)] : modes;
}

async function listEachStatus(session: ClusterSession): Promise<Answers | null> {
  const answers = new Map<string, ChangeRequestItem>();
  for (const status of ONE_BY_ONE) {
    const listed = await listOrganization(session, [status]);
    if (listed === null || [...listed.values()].some((answer) => answer.status !== status)) {
      return null;
    }
    for (const [id, answer] of listed) {
      answers.set(id, answer);
    }
  }
  return answers;
}

/** Statuses with which platforms refuse a list or a parameter that they do not have. */
const UNSUPPORTED: readonly number[] = [400, 404, 405, 410, 422];

async function listOrganization(
  { reader, source }: ClusterSession,
  statuses?: readonly Status[],
): Promise<Answers | null> {
  const query = { ...source.listQuery(), ...(statuses === undefined ? {} : { status: [...statuses] }) };
  try {
    const answers = reader.pages(operations.listOrganizationChangeRequests, { query });
    return new Map(await Array.fromAsync(answers, (answer) => [answer.id, answer] as const));
  } catch (error) {
    if (error instanceof RejectedError && UNSUPPORTED.includes(error.status)) {
      return null;
    }
    throw error;
  }
}

async function listSpaces({ reader, spaces }: ClusterSession): Promise<Answers> {
  const ids = [...new Set([...(await spaces()).values()].map(({ id }) => id))];
  const answers = new Map<string, ChangeRequestItem>();
  for (const status of ONE_BY_ONE) {
    for (let start = 0; start < ids.length; start += MAX_CONCURRENT) {
      const batch = ids.slice(start, start + MAX_CONCURRENT).map((spaceId) => listSpace(reader, spaceId, status));
      for (const answer of (await Promise.all(batch)).flat()) {
        answers.set(answer.id, answer);
      }
    }
  }
  return answers;
}

/** A space that does not exist may have been deleted, also between two pages: what was read of it counts. */
async function listSpace(
  reader: Reader,
  spaceId: string,
  status: (typeof ONE_BY_ONE)[number],
): Promise<readonly ChangeRequestItem[]> {
  const items: ChangeRequestItem[] = [];
  const read = async () => {
    for await (const item of reader.pages(operations.listSpaceChangeRequests, {
      path: { spaceId },
      query: { status },
    })) {
      items.push(item);
    }
  };
  await nullIfNotFound(read());
  return items;
}

function hidesDrafts(answers: Answers, drafts: ReadonlySet<string>): boolean {
  const hasDraft = [...answers.values()].some(({ status }) => status === 'draft');
  return !hasDraft && [...drafts].some((id) => !answers.has(id));
}

/** Stored links of change requests that may not name their cluster themselves. */
function knownLinks({ memory }: ClusterStore): ReadonlyMap<string, KnownLink> {
  return new Map<string, KnownLink>([
    ...memory.superseded.map(({ id, cluster }) => [id, { cluster, superseded: true, revision: null }] as const),
    ...memory.entries.flatMap(({ id, cluster, revision }) =>
      id === null ? [] : [[id, { cluster, superseded: false, revision }] as const],
    ),
  ]);
}

/** Time in which the platform may still process a request with a lost response, in milliseconds. */
const LOST_AFTER = 600_000;
/** Time for which a deleted space can be restored, in milliseconds. Source: docs/platform-notes.md#deletions */
const RESTORABLE = 7 * DAY;

/**
 * Finds change requests with a lost response, and records which were opened, merged or archived. Those that the list
 * lacks are read individually. Returns the list with the clusters that are known afterwards.
 */
async function track(session: ClusterSession, list: RequestList): Promise<RequestList> {
  // A dry run stores nothing, so every run would report the same changes again.
  const tracking = session.writer === null ? { ...session, events: {} } : session;
  const { reader, store, redaction } = tracking;
  for (const own of store.active) {
    if (own.id === null) {
      await findLost(tracking, own, list);
    }
  }
  const links = knownLinks(store);
  for (const own of store.memory.entries) {
    if (own.id !== null && own.state !== 'merged') {
      const isOpenable = own.state === 'draft' || own.state === 'open';
      let answer = list.answers.get(own.id) ?? null;
      // A change request of a restored space is listed again.
      if (answer === null && isOpenable && own.missingSince === null) {
        const path = { spaceId: own.space, changeRequestId: own.id };
        answer = await nullIfNotFound(reader.get(operations.getChangeRequest, { path }));
      }
      const seen = answer && toClusterChangeRequest(answer, links, redaction);
      await (seen === null ? recordMissing(tracking, own, isOpenable) : record(tracking, own, seen));
    }
  }
  return toList(session, list.answers, list.at);
}

/** Finds a change request with a lost response, or removes it once it is certain that it was not created. */
async function findLost(
  { store, clock, events }: ClusterSession,
  own: OwnRequest,
  { answers }: RequestList,
): Promise<void> {
  const found = [...answers.values()].find(
    ({ description, subject }) => (readMarker(description)?.claim ?? readDraftMarker(subject)?.claim) === own.claim,
  );
  if (found !== undefined) {
    const { id, urls, revision = null } = found;
    await store.put({ ...own, id, url: urls?.app ?? urls?.location ?? null, revision, state: 'draft' });
  } else if (Math.abs(clock.now() - own.at) >= LOST_AFTER) {
    events.onTrouble?.({
      cluster: own.cluster,
      message: 'the change request whose response was lost was not created',
    });
    await store.remove(own, { superseded: false });
  }
}

/** Keeps a missing change request while its space can be restored; for that time it blocks another one. */
async function recordMissing(
  { store, clock, events }: ClusterSession,
  own: OwnRequest,
  isOpenable: boolean,
): Promise<void> {
  if (!isOpenable) {
    return;
  }
  if (own.missingSince === null) {
    events.onTrouble?.({ cluster: own.cluster, message: `its change request ${own.id} no longer exists` });
    await store.put({ ...own, missingSince: clock.now() });
  } else if (clock.now() - own.missingSince > RESTORABLE) {
    await store.remove(own, { superseded: false });
  }
}

/** Records and reports a changed status. */
async function record(
  { store, events, config }: ClusterSession,
  own: OwnRequest,
  seen: ClusterChangeRequest,
): Promise<void> {
  const next = { ...own, missingSince: null, url: seen.url ?? own.url };
  if (seen.status === 'merged') {
    const { isEmptyMerge } = seen;
    await store.put(
      { ...next, state: 'merged', mergedAt: seen.updatedAt || null, muteDue: config.afterMerge.mute && !isEmptyMerge },
      // The platform's own count may already lack resolved issues.
      { merges: { [seen.id]: Math.max(own.seen.issues, own.reported.issues) } },
    );
    events.onMerged?.({ ...toEvent(next), isEmpty: isEmptyMerge });
  } else if (seen.status === 'archived' && own.state !== 'archived') {
    if (seen.superseded) {
      await store.remove(own, { superseded: true });
    } else {
      await store.put({ ...next, state: 'archived' });
      events.onArchived?.(toEvent(next));
    }
  } else if (seen.status === 'open' && own.state !== 'open') {
    await store.put({ ...next, state: 'open' });
    if (own.state === 'archived') {
      events.onReopened?.(toEvent(next));
    } else {
      events.onOpened?.({ ...toEvent(next), why: own.why });
    }
  } else if (own.missingSince !== null || next.url !== own.url) {
    await store.put(next);
  }
}

/** Stores the numbers of clusters whose change requests are followed. */
export async function recordNumbers(store: ClusterStore, judged: readonly JudgedCluster[]): Promise<void> {
  const clusters = new Map(judged.map(({ cluster }) => [cluster.id, cluster]));
  const changed = store.active.flatMap((own) => {
    const seen = clusterNumbers(clusters.get(own.cluster) ?? own.seen);
    return isDeepStrictEqual(seen, own.seen) ? [] : [{ ...own, seen }];
  });
  await store.putAll(changed);
}

/**
 * Comments on open change requests whose clusters grew. Each comment is stored before it is posted: after a lost
 * response it may be missing, but it is never posted twice. Returns the number of comments. Throws AppError.
 */
export async function postProgressComments({ writer, store, clock, events }: WritingSession): Promise<number> {
  let count = 0;
  for (const own of store.active) {
    const isOpen = own.state === 'open' && own.missingSince === null;
    const markdown = isOpen ? buildProgressComment(own.seen, own.reported, clock.now()) : null;
    if (markdown === null) {
      continue;
    }
    await store.put({ ...own, reported: { at: clock.now(), ...own.seen } });
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

/** Milliseconds for which the end of a mute is tried again that the platform refuses. */
const UNMUTE_LIMIT = 7 * DAY;

/** Unmutes the clusters that a person muted until now. Throws AppError. */
export async function endMutes({ writer, source, store, clock, events }: WritingSession): Promise<void> {
  const now = clock.now();
  for (const [cluster, { until }] of Object.entries(store.memory.mutes)) {
    if (until !== null && until <= now) {
      const isMuted = await nullIfRefused(events, cluster, () => source.mute(writer, cluster, false));
      if (isMuted !== null || now - until > UNMUTE_LIMIT) {
        await store.keepMute(cluster, null);
      }
      if (isMuted !== null) {
        events.onUnmuted?.({ cluster });
      }
    }
  }
}

/** Mutes the clusters whose change request was merged, if configured. Throws AppError. */
export async function muteMerged({ writer, source, store, events }: WritingSession): Promise<void> {
  for (const own of store.active.filter(({ muteDue }) => muteDue)) {
    const { cluster, label } = own;
    const isMuted = await nullIfRefused(events, cluster, () => source.mute(writer, cluster, true));
    await store.put({ ...own, muteDue: false });
    if (isMuted !== null) {
      events.onMuted?.({ cluster, label });
    }
  }
}
