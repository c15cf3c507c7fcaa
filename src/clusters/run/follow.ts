import { operations } from '../../platform/operations/index.ts';
import { readDraftMarker, readMarker } from '../model/ownership-marker.ts';
import type { ChangeRequestItem } from '../model/source.ts';
import type { OwnRequest } from '../read/cluster-store.ts';
import { isNotFound } from '../read/spaces.ts';
import type { RunContext } from './context.ts';
import { toEvent } from './events.ts';
import { knownLinks, type ListedRequest, listingOf, type RequestList, toListedRequest } from './requests.ts';

/** Milliseconds in which a request whose answer was lost may still be worked on by the platform. */
const LOST_AFTER = 600_000;
/** Time for which a deleted space can be restored, in milliseconds. Source: docs/platform-notes.md#deletions */
const RESTORABLE = 7 * 86_400_000;

/**
 * Notices what became of the change requests that were made here: finds those whose answer was lost, and sees which
 * were opened, merged or archived meanwhile. Reads one by one what is not in the list. Answers the list with what is known
 * by then of which cluster each is. Throws AppError.
 */
export async function follow(context: RunContext, listing: RequestList): Promise<RequestList> {
  const { book } = context;
  for (const entry of book.live) {
    if (entry.id === null) {
      await find(context, entry, listing);
    }
  }
  const links = knownLinks(book);
  for (const entry of book.memory.entries) {
    if (entry.id !== null && entry.state !== 'merged') {
      const listed = listing.answers.get(entry.id);
      const isActive = entry.state === 'draft' || entry.state === 'open';
      // One that is gone comes back in a list, where its space is restored.
      const answer = listed ?? (isActive && entry.missingSince === null ? await ask(context, entry) : null);
      const seen = answer === null ? null : toListedRequest(answer, links, context.redaction);
      await (seen === null ? gone(context, entry, isActive) : took(context, entry, seen));
    }
  }
  return listingOf(context, listing.answers, listing.at);
}

/** Finds the change request whose answer was lost; forgets it once it is certain that it was not created. */
async function find({ book, clock, events }: RunContext, entry: OwnRequest, { answers }: RequestList): Promise<void> {
  const found = [...answers.values()].find((answer) => claimOf(answer) === entry.claim);
  if (found !== undefined) {
    const { id, urls, revision = null } = found;
    await book.put({ ...entry, id, url: urls?.app ?? urls?.location ?? null, revision, state: 'draft' });
  } else if (Math.abs(clock.now() - entry.at) >= LOST_AFTER) {
    events.onTrouble?.({
      cluster: entry.cluster,
      message: 'the change request whose response was lost was not created',
    });
    await book.remove(entry, { superseded: false });
  }
}

/** The claim that a change request carries, in its description or its subject. */
function claimOf({ description, subject }: ChangeRequestItem): string | null {
  return readMarker(description)?.claim ?? readDraftMarker(subject)?.claim ?? null;
}

async function ask({ reader }: RunContext, { id, space }: OwnRequest): Promise<ChangeRequestItem | null> {
  try {
    return await reader.get(operations.getChangeRequest, { path: { spaceId: space, changeRequestId: id ?? '' } });
  } catch (error) {
    if (isNotFound(error)) {
      return null;
    }
    throw error;
  }
}

/** Its space may be restored, and it with it: until that cannot be any more, it stands in the way of another. */
async function gone({ book, clock, events }: RunContext, entry: OwnRequest, isActive: boolean): Promise<void> {
  if (!isActive) {
    return;
  }
  if (entry.missingSince === null) {
    events.onTrouble?.({ cluster: entry.cluster, message: `its change request ${entry.id} no longer exists` });
    await book.put({ ...entry, missingSince: clock.now() });
  } else if (clock.now() - entry.missingSince > RESTORABLE) {
    await book.remove(entry, { superseded: false });
  }
}

/** What a change request has become, as a change of the entry and an event. */
async function took(context: RunContext, entry: OwnRequest, seen: ListedRequest): Promise<void> {
  const { book, events, config } = context;
  const next = { ...entry, missingSince: null, url: seen.url ?? entry.url };
  if (seen.status === 'merged') {
    const { isEmptyMerge } = seen;
    await book.put(
      { ...next, state: 'merged', muteDue: config.afterMerge.mute && !isEmptyMerge },
      // What is done with it may be off the platform's count already.
      { merges: { [seen.id]: Math.max(entry.seen.issues, entry.told.issues) } },
    );
    events.onMerged?.({ ...toEvent(next), isEmpty: isEmptyMerge });
  } else if (seen.status === 'archived' && entry.state !== 'archived') {
    if (seen.superseded) {
      await book.remove(entry, { superseded: true });
    } else {
      await book.put({ ...next, state: 'archived' });
      events.onArchived?.(toEvent(next));
    }
  } else if (seen.status === 'open' && entry.state !== 'open') {
    await book.put({ ...next, state: 'open' });
    if (entry.state === 'archived') {
      events.onReopened?.(toEvent(next));
    } else {
      events.onOpened?.({ ...toEvent(next), why: entry.why });
    }
  } else if (entry.missingSince !== null || next.url !== entry.url) {
    await book.put(next);
  }
}
