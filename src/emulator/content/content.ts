/*
 * Content of spaces and change requests. Decisions of this emulator: a change request contains what the space contained
 * when it was created or last updated, with its own changes; every change makes a new revision. Only the latest
 * revision can be read, since no operation names another.
 */

import { found } from '../model/answers.ts';
import { CHANGE_REQUEST, type Context, SPACE } from '../model/operation.ts';
import type { EmulatorStore } from '../model/store.ts';
import type { SpaceRecord } from '../spaces/records.ts';
import { spaceById } from '../spaces/views.ts';
import { requireChangeRequest } from './change-request.ts';
import type { ChangeRequestRecord, Content, FileRecord, PageRecord, RevisionRecord } from './records.ts';

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

/** The content that a change request started from, and its content now. */
export interface ContentPair {
  readonly base: Content;
  readonly head: Content;
}

/** Returns both sides of a change request. In a state without content, both are the space's. */
export function getContentPair(
  store: EmulatorStore,
  changeRequest: ChangeRequestRecord,
  space: SpaceRecord,
): ContentPair {
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

/** Part of a table that `replace` uses. */
interface BySpace<R> {
  by(index: 'space', key: string): readonly R[];
  get(id: string): R | undefined;
  put(record: R): R;
  remove(id: string): boolean;
}

/** Replaces the table's records of the space with these. */
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
export function requireContentOwner({ store }: Pick<Context, 'store'>, params: ContentParams): ContentOwner {
  const space = spaceById(store, params.spaceId);
  const { spaceId, changeRequestId } = params;
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
