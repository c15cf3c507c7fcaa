/*
 * What spaces and change requests contain. Decisions of this emulator: a change request contains what the space did
 * when it was created or last updated, and what was changed in it since; every change makes a new revision, of which
 * only the latest can be read, as no operation names another.
 */

import { found } from '../model/answers.ts';
import type { Context } from '../model/operation.ts';
import type { Store } from '../model/store.ts';
import type { SpaceRecord } from '../spaces/records.ts';
import { spaceById } from '../spaces/views.ts';
import { requireChangeRequest } from './change-request.ts';
import type { ChangeRequestRecord, Content, FileRecord, PageRecord, RevisionRecord } from './records.ts';

/** What has content of its own: a space, or a change request in it. */
export interface Place {
  readonly space: SpaceRecord;
  readonly changeRequest?: ChangeRequestRecord | undefined;
}

/** What the space contains. */
export function spaceContent(store: Store, space: SpaceRecord): Content {
  const bySeq = (a: { readonly seq: number }, b: { readonly seq: number }) => a.seq - b.seq;
  return {
    pages: store.pages.by('space', space.id).toSorted(bySeq),
    files: store.files.by('space', space.id).toSorted(bySeq),
    reusableContents: store.reusableContents.by('space', space.id).toSorted(bySeq),
    variables: space.variables ?? {},
  };
}

/** What a change request began with, and what was made of it. */
export interface Sides {
  readonly base: Content;
  readonly head: Content;
}

/** Both sides of a change request. One of a state that knew no content has the space's. */
export function sidesOf(store: Store, changeRequest: ChangeRequestRecord, space: SpaceRecord): Sides {
  const own = store.changeRequestContents.get(changeRequest.id);
  const base = store.snapshots.get(own?.base ?? '')?.content ?? spaceContent(store, space);
  return { base, head: own?.head ?? base };
}

/** What is in that place. */
export function contentOf(store: Store, { space, changeRequest }: Place): Content {
  return changeRequest === undefined ? spaceContent(store, space) : sidesOf(store, changeRequest, space).head;
}

/** Bases a change request on what the space contains now; `head` is what it makes of that, where it does. */
export function rebase(store: Store, { id, seq }: ChangeRequestRecord, space: SpaceRecord, head?: Content): void {
  if (store.snapshots.get(space.revision) === undefined) {
    store.snapshots.put({ id: space.revision, seq, content: spaceContent(store, space) });
  }
  store.changeRequestContents.put({ id, seq, base: space.revision, head });
}

/** The id of the place's latest revision. */
export function revisionOf({ space, changeRequest }: Place): string {
  return changeRequest?.revision ?? space.revision;
}

/** Remembers that a revision followed on others, and how. */
export function addRevision(store: Store, revision: Omit<RevisionRecord, 'id' | 'seq'>): string {
  return store.revisions.put({ ...store.identify('rev'), ...revision }).id;
}

/** What `replace` needs of a table. */
interface BySpace<R> {
  by(index: 'space', key: string): readonly R[];
  get(id: string): R | undefined;
  put(record: R): R;
  remove(id: string): boolean;
}

/** Makes the table's records of the space these and no others. */
function replace<R extends { readonly id: string }>(table: BySpace<R>, space: string, records: readonly R[]): void {
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

/** Gives the space that content and makes it the revision. */
export function putSpaceContent(
  store: Store,
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

/** Gives a copy of a space copies of what that contains. */
export function copyContent(store: Store, from: SpaceRecord, to: SpaceRecord): void {
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

/**
 * Path parameters of both families of content: of a space and of a change request.
 * Source: docs/platform-notes.md#content
 */
export interface ContentParams {
  readonly spaceId: string;
  readonly changeRequestId?: string;
  readonly pageId?: string;
  readonly fileId?: string;
}

/** One of the two families: its paths begin alike, and its operations are named alike. */
export interface ContentFamily {
  readonly base: '/spaces/{spaceId}' | '/spaces/{spaceId}/change-requests/{changeRequestId}';
  readonly name: 'Space' | 'ChangeRequest';
}

export const CONTENT_FAMILIES: readonly ContentFamily[] = [
  { base: '/spaces/{spaceId}', name: 'Space' },
  { base: '/spaces/{spaceId}/change-requests/{changeRequestId}', name: 'ChangeRequest' },
];

/** What the path names, or 404. */
export function placeAt({ store }: Pick<Context, 'store'>, params: ContentParams): Place {
  const space = spaceById(store, params.spaceId);
  return params.changeRequestId === undefined
    ? { space }
    : {
        space,
        changeRequest: requireChangeRequest({ store, params: { ...params, changeRequestId: params.changeRequestId } }),
      };
}

/** The page that the path names, or 404. */
export function pageAt({ store }: Pick<Context, 'store'>, place: Place, id: string): PageRecord {
  return found(
    contentOf(store, place).pages.find((page) => page.id === id),
    'Page',
    id,
  );
}

/** The file that the path names, or 404. */
export function fileAt({ store }: Pick<Context, 'store'>, place: Place, id: string): FileRecord {
  return found(
    contentOf(store, place).files.find((file) => file.id === id),
    'File',
    id,
  );
}
