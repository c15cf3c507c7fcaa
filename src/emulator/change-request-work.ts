import { ApiError } from './answers.ts';
import type { ChangeRequestRecord } from './collaboration-records.ts';
import type { Context } from './operation.ts';
import type { SpaceRecord } from './records.ts';
import { isOutdated } from './views/change-request.ts';

/*
 * What happens to change requests. Decisions of this emulator, the platform API naming no transitions (supplement,
 * section 4): draft, open and archived follow on each other in any order; only a draft or an open one is merged; what
 * is merged stays as it is (400).
 */

/**
 * A locked space rejects all edits (platform API, States and transitions). Decisions of this emulator: the status, which
 * no document names, is 403; and the edits are a new change request and a merge, not what is said about one.
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
  { store, at }: Context,
  record: ChangeRequestRecord,
  to: Partial<ChangeRequestRecord>,
): ChangeRequestRecord {
  return store.changeRequests.put({ ...record, ...to, updatedAt: at < record.updatedAt ? record.updatedAt : at });
}

/** Makes a new revision of the space out of the change request; 400 unless it is a draft or open. */
export function merge(context: Context, record: ChangeRequestRecord, space: SpaceRecord): string {
  refuseMerged(record);
  refuseLocked(space);
  if (record.status === 'archived') {
    throw new ApiError(400, `Change request "${record.id}" is archived`);
  }
  const revision = context.store.identify('rev').id;
  context.store.spaces.put({ ...space, revision, updatedAt: context.at });
  change(context, record, { status: 'merged', revisionMerged: revision });
  return revision;
}

/** Pulls what the space has become into the change request; its revision stays where there is nothing to pull. */
export function update(context: Context, record: ChangeRequestRecord, space: SpaceRecord): string {
  refuseMerged(record);
  if (!isOutdated(context, record)) {
    return record.revision;
  }
  const revision = context.store.identify('rev').id;
  change(context, record, { revision, revisionMergedAncestor: space.revision });
  return revision;
}
