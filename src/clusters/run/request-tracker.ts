import type { Clock } from '../../core/clock.ts';
import type { Reader } from '../../platform/client.ts';
import { operations } from '../../platform/operations/index.ts';
import { readDraftMarker, readMarker } from '../model/ownership-marker.ts';
import type { Redaction } from '../model/redaction.ts';
import type { ChangeRequestItem } from '../model/source.ts';
import type { ClusterStore, OwnRequest } from '../read/cluster-store.ts';
import { nullIfNotFound } from '../read/spaces.ts';
import {
  type ChangeRequestLists,
  knownLinks,
  type ListedRequest,
  type RequestList,
  toListedRequest,
} from './change-request-lists.ts';
import { type ClusterEvents, toEvent } from './events.ts';

/** Time in which the platform may still process a request with a lost response, in milliseconds. */
const LOST_AFTER = 600_000;
/** Time for which a deleted space can be restored, in milliseconds. Source: docs/platform-notes.md#deletions */
const RESTORABLE = 7 * 86_400_000;
const DAY = 86_400_000;
/** Number of change requests to read one by one; for more, listing all is cheaper. */
const MAX_SINGLE_READS = 5;

/** Parts that `RequestTracker` needs. */
interface TrackerParts {
  readonly reader: Reader;
  readonly lists: ChangeRequestLists;
  readonly store: ClusterStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly redaction: Pick<Redaction, 'text'>;
  readonly events: ClusterEvents;
  /** True if clusters are muted after a merge. */
  readonly muteMerged: boolean;
}

/** Detects what happened to the change requests that Octavo created. Methods throw AppError. */
export class RequestTracker {
  readonly #parts: TrackerParts;

  constructor(parts: TrackerParts) {
    this.#parts = parts;
  }

  /** Lists all change requests and records what happened to own ones. */
  async listAll(): Promise<RequestList> {
    return this.track(await this.#parts.lists.all());
  }

  /**
   * Lists all change requests if something may be opened, a draft is undecided, or the last list is a day old.
   * Otherwise one request updates the open ones and the result is null, so that a run without changes takes the same
   * number of requests for any number of spaces. `mayOpen`: returns whether something may be opened, by stored data.
   */
  async listIfNeeded(hasSelected: boolean, mayOpen: () => boolean): Promise<RequestList | null> {
    const { store, lists } = this.#parts;
    if (mayOpen() || this.#isUndecided(hasSelected)) {
      return this.listAll();
    }
    if (store.active.length === 0) {
      return null;
    }
    const open = await lists.open();
    const missing = store.active.filter(
      ({ id, missingSince }) => missingSince === null && open?.answers.has(id ?? '') !== true,
    );
    if (open === null || missing.length > MAX_SINGLE_READS) {
      return this.listAll();
    }
    await this.track(open);
    return mayOpen() ? this.listAll() : null;
  }

  /**
   * Finds change requests with a lost response, and records which were opened, merged or archived. Those that the list
   * lacks are read individually. Returns the list with the clusters that are known afterwards.
   */
  async track(list: RequestList): Promise<RequestList> {
    const { store, lists, redaction } = this.#parts;
    for (const own of store.active) {
      if (own.id === null) {
        await this.#findLost(own, list);
      }
    }
    const links = knownLinks(store);
    for (const own of store.memory.entries) {
      if (own.id !== null && own.state !== 'merged') {
        const isOpenable = own.state === 'draft' || own.state === 'open';
        // A change request of a restored space is listed again.
        const answer =
          list.answers.get(own.id) ?? (isOpenable && own.missingSince === null ? await this.#read(own) : null);
        const seen = answer === null ? null : toListedRequest(answer, links, redaction);
        await (seen === null ? this.#recordMissing(own, isOpenable) : this.#record(own, seen));
      }
    }
    return lists.toList(list.answers, list.at);
  }

  #isUndecided(hasSelected: boolean): boolean {
    const { store, clock } = this.#parts;
    const { hasStrayDrafts, listedAt } = store.memory;
    const isDue = listedAt === null || Math.abs(clock.now() - listedAt) >= DAY;
    const isPending = store.active.some(
      ({ state, missingSince }) => missingSince === null && (state === 'draft' || state === 'begun'),
    );
    return isPending || hasStrayDrafts || (isDue && (hasSelected || store.active.length > 0));
  }

  /** Finds a change request with a lost response, or removes it once it is certain that it was not created. */
  async #findLost(own: OwnRequest, { answers }: RequestList): Promise<void> {
    const { store, clock, events } = this.#parts;
    const found = [...answers.values()].find((answer) => claimOf(answer) === own.claim);
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

  #read({ id, space }: OwnRequest): Promise<ChangeRequestItem | null> {
    const path = { spaceId: space, changeRequestId: id ?? '' };
    return nullIfNotFound(this.#parts.reader.get(operations.getChangeRequest, { path }));
  }

  /** Keeps a missing change request while its space can be restored; for that time it blocks another one. */
  async #recordMissing(own: OwnRequest, isOpenable: boolean): Promise<void> {
    const { store, clock, events } = this.#parts;
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
  async #record(own: OwnRequest, seen: ListedRequest): Promise<void> {
    const { store, events, muteMerged } = this.#parts;
    const next = { ...own, missingSince: null, url: seen.url ?? own.url };
    if (seen.status === 'merged') {
      const { isEmptyMerge } = seen;
      await store.put(
        { ...next, state: 'merged', muteDue: muteMerged && !isEmptyMerge },
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
}

/** Returns the claim in the description or the subject of a change request. */
function claimOf({ description, subject }: ChangeRequestItem): string | null {
  return readMarker(description)?.claim ?? readDraftMarker(subject)?.claim ?? null;
}
