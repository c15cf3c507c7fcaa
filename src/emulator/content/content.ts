/** Content of spaces and change requests: owners, lookups, revisions, and the rules and view of change requests. */

import { ApiError, found } from '../model/answers.ts';
import { CHANGE_REQUEST, type Context, type PathContext, SPACE } from '../model/operation.ts';
import { type EmulatorStore, type IndexedTable, placeKey } from '../model/store.ts';
import { viewUserOf } from '../organizations/people.ts';
import { countOpenComments, requireSpace, type SpaceRecord, spaceById } from '../spaces/views.ts';
import type { ChangeRequestRecord, Content, FileRecord, PageRecord, RevisionRecord } from './records.ts';

/*
 * Content of spaces and change requests. Decisions of this emulator: a change request contains what the space contained
 * when it was created or last updated, with its own changes; every change makes a new revision. Only the latest
 * revision can be read, since no operation names another.
 */

/** Owner of content: a space, or a change request in it. */
export interface ContentOwner {
  readonly space: SpaceRecord;
  readonly changeRequest?: ChangeRequestRecord | undefined;
}

/** Returns the content of a space. */
export function spaceContent(store: EmulatorStore, space: SpaceRecord): Content {
  const bySeq = (a: { readonly seq: number }, b: { readonly seq: number }) => a.seq - b.seq;
  return {
    pages: store.pages.by('space', space.id).toSorted(bySeq),
    files: store.files.by('space', space.id).toSorted(bySeq),
    reusableContents: store.reusableContents.by('space', space.id).toSorted(bySeq),
    variables: space.variables ?? {},
  };
}

/** Returns the content that a change request started from, and its content now. In a state without content, both are the space's. */
export function getContentPair(
  store: EmulatorStore,
  changeRequest: ChangeRequestRecord,
  space: SpaceRecord,
): { readonly base: Content; readonly head: Content } {
  const own = store.changeRequestContents.get(changeRequest.id);
  const base = store.snapshots.get(own?.base ?? '')?.content ?? spaceContent(store, space);
  return { base, head: own?.head ?? base };
}

/** Returns the content of a space or change request. */
export function getContent(store: EmulatorStore, { space, changeRequest }: ContentOwner): Content {
  return changeRequest === undefined ? spaceContent(store, space) : getContentPair(store, changeRequest, space).head;
}

/** Bases a change request on the current content of the space. `head` is its own content, if it has changes. */
export function rebase(
  store: EmulatorStore,
  { id, seq }: ChangeRequestRecord,
  space: SpaceRecord,
  head?: Content,
): void {
  if (store.snapshots.get(space.revision) === undefined) {
    store.snapshots.put({ id: space.revision, seq, content: spaceContent(store, space) });
  }
  store.changeRequestContents.put({ id, seq, base: space.revision, head });
}

/** Returns the id of the latest revision of a space or change request. */
export function getRevisionId({ space, changeRequest }: ContentOwner): string {
  return changeRequest?.revision ?? space.revision;
}

/** Stores a revision and its parents; returns its id. */
export function addRevision(store: EmulatorStore, revision: Omit<RevisionRecord, 'id' | 'seq'>): string {
  return store.revisions.put({ ...store.identify('rev'), ...revision }).id;
}

/** Adds a revision to a space, as an edit would; returns its id. */
export function revise(store: EmulatorStore, space: SpaceRecord, at: string): string {
  const revision = addRevision(store, { parents: [space.revision], type: 'edits', createdAt: at });
  store.spaces.put({ ...space, revision, updatedAt: at });
  store.revisionAdded(space.id, revision, at);
  return revision;
}

/** Stores a new change request of a space. */
export function addChangeRequest(
  store: EmulatorStore,
  space: SpaceRecord,
  at: string,
  given: Pick<ChangeRequestRecord, 'status' | 'subject' | 'createdBy'> & Partial<ChangeRequestRecord>,
): ChangeRequestRecord {
  return store.changeRequests.put({
    ...store.identify('cr'),
    space: space.id,
    number: store.changeRequests.count('space', space.id) + 1,
    ...given,
    createdAt: at,
    updatedAt: at,
    revision: store.identify('rev').id,
    revisionInitial: space.revision,
    requestedReviewers: [],
  });
}

/** Replaces the table's records of the space with these. */
function replace<R extends { readonly id: string }>(
  table: Pick<IndexedTable<R, 'space'>, 'by' | 'get' | 'put' | 'remove'>,
  space: string,
  records: readonly R[],
): void {
  const kept = new Set(records.map((record) => record.id));
  for (const record of table.by('space', space)) {
    if (!kept.has(record.id)) {
      table.remove(record.id);
    }
  }
  for (const record of records) {
    if (table.get(record.id) !== record) {
      table.put(record);
    }
  }
}

/** Replaces the content of the space and sets its revision. */
export function putSpaceContent(
  store: EmulatorStore,
  space: SpaceRecord,
  content: Content,
  change: { readonly revision: string; readonly at: string },
): SpaceRecord {
  replace(store.pages, space.id, content.pages);
  replace(store.files, space.id, content.files);
  replace(store.reusableContents, space.id, content.reusableContents);
  const { variables } = content;
  const updated = store.spaces.put({ ...space, variables, revision: change.revision, updatedAt: change.at });
  store.revisionAdded(space.id, change.revision, change.at);
  return updated;
}

/** Copies the content of a space into its copy. */
export function copyContent(store: EmulatorStore, from: SpaceRecord, to: SpaceRecord): void {
  const content = spaceContent(store, from);
  const copy = <R>(record: R, prefix: string) => ({ ...record, ...store.identify(prefix), space: to.id });
  for (const page of content.pages) {
    store.pages.put(copy(page, 'page'));
  }
  for (const file of content.files) {
    store.files.put(copy(file, 'file'));
  }
  for (const reusable of content.reusableContents) {
    store.reusableContents.put(copy(reusable, 'rc'));
  }
}

/** A request whose path names a space, or a change request in it. Source: docs/platform-notes.md#content */
export interface ContentPath extends Pick<Context, 'store'> {
  readonly params: { readonly spaceId: string; readonly changeRequestId?: string | undefined };
}

/** One of the two families of content. Paths and names of their operations differ only in these parts. */
export interface ContentFamily {
  readonly base: typeof SPACE | typeof CHANGE_REQUEST;
  readonly name: 'Space' | 'ChangeRequest';
}

export const CONTENT_FAMILIES: readonly ContentFamily[] = [
  { base: SPACE, name: 'Space' },
  { base: CHANGE_REQUEST, name: 'ChangeRequest' },
];

/** Returns the space or change request that the path names, or throws a 404. */
export function requireContentOwner({ store, params }: ContentPath): ContentOwner {
  const { spaceId, changeRequestId } = params;
  const space = spaceById(store, spaceId);
  return changeRequestId === undefined
    ? { space }
    : { space, changeRequest: requireChangeRequest({ store, params: { spaceId, changeRequestId } }) };
}

/** Returns the page with that id, or throws a 404. */
export function requirePage({ store }: Pick<Context, 'store'>, place: ContentOwner, id: string): PageRecord {
  const page = getContent(store, place).pages.find((each) => each.id === id);
  return found(page, 'Page', id);
}

/** Returns the file with that id, or throws a 404. */
export function requireFile({ store }: Pick<Context, 'store'>, place: ContentOwner, id: string): FileRecord {
  const file = getContent(store, place).files.find((each) => each.id === id);
  return found(file, 'File', id);
}

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
  const { seq, createdBy, contributors, conversationsIssuesCluster, siteTopic, requestedReviewers, ...fields } = record;
  return {
    object: 'change-request',
    ...fields,
    createdBy: viewUserOf(context, createdBy),
    comments: countOpenComments(context, record.id),
    outdated: isOutdated(context, record),
    conversationsIssuesCluster: context.features.conversations ? conversationsIssuesCluster : undefined,
    siteTopic: context.features.contextRecords ? siteTopic : undefined,
    urls: {
      app: `${context.base}/app/s/${record.space}/~/changes/${record.number}`,
      location: changeRequestLocation(context, record),
    },
  };
}
