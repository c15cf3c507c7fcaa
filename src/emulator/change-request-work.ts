import { ApiError } from './answers.ts';
import type { ChangeRequestRecord } from './collaboration-records.ts';
import { addRevision, putSpaceContent, rebase, sidesOf, spaceContent } from './content.ts';
import { type Merged, mergeContent } from './content-merge.ts';
import { refuseUnmetRules } from './merge-rules.ts';
import type { Context } from './operation.ts';
import type { SpaceRecord } from './records.ts';
import { isOutdated } from './views/change-request.ts';

/*
 * Changes of a change request. Decisions of this emulator, since no transitions are documented: draft, open and
 * archived follow each other in any order; only a draft or an open change request can be merged; a merged one cannot
 * change (400). Source: docs/platform-notes.md#change-requests
 */

/**
 * Rejects edits of a locked space. Decisions of this emulator: the status is 403, and edits are creating a change
 * request and merging one, but not comments. Source: docs/platform-notes.md#spaces
 */
export function refuseLocked(space: SpaceRecord): void {
  if (space.editMode === 'locked') {
    throw new ApiError(403, `Space "${space.id}" is locked`);
  }
}

/** 400 for a change request that was merged: it changes no more. */
export function refuseMerged(record: ChangeRequestRecord): void {
  if (record.status === 'merged') {
    throw new ApiError(400, `Change request "${record.id}" is merged`);
  }
}

/**
 * When a change request is created now. A decision of this emulator: later than every one before it, by a millisecond
 * where the clock says the same, so that creation times say in which order they were created.
 */
export function creationTime({ store, now }: Context): string {
  let time = now;
  for (const record of store.changeRequests.all()) {
    time = Math.max(time, Date.parse(record.createdAt) + 1);
  }
  return new Date(time).toISOString();
}

/** Remembers the change request as it is from now on. */
export function change(
  { store, at }: Pick<Context, 'store' | 'at'>,
  record: ChangeRequestRecord,
  to: Partial<ChangeRequestRecord>,
): ChangeRequestRecord {
  return store.changeRequests.put({ ...record, ...to, updatedAt: at < record.updatedAt ? record.updatedAt : at });
}

/** What came of bringing two versions together, and the revision that it made. */
export interface Outcome {
  readonly revision: string;
  readonly hasConflicts: boolean;
}

/** Both sides of a change request, brought together. */
function together({ store }: Context, record: ChangeRequestRecord, space: SpaceRecord): Merged {
  const others = spaceContent(store, space);
  const { base, head } = sidesOf(store, record, space);
  return mergeContent(base, head, others);
}

/** Brings the change request's content into the space, as a new revision of it; 400 unless it is a draft or open. */
export function merge(context: Context, record: ChangeRequestRecord, space: SpaceRecord): Outcome {
  refuseMerged(record);
  refuseLocked(space);
  if (record.status === 'archived') {
    throw new ApiError(400, `Change request "${record.id}" is archived`);
  }
  refuseUnmetRules(context, record, space);
  const { store, at } = context;
  const { content, hasConflicts } = together(context, record, space);
  const parents = [space.revision, record.revision];
  const revision = addRevision(store, { parents, type: 'merge', createdAt: at, mergedFrom: record.id });
  putSpaceContent(store, space, content, { revision, at });
  change(context, record, { status: 'merged', revisionMerged: revision });
  return { revision, hasConflicts };
}

/** Pulls what the space has become into the change request; its revision stays where there is nothing to pull. */
export function update(context: Context, record: ChangeRequestRecord, space: SpaceRecord): Outcome {
  refuseMerged(record);
  if (!isOutdated(context, record)) {
    return { revision: record.revision, hasConflicts: false };
  }
  const { store, at } = context;
  const { content, hasConflicts } = together(context, record, space);
  const parents = [record.revision, space.revision];
  const revision = addRevision(store, { parents, type: 'update', createdAt: at });
  const isEdited = store.changeRequestContents.get(record.id)?.head !== undefined;
  rebase(store, record, space, isEdited ? content : undefined);
  change(context, record, { revision, revisionMergedAncestor: space.revision });
  return { revision, hasConflicts };
}
