import { AuthError, RejectedError } from '../../core/errors.ts';
import { append } from '../../core/lists.ts';
import { operations } from '../../platform/operations/index.ts';
import type { RichDocument } from '../../platform/rich-text/document.ts';
import { type Decision, decideClaims, SETTLE_DELAY, type SupersededDraft, UNLIMITED } from '../decide/claims.ts';
import { compareCreation } from '../decide/reopen-policy.ts';
import type { ClusterChangeRequest } from '../model/change-request.ts';
import { supersededSubject } from '../model/ownership-marker.ts';
import type { OwnRequest } from '../read/cluster-store.ts';
import { buildSupersededDescription } from '../write/description.ts';
import { toReportedNumbers } from '../write/progress-comment.ts';
import { readCluster } from './clusters.ts';
import type { RunContext } from './context.ts';
import { toEvent } from './events.ts';
import { follow } from './follow.ts';
import { type Proposal, prepare } from './prepare.ts';
import { type ListedRequest, listRequests, type RequestList } from './requests.ts';

/** Milliseconds after which a list is too old to open anything by it. */
const FRESH = 600_000;
/** Milliseconds after which a draft that is not known here counts as abandoned: far longer than any run lasts. */
const ABANDONED = 3_600_000;

/** What became of drafts. */
export interface DraftOutcome {
  readonly opened: readonly OwnRequest[];
  readonly superseded: readonly SupersededDraft[];
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
  first: RequestList | null,
  prepared: ReadonlyMap<string, Proposal>,
): Promise<DraftOutcome> {
  const listing = first ?? (await listAfterwards(context));
  const { open, superseded: beaten } = decide(context, listing);
  const opened: OwnRequest[] = [];
  const superseded: SupersededDraft[] = [];
  for (const each of beaten) {
    append(superseded, await giveUp(context, each));
  }
  for (const { entry, request } of draftsIn(context, listing)) {
    if (open.some(({ id }) => id === request.id)) {
      const settled = await openDraft(context, entry, request, prepared);
      append(opened, settled.opened);
      append(superseded, settled.superseded);
    }
  }
  return { opened, superseded };
}

/**
 * Gives those of one's drafts their content that somebody else has opened meanwhile: they still have the subject of a
 * draft. Throws AppError.
 */
export async function completeOpened(context: RunContext, { requests }: RequestList): Promise<void> {
  for (const request of requests) {
    const entry = request.status === 'open' && request.isDraftSubject ? context.book.byId(request.id) : null;
    const content = entry === null ? null : await contentOf(context, entry);
    if (entry !== null && content !== null && typeof content !== 'string') {
      await update(context, request, contentBody(entry, request, content));
    }
  }
}

async function listAfterwards(context: RunContext): Promise<RequestList> {
  await context.clock.sleep(SETTLE_DELAY, context.signal);
  return follow(context, await listRequests(context, draftIds(context)));
}

interface Draft {
  readonly entry: OwnRequest;
  readonly request: ListedRequest;
}

/** One's drafts as they are in a list, in the order they were made: what hurts most first. */
function draftsIn({ book }: RunContext, { requests }: RequestList): readonly Draft[] {
  return requests.toSorted(compareCreation).flatMap((request) => {
    const entry = book.byId(request.id);
    return entry?.state === 'draft' && request.status === 'draft' ? [{ entry, request }] : [];
  });
}

/** A person's wish is held back by no limit, and by no merge. */
function decide(context: RunContext, listing: RequestList): Decision {
  const { book, config, clock } = context;
  if (clock.monotonic() - listing.at > FRESH) {
    return { open: [], superseded: [] };
  }
  const drafts = draftsIn(context, listing);
  const issuesAtMerge = new Map(Object.entries(book.memory.merges));
  const claimsOf = (isManual: boolean) =>
    new Map(
      drafts.flatMap(({ entry, request }) => (entry.isManual === isManual ? [[request.id, entry.seen.issues]] : [])),
    );
  const wished = decideClaims(listing.requests, claimsOf(true), { limits: UNLIMITED, reopenGrowth: 0, issuesAtMerge });
  const { limits, afterMerge } = config;
  const own = decideClaims(listing.requests, claimsOf(false), {
    limits,
    reopenGrowth: afterMerge.reopenGrowth,
    issuesAtMerge,
  });
  return {
    open: [...wished.open, ...own.open.slice(0, limits.maxPerRun)],
    superseded: [...wished.superseded, ...own.superseded],
  };
}

/** What a draft of an earlier run is to hold; or why it is not to be opened any more. */
async function contentOf(context: RunContext, { cluster: id, space }: OwnRequest): Promise<Proposal | string> {
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
  entry: OwnRequest,
  request: ListedRequest,
  prepared: ReadonlyMap<string, Proposal>,
): Promise<DraftOutcome> {
  const { book, clock, events } = context;
  const content = prepared.get(entry.cluster) ?? (await contentOf(context, entry));
  if (typeof content === 'string') {
    return { opened: [], superseded: await giveUp(context, { request, why: content, to: null }) };
  }
  const told = toReportedNumbers(content.cluster, clock.now());
  const { at: _, ...seen } = told;
  const url = await update(context, request, { status: 'open', ...contentBody(entry, request, content) });
  if (url === null) {
    return { opened: [], superseded: [] };
  }
  const open: OwnRequest = { ...entry, state: 'open', seen, told, url: url || entry.url };
  await book.put(open);
  events.onOpened?.({ ...toEvent(open), why: open.why });
  return { opened: [open], superseded: [] };
}

/** What an opened change request gets that its draft may not have. */
function contentBody({ claim, subject }: OwnRequest, { isDescribed }: ListedRequest, { describe }: Proposal): Update {
  return { subject, ...(isDescribed ? {} : { description: describe(claim) }) };
}

/** Archives one, with why; that it was not archived by hand is written in it. */
async function giveUp(context: RunContext, { request, why, to }: SupersededDraft): Promise<readonly SupersededDraft[]> {
  const { book, events } = context;
  const description = buildSupersededDescription(request.cluster, why, to);
  const entry = book.byId(request.id);
  const subject = supersededSubject(entry?.subject ?? request.subject);
  const url = await update(context, request, { status: 'archived', subject, description });
  if (url === null) {
    return [];
  }
  if (entry !== null) {
    await book.remove(entry, { superseded: true });
  }
  const { id, cluster, space } = request;
  events.onSuperseded?.({ cluster, label: entry?.label ?? request.subject, request: id, space, url: request.url, why });
  return [{ request, why, to }];
}

/**
 * Archives drafts of Octavo that are an hour old and not in the record: the daemon that made them lost its state. A draft
 * that a person renamed stays. A later run starts over. Remembers whether there are such drafts that are younger. Throws
 * AppError.
 */
export async function archiveAbandoned(
  context: RunContext,
  { requests }: RequestList,
): Promise<readonly SupersededDraft[]> {
  const { book, clock } = context;
  const stray = requests.filter(
    ({ id, status, isDraftSubject }) => status === 'draft' && isDraftSubject && book.byId(id) === null,
  );
  const superseded: SupersededDraft[] = [];
  for (const request of stray.filter(({ createdAt }) => clock.now() - createdAt > ABANDONED)) {
    const why = 'no daemon continued it for an hour';
    append(superseded, await giveUp(context, { request, why, to: null }));
  }
  await book.change({ hasStrayDrafts: stray.length > superseded.length });
  return superseded;
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
