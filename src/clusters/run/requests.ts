import { RejectedError } from '../../core/errors.ts';
import { operations } from '../../platform/operations/index.ts';
import { type ClusterChangeRequest, type KnownLink, toClusterChangeRequest } from '../model/change-request.ts';
import { parseTime } from '../model/cluster.ts';
import { readDraftMarker, readMarker } from '../model/ownership-marker.ts';
import type { Redaction } from '../model/redaction.ts';
import type { ChangeRequestItem } from '../model/source.ts';
import { type ClusterStore, LIST_MODES, type ListMode } from '../read/cluster-store.ts';
import { isNotFound } from '../read/spaces.ts';
import type { RunContext } from './context.ts';

/** A change request of a cluster, and what shows that it is Octavo's. */
export interface ListedRequest extends ClusterChangeRequest {
  /** Its description has Octavo's mark. */
  readonly isDescribed: boolean;
  /** Its subject is the one that Octavo gives to drafts. */
  readonly isDraftSubject: boolean;
}

/** Change requests of an organization at one time. */
export interface RequestList {
  /** Those of clusters. */
  readonly requests: readonly ListedRequest[];
  /** Everything that was listed, by id. */
  readonly answers: Answers;
  /** When the list was begun, on the clock's monotonic scale. */
  readonly at: number;
}

type Answers = ReadonlyMap<string, ChangeRequestItem>;

/** Milliseconds for which the way to list holds: platforms are upgraded, and the lists of every space cost most. */
const MODE_HOLDS = { statuses: 7 * 86_400_000, status: 7 * 86_400_000, all: 7 * 86_400_000, spaces: 86_400_000 };
/** Spaces that are asked at the same time. */
const AT_ONCE = 10;

const ALL = ['draft', 'open', 'merged', 'archived'] as const;
/**
 * In the order in which a change request goes through its statuses, so that one that goes on meanwhile is seen once at
 * least; those that somebody opens again meanwhile are seen at the end.
 */
const ONE_BY_ONE = [...ALL, 'open'] as const;
type Status = (typeof ALL)[number];

/**
 * Lists every change request of the organization, in whatever status: in one list of all statuses, else in one list
 * each, else in a list that takes no status and shows more than open ones, else in the lists of every space. The first
 * way that the platform takes is remembered. `drafts` are ids of drafts that must be there: a list without any draft
 * hides them. Throws AppError.
 */
export async function listRequests(context: RunContext, drafts: ReadonlySet<string>): Promise<RequestList> {
  const { book, clock, time } = context;
  const at = clock.monotonic();
  const modes = modesFor(context);
  for (const mode of modes) {
    const answers = await LISTS[mode](context);
    if (answers !== null && (mode === 'spaces' || !hidesDrafts(answers, drafts))) {
      time.observeListed(newestOf(answers));
      const now = clock.now();
      const isKnown = book.memory.listing?.mode === mode && modes[0] === mode;
      const listing = isKnown ? book.memory.listing : { mode, since: now };
      await book.change({ listing, listedAt: now, skew: time.skew });
      return listingOf(context, answers, at);
    }
  }
  throw new Error('the lists of every space are always there');
}

/** Open change requests, and others where the platform lists these too; null where it has no such list. */
export async function listOpenRequests(context: RunContext): Promise<RequestList | null> {
  const at = context.clock.monotonic();
  const answers = await listOrganization(context);
  return answers === null ? null : listingOf(context, answers, at);
}

/** The ways to list, the one that worked last first. */
function modesFor({ book, clock, source }: RunContext): readonly ListMode[] {
  const modes = LIST_MODES.filter((mode) => mode !== 'statuses' || source.takesStatuses);
  const { listing } = book.memory;
  const holds =
    listing !== null &&
    modes.includes(listing.mode) &&
    Math.abs(clock.now() - listing.since) < MODE_HOLDS[listing.mode];
  return holds ? [listing.mode, ...modes.filter((mode) => mode !== listing.mode)] : modes;
}

/** Each answers null where the platform refuses it, or does something else than was asked. */
const LISTS: Readonly<Record<ListMode, (context: RunContext) => Promise<Answers | null>>> = {
  statuses: (context) => listOrganization(context, ALL),
  status: listEachStatus,
  all: async (context) => {
    const answers = await listOrganization(context);
    // Only what is not open shows that it is not a list of open ones alone.
    return answers !== null && [...answers.values()].some(({ status }) => status !== 'open') ? answers : null;
  },
  spaces: listBySpace,
};

async function listEachStatus(context: RunContext): Promise<Answers | null> {
  const answers = new Map<string, ChangeRequestItem>();
  for (const status of ONE_BY_ONE) {
    const listed = await listOrganization(context, [status]);
    if (listed === null || [...listed.values()].some((answer) => answer.status !== status)) {
      return null;
    }
    for (const [id, answer] of listed) {
      answers.set(id, answer);
    }
  }
  return answers;
}

async function listOrganization({ reader, source }: RunContext, statuses?: readonly Status[]): Promise<Answers | null> {
  const answers = new Map<string, ChangeRequestItem>();
  const query = { ...source.listQuery, ...(statuses === undefined ? {} : { status: [...statuses] }) };
  try {
    for await (const answer of reader.pages(operations.listOrganizationChangeRequests, { query })) {
      answers.set(answer.id, answer);
    }
  } catch (error) {
    if (isRefused(error)) {
      return null;
    }
    throw error;
  }
  return answers;
}

/** What platforms answer to a list, or to a parameter, that they do not have. */
const REFUSALS: readonly number[] = [400, 404, 405, 410, 422];

function isRefused(error: unknown): boolean {
  return error instanceof RejectedError && REFUSALS.includes(error.status);
}

function newestOf(answers: Answers): number {
  let newest = 0;
  for (const { createdAt } of answers.values()) {
    newest = Math.max(newest, parseTime(createdAt) ?? 0);
  }
  return newest;
}

function hidesDrafts(answers: Answers, drafts: ReadonlySet<string>): boolean {
  const hasDraft = [...answers.values()].some(({ status }) => status === 'draft');
  return !hasDraft && [...drafts].some((id) => !answers.has(id));
}

/** The list, with those of this cluster that only the platform itself knows of. Throws AppError. */
export async function withOwnRequests(
  context: RunContext,
  cluster: string,
  listing: RequestList,
): Promise<RequestList> {
  const own = (await context.source.requestsOf(cluster)).filter(({ id }) => !listing.answers.has(id));
  return own.length === 0
    ? listing
    : listingOf(context, new Map([...listing.answers, ...own.map((each) => [each.id, each] as const)]), listing.at);
}

async function listBySpace(context: RunContext): Promise<Answers> {
  const spaces = await context.spaces();
  const ids = [...new Set([...spaces.values()].map(({ id }) => id))];
  const answers = new Map<string, ChangeRequestItem>();
  for (const status of ONE_BY_ONE) {
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const pages = ids.slice(start, start + AT_ONCE).map((spaceId) => listOne(context, spaceId, status));
      for (const answer of (await Promise.all(pages)).flat()) {
        answers.set(answer.id, answer);
      }
    }
  }
  return answers;
}

/** None where there is no such space: it may have been deleted. */
async function listOne({ reader }: RunContext, spaceId: string, status: Status): Promise<readonly ChangeRequestItem[]> {
  const answers: ChangeRequestItem[] = [];
  try {
    const input = { path: { spaceId }, query: { status } };
    for await (const answer of reader.pages(operations.listSpaceChangeRequests, input)) {
      answers.push(answer);
    }
  } catch (error) {
    if (!isNotFound(error)) {
      throw error;
    }
  }
  return answers;
}

/** A list with what is known here of which cluster each is. */
export function listingOf(
  { book, redaction }: Pick<RunContext, 'book' | 'redaction'>,
  answers: Answers,
  at: number,
): RequestList {
  const known = knownLinks(book);
  const requests = [...answers.values()].flatMap((answer) => toListedRequest(answer, known, redaction) ?? []);
  return { requests, answers, at };
}

/** A change request as what it is to a cluster, its subject redacted; null where it is of none. */
export function toListedRequest(
  answer: ChangeRequestItem,
  known: ReadonlyMap<string, KnownLink>,
  redaction: Pick<Redaction, 'text'>,
): ListedRequest | null {
  const request = toClusterChangeRequest(answer, known);
  if (request === null) {
    return null;
  }
  const isDescribed = readMarker(answer.description) !== null;
  const subject = redaction.text(request.subject);
  return { ...request, subject, isDescribed, isDraftSubject: readDraftMarker(answer.subject) !== null };
}

/** What the book knows of change requests that may not say it themselves. */
export function knownLinks(book: ClusterStore): ReadonlyMap<string, KnownLink> {
  const { entries, superseded } = book.memory;
  return new Map<string, KnownLink>([
    ...superseded.map(({ id, cluster }) => [id, { cluster, superseded: true, revision: null }] as const),
    ...entries.flatMap(({ id, cluster, revision }) =>
      id === null ? [] : [[id, { cluster, superseded: false, revision }] as const],
    ),
  ]);
}
