import type { Clock } from '../../core/clock.ts';
import { RejectedError } from '../../core/errors.ts';
import type { Reader } from '../../platform/client.ts';
import { operations } from '../../platform/operations/index.ts';
import type { PlatformTime } from '../../platform/platform-time.ts';
import type { Spaces } from '../decide/route.ts';
import { type ClusterChangeRequest, type KnownLink, toClusterChangeRequest } from '../model/change-request.ts';
import { parseTime } from '../model/cluster.ts';
import { readDraftMarker, readMarker } from '../model/ownership-marker.ts';
import type { Redaction } from '../model/redaction.ts';
import type { ChangeRequestItem, ClusterSource } from '../model/source.ts';
import { type ClusterStore, LIST_MODES, type ListMode } from '../read/cluster-store.ts';
import { isNotFound } from '../read/spaces.ts';

/** A change request of a cluster, with evidence of whether Octavo created it. */
export interface ListedRequest extends ClusterChangeRequest {
  /** True if its description has Octavo's ownership marker. */
  readonly isDescribed: boolean;
  /** True if its subject is that of an Octavo draft. */
  readonly isDraftSubject: boolean;
}

/** Change requests of an organization at one time. */
export interface RequestList {
  /** Change requests of clusters. */
  readonly requests: readonly ListedRequest[];
  /** Every listed change request, by id. */
  readonly answers: Answers;
  /** Start of the request, on the monotonic clock. */
  readonly at: number;
}

type Answers = ReadonlyMap<string, ChangeRequestItem>;

/**
 * Time for which a detected list mode is used, in milliseconds. It is shorter for `spaces`, which needs the most
 * requests, because an upgraded platform may support another mode.
 */
const MODE_LIFETIME = { statuses: 7 * 86_400_000, status: 7 * 86_400_000, all: 7 * 86_400_000, spaces: 86_400_000 };
/** Number of spaces that are listed at the same time. */
const MAX_CONCURRENT = 10;

const ALL = ['draft', 'open', 'merged', 'archived'] as const;
/**
 * Statuses in the usual order of changes, so that a change request whose status changes during the listing is listed at
 * least once. Those that a person reopens meanwhile are found by listing `open` again at the end.
 */
const ONE_BY_ONE = [...ALL, 'open'] as const;
type Status = (typeof ALL)[number];

/** Parts that `ChangeRequestLists` needs. */
interface ListParts {
  readonly reader: Reader;
  readonly source: Pick<ClusterSource, 'takesStatuses' | 'listQuery' | 'requestsOf'>;
  readonly store: ClusterStore;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly time: PlatformTime;
  readonly redaction: Pick<Redaction, 'text'>;
  readonly spaces: () => Promise<Spaces>;
}

/** Lists of an organization's change requests. Every method that reads throws AppError. */
export class ChangeRequestLists {
  readonly #parts: ListParts;
  /**
   * List functions by mode. Each returns null if the platform refuses the list, or lists something else than was
   * requested.
   */
  readonly #modes: Readonly<Record<ListMode, () => Promise<Answers | null>>> = {
    statuses: () => this.#listOrganization(ALL),
    status: () => this.#listEachStatus(),
    all: async () => {
      const answers = await this.#listOrganization();
      // Only an answer that is not open shows that the list is not limited to open ones.
      return answers !== null && [...answers.values()].some(({ status }) => status !== 'open') ? answers : null;
    },
    spaces: () => this.#listSpaces(),
  };

  constructor(parts: ListParts) {
    this.#parts = parts;
  }

  /**
   * Lists the change requests in every status: in one list of all statuses, else in one list per status, else in a list
   * without a status filter that is not limited to open ones, else in one list per space. The first mode that works is
   * stored. A platform may hide drafts in a list: a list that lacks an own draft is not used.
   */
  async all(): Promise<RequestList> {
    const { store, clock, time } = this.#parts;
    const at = clock.monotonic();
    const modes = this.#orderedModes();
    for (const mode of modes) {
      const answers = await this.#modes[mode]();
      if (answers !== null && (mode === 'spaces' || !hidesDrafts(answers, store.draftIds))) {
        time.observeListed(newestOf(answers));
        const now = clock.now();
        const isKnown = store.memory.listing?.mode === mode && modes[0] === mode;
        const listing = isKnown ? store.memory.listing : { mode, since: now };
        await store.change({ listing, listedAt: now, skew: time.skew });
        return this.toList(answers, at);
      }
    }
    throw new Error('the lists of every space always exist');
  }

  /** Lists open change requests, and others if the platform includes them; null if there is no such list. */
  async open(): Promise<RequestList | null> {
    const at = this.#parts.clock.monotonic();
    const answers = await this.#listOrganization();
    return answers === null ? null : this.toList(answers, at);
  }

  /** Adds the change requests of a cluster that only the platform's own link shows. */
  async withLinked(cluster: string, list: RequestList): Promise<RequestList> {
    const linked = (await this.#parts.source.requestsOf(cluster)).filter(({ id }) => !list.answers.has(id));
    return linked.length === 0
      ? list
      : this.toList(new Map([...list.answers, ...linked.map((each) => [each.id, each] as const)]), list.at);
  }

  /** Assigns listed change requests to clusters. */
  toList(answers: Answers, at: number): RequestList {
    const { store, redaction } = this.#parts;
    const links = knownLinks(store);
    const requests = [...answers.values()].flatMap((answer) => toListedRequest(answer, links, redaction) ?? []);
    return { requests, answers, at };
  }

  /** Returns the modes to try, the last one that worked first. */
  #orderedModes(): readonly ListMode[] {
    const { store, clock, source } = this.#parts;
    const modes = LIST_MODES.filter((mode) => mode !== 'statuses' || source.takesStatuses);
    const { listing } = store.memory;
    const isValid =
      listing !== null &&
      modes.includes(listing.mode) &&
      Math.abs(clock.now() - listing.since) < MODE_LIFETIME[listing.mode];
    return isValid ? [listing.mode, ...modes.filter((mode) => mode !== listing.mode)] : modes;
  }

  async #listEachStatus(): Promise<Answers | null> {
    const answers = new Map<string, ChangeRequestItem>();
    for (const status of ONE_BY_ONE) {
      const listed = await this.#listOrganization([status]);
      if (listed === null || [...listed.values()].some((answer) => answer.status !== status)) {
        return null;
      }
      for (const [id, answer] of listed) {
        answers.set(id, answer);
      }
    }
    return answers;
  }

  async #listOrganization(statuses?: readonly Status[]): Promise<Answers | null> {
    const { reader, source } = this.#parts;
    const answers = new Map<string, ChangeRequestItem>();
    const query = { ...source.listQuery, ...(statuses === undefined ? {} : { status: [...statuses] }) };
    try {
      for await (const answer of reader.pages(operations.listOrganizationChangeRequests, { query })) {
        answers.set(answer.id, answer);
      }
    } catch (error) {
      if (error instanceof RejectedError && UNSUPPORTED.includes(error.status)) {
        return null;
      }
      throw error;
    }
    return answers;
  }

  async #listSpaces(): Promise<Answers> {
    const spaces = await this.#parts.spaces();
    const ids = [...new Set([...spaces.values()].map(({ id }) => id))];
    const answers = new Map<string, ChangeRequestItem>();
    for (const status of ONE_BY_ONE) {
      for (let start = 0; start < ids.length; start += MAX_CONCURRENT) {
        const pages = ids.slice(start, start + MAX_CONCURRENT).map((spaceId) => this.#listSpace(spaceId, status));
        for (const answer of (await Promise.all(pages)).flat()) {
          answers.set(answer.id, answer);
        }
      }
    }
    return answers;
  }

  /** Returns nothing for a space that does not exist: it may have been deleted. */
  async #listSpace(spaceId: string, status: Status): Promise<readonly ChangeRequestItem[]> {
    const answers: ChangeRequestItem[] = [];
    try {
      const input = { path: { spaceId }, query: { status } };
      for await (const answer of this.#parts.reader.pages(operations.listSpaceChangeRequests, input)) {
        answers.push(answer);
      }
    } catch (error) {
      if (!isNotFound(error)) {
        throw error;
      }
    }
    return answers;
  }
}

/** Statuses with which platforms refuse a list or a parameter that they do not have. */
const UNSUPPORTED: readonly number[] = [400, 404, 405, 410, 422];

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

/** Assigns a change request to its cluster and redacts its subject; null if it belongs to none. */
export function toListedRequest(
  answer: ChangeRequestItem,
  links: ReadonlyMap<string, KnownLink>,
  redaction: Pick<Redaction, 'text'>,
): ListedRequest | null {
  const request = toClusterChangeRequest(answer, links);
  if (request === null) {
    return null;
  }
  const isDescribed = readMarker(answer.description) !== null;
  const subject = redaction.text(request.subject);
  return { ...request, subject, isDescribed, isDraftSubject: readDraftMarker(answer.subject) !== null };
}

/** Stored links of change requests that may not name their cluster themselves. */
export function knownLinks({ memory }: Pick<ClusterStore, 'memory'>): ReadonlyMap<string, KnownLink> {
  return new Map<string, KnownLink>([
    ...memory.superseded.map(({ id, cluster }) => [id, { cluster, superseded: true, revision: null }] as const),
    ...memory.entries.flatMap(({ id, cluster, revision }) =>
      id === null ? [] : [[id, { cluster, superseded: false, revision }] as const],
    ),
  ]);
}
