/** Edits of the content of a space or change request: by the control interface, and by templates. */

import { createHash } from 'node:crypto';
import type { ContentRef, TemplateParams } from '../documents/content-reference.ts';
import { toAnchor } from '../documents/markdown.ts';
import { ApiError, referenced } from '../model/answers.ts';
import type { Context } from '../model/operation.ts';
import type { EmulatorStore } from '../model/store.ts';
import type { SpaceRecord } from '../spaces/views.ts';
import {
  addRevision,
  type ContentOwner,
  change,
  getContent,
  getRevisionId,
  putSpaceContent,
  rebase,
  refuseMerged,
} from './content.ts';
import { resolveReference, toReference } from './links.ts';
import { createTextContext } from './pages.ts';
import type {
  Content,
  ContentSeed,
  FileRecord,
  FileSeed,
  GitBlob,
  PageRecord,
  PageSeed,
  ReusableRecord,
  ReusableSeed,
} from './records.ts';

/** Parts of the context that an edit uses. */
export type EditContext = Pick<Context, 'store' | 'at'>;

/** The new revision, and the ids of the records that were written, in order. */
export interface Written {
  readonly revision: string;
  readonly pages: readonly string[];
  readonly files: readonly string[];
  readonly reusableContents: readonly string[];
}

interface Edit {
  readonly store: EmulatorStore;
  readonly at: string;
  readonly space: string;
  readonly isGit: boolean;
}

/** Removes the slashes at both ends. */
function trimmed(path: string): string {
  return path.replace(/^\/+|\/+$/g, '');
}

/** Converts a title to a segment of a path. */
function slugOf(title: string): string {
  return toAnchor(title) || 'page';
}

/** Returns the git object id and path of these bytes, for edits that git makes. */
function blob(edit: Edit, path: string, bytes: Buffer): GitBlob | undefined {
  const header = `blob ${bytes.length}\0`;
  return edit.isGit ? { oid: createHash('sha1').update(header).update(bytes).digest('hex'), path } : undefined;
}

function pageOf(edit: Edit, seed: PageSeed, all: readonly PageRecord[]): PageRecord {
  const path = trimmed(seed.path ?? slugOf(seed.title));
  const before = all.find((page) => page.path === path);
  const { body = '', path: _, ...rest } = seed;
  return {
    ...(before === undefined ? edit.store.identify('page') : { id: before.id, seq: before.seq }),
    ...rest,
    space: edit.space,
    path,
    body,
    git: blob(edit, `${path}.md`, Buffer.from(body)),
    createdAt: before?.createdAt ?? edit.at,
    updatedAt: edit.at,
  };
}

function fileOf(edit: Edit, seed: FileSeed, all: readonly FileRecord[]): FileRecord {
  const path = trimmed(seed.path ?? `files/${seed.name}`);
  const before = all.find((file) => file.path === path);
  const bytes = seed.data === undefined ? Buffer.from(seed.text ?? '') : Buffer.from(seed.data, 'base64');
  return {
    ...(before === undefined ? edit.store.identify('file') : { id: before.id, seq: before.seq }),
    space: edit.space,
    name: seed.name,
    path,
    contentType: seed.contentType ?? (seed.data === undefined ? 'text/plain' : 'application/octet-stream'),
    data: bytes.toString('base64'),
    dimensions: seed.dimensions,
    git: blob(edit, path, bytes),
  };
}

function reusableOf(edit: Edit, seed: ReusableSeed, all: readonly ReusableRecord[]): ReusableRecord {
  const before = all.find((reusable) => reusable.title === seed.title);
  return {
    ...(before === undefined ? edit.store.identify('rc') : { id: before.id, seq: before.seq }),
    space: edit.space,
    ...seed,
    git: blob(edit, `includes/${slugOf(seed.title)}.md`, Buffer.from(seed.body)),
  };
}

/** Writes the seeds; an existing record keeps its place. Returns all records, and the ids of the written ones. */
function upsert<R extends { readonly id: string }, S>(
  records: readonly R[],
  seeds: readonly S[],
  make: (seed: S, all: readonly R[]) => R,
): { readonly records: readonly R[]; readonly ids: readonly string[] } {
  let all = records;
  const ids = seeds.map((seed) => {
    const made = make(seed, all);
    const at = all.findIndex((record) => record.id === made.id);
    all = at === -1 ? [...all, made] : all.with(at, made);
    return made.id;
  });
  return { records: all, ids };
}

function without<R extends { readonly id: string }>(records: readonly R[], ids: ReadonlySet<string>): readonly R[] {
  return ids.size === 0 ? records : records.filter((record) => !ids.has(record.id));
}

/** Returns the variables after an edit; null removes a variable. */
function variablesAfter(before: Content['variables'], seed: ContentSeed): Content['variables'] {
  const entries = Object.entries({ ...before, ...seed.variables });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
}

/** Throws a 404 for an id to remove that does not exist. */
function checkRemoved(content: Content, ids: ReadonlySet<string>): void {
  const there = new Set([...content.pages, ...content.files, ...content.reusableContents].map(({ id }) => id));
  const missing = [...ids].find((id) => !there.has(id));
  if (missing !== undefined) {
    throw new ApiError(404, `Content "${missing}" not found`);
  }
}

/**
 * Edits the content of a space or change request as an editor would, or, if the seed has a commit, as a synchronization
 * with git. Removals come first. A page or file with an existing path replaces the existing one, and a reusable content
 * the one with its title. Pages below a removed page move up one level. Throws a 400 for a merged change request, and a
 * 404 if an id to remove does not exist.
 */
export function writeContent(context: EditContext, place: ContentOwner, seed: ContentSeed, by?: string): Written {
  const { store, at } = context;
  const { space, changeRequest } = place;
  if (changeRequest !== undefined) {
    refuseMerged(changeRequest);
  }
  const edit: Edit = { store, at, space: space.id, isGit: seed.git !== undefined };
  const before = getContent(store, place);
  const removed = new Set(seed.remove ?? []);
  checkRemoved(before, removed);
  const pages = upsert(without(before.pages, removed), seed.pages ?? [], (page, all) => pageOf(edit, page, all));
  const files = upsert(without(before.files, removed), seed.files ?? [], (file, all) => fileOf(edit, file, all));
  const reusable = upsert(without(before.reusableContents, removed), seed.reusableContents ?? [], (one, all) =>
    reusableOf(edit, one, all),
  );
  const content: Content = {
    pages: pages.records,
    files: files.records,
    reusableContents: reusable.records,
    variables: variablesAfter(before.variables, seed),
  };
  const parents = [getRevisionId(place)];
  const revision = addRevision(store, { parents, type: 'edits', createdAt: at, git: seed.git });
  putContent(context, place, content, revision, by);
  return { revision, pages: pages.ids, files: files.ids, reusableContents: reusable.ids };
}

function putContent(
  context: EditContext,
  { space, changeRequest }: ContentOwner,
  content: Content,
  revision: string,
  by: string | undefined,
): void {
  const { store } = context;
  if (changeRequest === undefined) {
    putSpaceContent(store, space, content, { revision, at: context.at });
    return;
  }
  const { id, seq } = changeRequest;
  const own = store.changeRequestContents.get(id);
  if (own === undefined) {
    rebase(store, changeRequest, space, content);
  } else {
    store.changeRequestContents.put({ id, seq, base: own.base, head: content });
  }
  const known = changeRequest.contributors ?? [];
  const contributors = by === undefined || known.includes(by) ? known : [...known, by];
  change(context, changeRequest, { revision, contributors });
}

/*
 * Templates. Neither document defines any. Decisions of this emulator: every id is a template, which writes one page
 * with the id as title and one line per content reference, with its name and a link. A target must exist (400), also in
 * the content that receives the page.
 */

interface Template {
  readonly id: string;
  readonly params?: TemplateParams | undefined;
}

/** Returns the app's address of a target outside the space. */
function appAddress(context: Context, space: SpaceRecord, ref: ContentRef): string {
  const app = `${context.base}/app`;
  switch (ref.kind) {
    case 'user':
      return `${app}/u/${ref.user}`;
    case 'collection':
      return `${app}/c/${ref.collection}`;
    case 'openapi':
      return `${app}/o/${space.organization}/openapi/${ref.spec}`;
    case 'url':
      return ref.url;
    default:
      return `${app}/s/${ref.space ?? space.id}`;
  }
}

/** Returns a line of Markdown that links the target. */
function lineFor(context: Context, place: ContentOwner, name: string, ref: ContentRef): string {
  const scope = createTextContext(context, place);
  const field = `body.params.contentRefs.${name}`;
  const target = referenced(resolveReference(context, scope, ref), field, ref.kind, JSON.stringify(ref));
  const isHere = 'space' in target && target.space === place.space.id;
  if (target.kind === 'reusable-content' && isHere) {
    return `{% include "${target.reusable.title}" %}`;
  }
  if (target.kind === 'page' && isHere) {
    return `[${name}](</${target.page.path}${target.anchor === undefined ? '' : `#${target.anchor}`}>)`;
  }
  if (target.kind === 'file' && isHere) {
    return `[${name}](</${target.file.path}>)`;
  }
  return `[${name}](<${appAddress(context, place.space, toReference(target))}>)`;
}

/** Returns the page of a template without writing it. Throws a 400 if a target does not exist. */
export function templatePage(context: Context, place: ContentOwner, template: Template): PageSeed {
  const refs = Object.entries(template.params?.contentRefs ?? {});
  const body = refs.map(([name, ref]) => lineFor(context, place, name, ref)).join('\n\n');
  return { title: template.id, body };
}
