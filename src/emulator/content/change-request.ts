// Lookup, rules and view of change requests.

import { ApiError, found } from '../model/answers.ts';
import type { Context, PathContext } from '../model/operation.ts';
import { pick } from '../model/patch.ts';
import type { EmulatorStore } from '../model/store.ts';
import { placeKey } from '../model/table.ts';
import { viewUserOf } from '../organizations/people.ts';
import type { SpaceRecord } from '../spaces/records.ts';
import { countOpenComments, requireSpace } from '../spaces/views.ts';
import type { ChangeRequestRecord } from './records.ts';

/** Finds a change request by its id, or by its number in the space. Source: docs/platform-notes.md#conventions */
export function findChangeRequest(store: EmulatorStore, space: string, id: string): ChangeRequestRecord | undefined {
  const { changeRequests } = store;
  const record = changeRequests.get(id) ?? changeRequests.one('place', placeKey(space, id));
  return record?.space === space ? record : undefined;
}

/** Returns the change request that the path names. Throws a 404 if it does not exist or its space is deleted. */
export function requireChangeRequest(call: PathContext<'spaceId' | 'changeRequestId'>): ChangeRequestRecord {
  const { changeRequestId } = call.params;
  return found(
    findChangeRequest(call.store, requireSpace(call).id, changeRequestId),
    'Change request',
    changeRequestId,
  );
}

/*
 * Changes of a change request. Decisions of this emulator, since no transitions are documented: draft, open and
 * archived follow each other in any order; only a draft or an open change request can be merged; a merged one cannot
 * change (400). Source: docs/platform-notes.md#change-requests
 */
/**
 * Rejects edits of a locked space. Decisions of this emulator: the status is 403; creating and merging a change request
 * are edits, commenting is not. Source: docs/platform-notes.md#spaces
 */
export function refuseLocked(space: SpaceRecord): void {
  if (space.editMode === 'locked') {
    throw new ApiError(403, `Space "${space.id}" is locked`);
  }
}

/** Throws a 400 for a merged change request, which can no longer change. */
export function refuseMerged(record: ChangeRequestRecord): void {
  if (record.status === 'merged') {
    throw new ApiError(400, `Change request "${record.id}" is merged`);
  }
}

/** Stores a change of the change request. */
export function change(
  { store, at }: Pick<Context, 'store' | 'at'>,
  record: ChangeRequestRecord,
  to: Partial<ChangeRequestRecord>,
): ChangeRequestRecord {
  return store.changeRequests.put({ ...record, ...to, updatedAt: at < record.updatedAt ? record.updatedAt : at });
}

/** Returns the address of a change request. */
export function changeRequestLocation(context: Context, record: ChangeRequestRecord): string {
  return `${context.base}/v1/spaces/${record.space}/change-requests/${record.id}`;
}

/**
 * Reports whether the space has changed since the change request was created or last updated. A merged one is never
 * outdated.
 */
export function isOutdated(context: Context, record: ChangeRequestRecord): boolean {
  const followed = record.revisionMergedAncestor ?? record.revisionInitial;
  return record.status !== 'merged' && followed !== context.store.spaces.get(record.space)?.revision;
}

/** ChangeRequest. Its cluster was removed with conversations. Source: docs/platform-notes.md#change-requests */
export function viewChangeRequest(context: Context, record: ChangeRequestRecord): unknown {
  return {
    object: 'change-request',
    ...pick(
      record,
      'id',
      'number',
      'status',
      'subject',
      'description',
      'createdAt',
      'updatedAt',
      'space',
      'revision',
      'revisionInitial',
      'revisionMergedAncestor',
      'revisionMerged',
    ),
    createdBy: viewUserOf(context, record.createdBy),
    comments: countOpenComments(context, record.id),
    outdated: isOutdated(context, record),
    conversationsIssuesCluster: context.features.conversations ? record.conversationsIssuesCluster : undefined,
    siteTopic: context.features.contextRecords ? record.siteTopic : undefined,
    urls: {
      app: `${context.base}/app/s/${record.space}/~/changes/${record.number}`,
      location: changeRequestLocation(context, record),
    },
  };
}
