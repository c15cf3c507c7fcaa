import { AuthError, RejectedError } from '../../core/errors.ts';
import { append } from '../../core/lists.ts';
import { operations } from '../../platform/operations/index.ts';
import type { RichDocument } from '../../platform/rich-text/document.ts';
import { type Decision, decideClaims, type GaveWay, SETTLE, UNLIMITED } from '../decide/claims.ts';
import { inOrder } from '../decide/reopen-policy.ts';
import type { ClusterChangeRequest } from '../model/change-request.ts';
import { gaveWaySubject } from '../model/ownership-marker.ts';
import type { Entry } from '../read/cluster-store.ts';
import { gaveWayDescription } from '../write/description.ts';
import { saidOf } from '../write/progress-comment.ts';
import { readCluster } from './clusters.ts';
import type { RunContext } from './context.ts';
import { toldOf } from './events.ts';
import { follow } from './follow.ts';
import { type Prepared, prepare } from './prepare.ts';
import { type Listing, listRequests, type SeenRequest } from './requests.ts';

/** Milliseconds after which a list is too old to open anything by it. */
const FRESH = 600_000;
/** Milliseconds after which a draft that is not known here counts as abandoned: far longer than any run lasts. */
const ABANDONED = 3_600_000;

/** What became of drafts. */
export interface SettledDrafts {
  readonly opened: readonly Entry[];
  readonly gaveWay: readonly GaveWay[];
}

/** The ids of one's drafts: a list that lacks them is not whole. */
export function draftIds({ book }: RunContext): ReadonlySet<string> {
  return new Set(book.live.flatMap(({ id, state }) => (id !== null && state === 'draft' ? [id] : [])));
}

/**
 * Decides about one's drafts: opens those whose claim stands, and archives those that give way. `first`: a list that
 * was made after the last draft; null: one is made, once all that came before the drafts is sure to be in it.
 * `prepared`: the content of drafts, by cluster, as far as it is there. Throws AppError.
 */
export async function settleDrafts(
  context: RunContext,
  first: Listing | null,
  prepared: ReadonlyMap<string, Prepared>,
): Promise<SettledDrafts> {
  const listing = first ?? (await listAfterwards(context));
  const { open, giveWay } = decide(context, listing);
  const opened: Entry[] = [];
  const gaveWay: GaveWay[] = [];
  for (const each of giveWay) {
    append(gaveWay, await giveUp(context, each));
  }
  for (const { entry, request } of draftsIn(context, listing)) {
    if (open.some(({ id }) => id === request.id)) {
      const settled = await openDraft(context, entry, request, prepared);
      append(opened, settled.opened);
      append(gaveWay, settled.gaveWay);
    }
  }
  return { opened, gaveWay };
}

/**
 * Gives those of one's drafts their content that somebody else has opened meanwhile: they still have the subject of a
 * draft. Throws AppError.
 */
export async function completeOpened(context: RunContext, { requests }: Listing): Promise<void> {
  for (const request of requests) {
    const entry = request.status === 'open' && request.isDraftSubject ? context.book.byId(request.id) : null;
    const content = entry === null ? null : await contentOf(context, entry);
    if (entry !== null && content !== null && typeof content !== 'string') {
      await update(context, request, contentBody(entry, request, content));
    }
  }
}

async function listAfterwards(context: RunContext): Promise<Listing> {
  await context.clock.sleep(SETTLE, context.signal);
  return follow(context, await listRequests(context, draftIds(context)));
}

interface Draft {
  readonly entry: Entry;
  readonly request: SeenRequest;
}

/** One's drafts as they are in a list, in the order they were made: what hurts most first. */
function draftsIn({ book }: RunContext, { requests }: Listing): readonly Draft[] {
  return requests.toSorted(inOrder).flatMap((request) => {
    const entry = book.byId(request.id);
    return entry?.state === 'draft' && request.status === 'draft' ? [{ entry, request }] : [];
  });
}

/** A person's wish is held back by no limit, and by no merge. */
function decide(context: RunContext, listing: Listing): Decision {
  const { book, config, clock } = context;
  if (clock.monotonic() - listing.at > FRESH) {
    return { open: [], giveWay: [] };
  }
  const drafts = draftsIn(context, listing);
  const issuesAtMerge = new Map(Object.entries(book.memory.merges));
  const claimsOf = (byHand: boolean) =>
    new Map(drafts.flatMap(({ entry, request }) => (entry.byHand === byHand ? [[request.id, entry.seen.issues]] : [])));
  const wished = decideClaims(listing.requests, claimsOf(true), { limits: UNLIMITED, reopenGrowth: 0, issuesAtMerge });
  const { limits, afterMerge } = config;
  const own = decideClaims(listing.requests, claimsOf(false), {
    limits,
    reopenGrowth: afterMerge.reopenGrowth,
    issuesAtMerge,
  });
  return {
    open: [...wished.open, ...own.open.slice(0, limits.maxPerRun)],
    giveWay: [...wished.giveWay, ...own.giveWay],
  };
}

/** What a draft of an earlier run is to hold; or why it is not to be opened any more. */
async function contentOf(context: RunContext, { cluster: id, space }: Entry): Promise<Prepared | string> {
  const cluster = await readCluster(context, id);
  if (cluster === null || cluster.muted) {
    return cluster === null ? 'the cluster no longer exists' : 'the cluster was muted';
  }
  const spaces = await context.spaces();
  const chosen = spaces.get(space);
  return chosen === undefined ? 'its space no longer exists' : prepare(context, cluster, chosen);
}

async function openDraft(
  context: RunContext,
  entry: Entry,
  request: SeenRequest,
  prepared: ReadonlyMap<string, Prepared>,
): Promise<SettledDrafts> {
  const { book, clock, events } = context;
  const content = prepared.get(entry.cluster) ?? (await contentOf(context, entry));
  if (typeof content === 'string') {
    return { opened: [], gaveWay: await giveUp(context, { request, why: content, to: null }) };
  }
  const told = saidOf(content.cluster, clock.now());
  const { at: _, ...seen } = told;
  const url = await update(context, request, { status: 'open', ...contentBody(entry, request, content) });
  if (url === null) {
    return { opened: [], gaveWay: [] };
  }
  const open: Entry = { ...entry, state: 'open', seen, told, url: url || entry.url };
  await book.put(open);
  events.onOpened?.({ ...toldOf(open), why: open.why });
  return { opened: [open], gaveWay: [] };
}

/** What an opened change request gets that its draft may not have. */
function contentBody({ claim, subject }: Entry, { isDescribed }: SeenRequest, { describe }: Prepared): Update {
  return { subject, ...(isDescribed ? {} : { description: describe(claim) }) };
}

/** Archives one, with why; that it was not archived by hand is written in it. */
async function giveUp(context: RunContext, { request, why, to }: GaveWay): Promise<readonly GaveWay[]> {
  const { book, events } = context;
  const description = gaveWayDescription(request.cluster, why, to);
  const entry = book.byId(request.id);
  const subject = gaveWaySubject(entry?.subject ?? request.subject);
  const url = await update(context, request, { status: 'archived', subject, description });
  if (url === null) {
    return [];
  }
  if (entry !== null) {
    await book.remove(entry, { gaveWay: true });
  }
  const { id, cluster, space } = request;
  events.onGaveWay?.({ cluster, label: entry?.label ?? request.subject, request: id, space, url: request.url, why });
  return [{ request, why, to }];
}

/**
 * Archives drafts of Octavo that are an hour old and not in the record: the daemon that made them lost its state. A draft
 * that a person renamed stays. A later run starts over. Remembers whether there are such drafts that are younger. Throws
 * AppError.
 */
export async function archiveAbandoned(context: RunContext, { requests }: Listing): Promise<readonly GaveWay[]> {
  const { book, clock } = context;
  const stray = requests.filter(
    ({ id, status, isDraftSubject }) => status === 'draft' && isDraftSubject && book.byId(id) === null,
  );
  const gaveWay: GaveWay[] = [];
  for (const request of stray.filter(({ createdAt }) => clock.now() - createdAt > ABANDONED)) {
    const why = 'no daemon continued it for an hour';
    append(gaveWay, await giveUp(context, { request, why, to: null }));
  }
  await book.change({ hasStrayDrafts: stray.length > gaveWay.length });
  return gaveWay;
}

interface Update {
  readonly status?: 'open' | 'archived';
  readonly subject?: string;
  readonly description?: RichDocument;
}

/** The address that the answer tells (it may be empty); null where the platform refuses, which is told. */
async function update(
  context: RunContext,
  { id, space, cluster }: ClusterChangeRequest,
  body: Update,
): Promise<string | null> {
  const { writer } = context;
  if (writer === null) {
    return null;
  }
  return orTold(context, cluster, async () => {
    const path = { spaceId: space, changeRequestId: id };
    const answer = await writer.send(operations.updateChangeRequest, { path, body });
    return answer?.urls?.app ?? answer?.urls?.location ?? '';
  });
}

/** What the platform refuses for one cluster is told, and keeps no other from its turn: null. */
async function orTold<T>({ events }: RunContext, cluster: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RejectedError || error instanceof AuthError) {
      events.onTrouble?.({ cluster, message: error.message });
      return null;
    }
    throw error;
  }
}
