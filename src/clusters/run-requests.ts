import { RejectedError } from '../core/errors.ts';
import { operations } from '../platform/operations/index.ts';
import { type ClusterChangeRequest, changeRequestOf, type KnownLink, linkOf } from './change-request.ts';
import { markOf } from './mark.ts';
import type { ClusterBook } from './record.ts';
import type { RunContext } from './run-context.ts';
import type { RequestAnswer } from './source.ts';
import { isNotThere } from './spaces.ts';

/** A change request of a cluster, and what its description says of it. */
export interface SeenRequest extends ClusterChangeRequest {
  /** Whether everybody sees which cluster it is of: by a link, or by a mark. */
  readonly isVisible: boolean;
  /** Whether its description is Octavo's. */
  readonly isMarked: boolean;
}

/** All change requests of an organization at one time. */
export interface Listing {
  /** Those of clusters. */
  readonly requests: readonly SeenRequest[];
  /** Everything that was listed, by id. */
  readonly answers: ReadonlyMap<string, RequestAnswer>;
  /** When the list was begun, on the clock's monotonic scale. */
  readonly at: number;
}

/** How long what is known of a list's gaps holds, in milliseconds: platforms change. */
const HIDES_FOR = 7 * 86_400_000;
/** Spaces that are asked at the same time. */
const AT_ONCE = 10;

/**
 * Lists every change request of the organization, in whatever status. `drafts` are ids of drafts that must be there: an
 * organization's list without any draft hides them, and then each space's lists are asked, also from then on.
 */
export async function listRequests(context: RunContext, drafts: ReadonlySet<string>): Promise<Listing> {
  const { book, clock } = context;
  const at = clock.monotonic();
  const since = book.memory.hidesDraftsSince;
  if (since !== null && clock.now() >= since && clock.now() - since < HIDES_FOR) {
    return listingOf(book, await listBySpace(context), at);
  }
  const answers = await listWhole(context);
  const lacksDrafts = answers !== null && ![...answers.values()].some(({ status }) => status === 'draft');
  const hides = answers === null || (lacksDrafts && [...drafts].some((id) => !answers.has(id)));
  await book.change({ hidesDraftsSince: hides ? clock.now() : null });
  return listingOf(book, hides ? await listBySpace(context) : answers, at);
}

/** Null where the platform has no such list, or does not take what it is to be asked with. */
async function listWhole({ reader, source }: RunContext): Promise<ReadonlyMap<string, RequestAnswer> | null> {
  const answers = new Map<string, RequestAnswer>();
  try {
    const query = source.listQuery;
    for await (const answer of reader.pages(operations.listOrganizationChangeRequests, { query })) {
      answers.set(answer.id, answer);
    }
  } catch (error) {
    const isUnknown =
      error instanceof RejectedError && error.status === 400 && Object.keys(source.listQuery).length > 0;
    if (isUnknown || isNotThere(error)) {
      return null;
    }
    throw error;
  }
  return answers;
}

/** The list, with those of this cluster that only the platform itself knows of. Throws AppError. */
export async function withOwnRequests(context: RunContext, cluster: string, listing: Listing): Promise<Listing> {
  const own = (await context.source.requestsOf(cluster)).filter(({ id }) => !listing.answers.has(id));
  return own.length === 0
    ? listing
    : listingOf(
        context.book,
        new Map([...listing.answers, ...own.map((each) => [each.id, each] as const)]),
        listing.at,
      );
}

/**
 * In the order in which a change request goes through its statuses, so that one that goes on meanwhile is seen once at
 * least; those that somebody opens again meanwhile are seen at the end.
 */
const STATUSES = ['draft', 'open', 'merged', 'archived', 'open'] as const;

async function listBySpace(context: RunContext): Promise<ReadonlyMap<string, RequestAnswer>> {
  const spaces = await context.spaces();
  const ids = [...new Set([...spaces.values()].map(({ id }) => id))];
  const answers = new Map<string, RequestAnswer>();
  for (const status of STATUSES) {
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
async function listOne(
  { reader }: RunContext,
  spaceId: string,
  status: (typeof STATUSES)[number],
): Promise<readonly RequestAnswer[]> {
  const answers: RequestAnswer[] = [];
  try {
    const input = { path: { spaceId }, query: { status } };
    for await (const answer of reader.pages(operations.listSpaceChangeRequests, input)) {
      answers.push(answer);
    }
  } catch (error) {
    if (!isNotThere(error)) {
      throw error;
    }
  }
  return answers;
}

/** A list with what is known here of which cluster each is. */
export function listingOf(book: ClusterBook, answers: ReadonlyMap<string, RequestAnswer>, at: number): Listing {
  const known = knownLinks(book);
  const requests = [...answers.values()].flatMap((answer) => seenOf(answer, known) ?? []);
  return { requests, answers, at };
}

/** A change request as what it is to a cluster; null where it is of none. */
export function seenOf(answer: RequestAnswer, known: ReadonlyMap<string, KnownLink>): SeenRequest | null {
  const request = changeRequestOf(answer, known);
  if (request === null) {
    return null;
  }
  const isMarked = markOf(answer.description) !== null;
  return { ...request, isMarked, isVisible: isMarked || linkOf(answer) !== null };
}

/** What the book knows of change requests that may not say it themselves. */
export function knownLinks(book: ClusterBook): ReadonlyMap<string, KnownLink> {
  const { entries, gaveWay } = book.memory;
  return new Map<string, KnownLink>([
    ...gaveWay.map(({ id, cluster }) => [id, { cluster, gaveWay: true }] as const),
    ...entries.flatMap(({ id, cluster }) => (id === null ? [] : [[id, { cluster, gaveWay: false }] as const])),
  ]);
}
