/**
 * References of pages. Decisions of this emulator: a link names a page or a file by its path, relative to its own page
 * or absolute with a leading slash; `.md` after a page's path is optional, and `#` names a heading. A link to a missing
 * page, file or heading is broken. An address with a scheme is ok, since no address is fetched, and in-app if it leads
 * into the platform's own app. Images and included contents are dependencies; everything else is a reference.
 */
import type { Nodes, Root } from 'mdast';
import type { ContentRef } from '../documents/content-reference.ts';
import { findAnchors, INCLUDE, matchesOutsideCode, parseMarkdown, walkNodes } from '../documents/markdown.ts';
import type { Context } from '../model/operation.ts';
import type { SpecRecord } from '../openapi/openapi.ts';
import type { UserRecord } from '../organizations/people.ts';
import type { CollectionRecord, SpaceRecord } from '../spaces/views.ts';
import { spaceContent } from './content.ts';
import type { Content, FileRecord, PageRecord, ReusableRecord } from './records.ts';

/** Statuses of a link. Source: docs/platform-notes.md#links-and-backlinks */
export const LINK_STATUSES = ['ok', 'broken', 'in-app'] as const;
type LinkStatus = (typeof LINK_STATUSES)[number];

/** Target of a reference. `space` is the space that contains it. */
export type Target =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'page'; readonly space: string; readonly page: PageRecord; readonly anchor?: string | undefined }
  | { readonly kind: 'file'; readonly space: string; readonly file: FileRecord }
  | { readonly kind: 'reusable-content'; readonly space: string; readonly reusable: ReusableRecord }
  | { readonly kind: 'user'; readonly user: UserRecord }
  | { readonly kind: 'collection'; readonly collection: CollectionRecord }
  | { readonly kind: 'space'; readonly record: SpaceRecord }
  | { readonly kind: 'openapi'; readonly spec: SpecRecord };

/** A reference of a page. */
export interface PageReference {
  readonly status: LinkStatus;
  readonly relation: 'reference' | 'dependsOn';
  /** The address, if the reference is broken. */
  readonly target: Target;
}

/** The content that references are looked up in, and the address of the platform's app. */
export interface ReferenceContext {
  readonly content: Content;
  readonly space: string;
  readonly app: string;
}

/** Resolves a path that is relative to a page. */
function pathFrom(page: PageRecord, path: string): string {
  const parts = path.startsWith('/') ? [] : page.path.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..') {
      parts.pop();
    } else if (part !== '' && part !== '.') {
      parts.push(part);
    }
  }
  return parts.join('/');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function broken(url: string): Pick<PageReference, 'status' | 'target'> {
  return { status: 'broken', target: { kind: 'url', url } };
}

function pageReference(
  scope: ReferenceContext,
  page: PageRecord,
  anchor: string,
): Pick<PageReference, 'status' | 'target'> {
  const isThere = anchor === '' || findAnchors(parseMarkdown(page.body)).has(decoded(anchor));
  const target: Target = { kind: 'page', space: scope.space, page, anchor: anchor === '' ? undefined : anchor };
  return { status: isThere ? 'ok' : 'broken', target };
}

/** Resolves an address on a page to a target and a status. */
export function resolve(
  scope: ReferenceContext,
  page: PageRecord,
  address: string,
): Pick<PageReference, 'status' | 'target'> {
  if (/^[a-z][a-z0-9+.-]*:/i.test(address)) {
    const isInApp = address === scope.app || address.startsWith(`${scope.app}/`);
    return { status: isInApp ? 'in-app' : 'ok', target: { kind: 'url', url: address } };
  }
  const [before = '', anchor = ''] = address.split('#', 2);
  const path = decoded(before.split('?')[0] ?? '');
  if (path === '') {
    return anchor === '' ? broken(address) : pageReference(scope, page, anchor);
  }
  const whole = pathFrom(page, path);
  const file = scope.content.files.find((candidate) => candidate.path === whole);
  if (file !== undefined) {
    return { status: 'ok', target: { kind: 'file', space: scope.space, file } };
  }
  const found = scope.content.pages.find((candidate) => [whole, whole.replace(/\.md$/, '')].includes(candidate.path));
  return found === undefined
    ? broken(`/${whole}${anchor === '' ? '' : `#${anchor}`}`)
    : pageReference(scope, found, anchor);
}

function definitionsOf(tree: Root): ReadonlyMap<string, string> {
  const pairs = [...walkNodes(tree)].flatMap((node) =>
    node.type === 'definition' ? [[node.identifier, node.url] as const] : [],
  );
  return new Map(pairs);
}

/** Returns the address of a link or image node; undefined for other nodes. */
function addressOf(node: Nodes, definitions: ReadonlyMap<string, string>): string | undefined {
  if (node.type === 'link' || node.type === 'image') {
    return node.url;
  }
  return node.type === 'linkReference' || node.type === 'imageReference' ? definitions.get(node.identifier) : undefined;
}

/** Returns all references of a page, in the order of its text. */
export function findReferences(context: Context, scope: ReferenceContext, page: PageRecord): PageReference[] {
  if (page.type === 'link') {
    const target = resolveReference(context, scope, page.target as ContentRef, page);
    const found = target === undefined ? broken(JSON.stringify(page.target)) : { status: 'ok' as const, target };
    return [{ ...found, relation: 'reference' }];
  }
  const tree = parseMarkdown(page.body);
  const definitions = definitionsOf(tree);
  const links = [...walkNodes(tree)].flatMap((node): PageReference[] => {
    const address = addressOf(node, definitions);
    const relation = node.type.startsWith('image') ? 'dependsOn' : 'reference';
    return address === undefined ? [] : [{ ...resolve(scope, page, address), relation }];
  });
  const includes = matchesOutsideCode(page.body, INCLUDE).map(({ inner }): PageReference => {
    const reusable = scope.content.reusableContents.find(({ title }) => title === inner);
    return reusable === undefined
      ? { ...broken(inner), relation: 'dependsOn' }
      : { status: 'ok', target: { kind: 'reusable-content', space: scope.space, reusable }, relation: 'dependsOn' };
  });
  return [...links, ...includes];
}

/** Converts a target to a content reference; a broken one is its address. */
export function toReference(target: Target): ContentRef {
  switch (target.kind) {
    case 'url':
      return { kind: 'url', url: target.url };
    case 'page':
      return target.anchor === undefined
        ? { kind: 'page', page: target.page.id, space: target.space }
        : { kind: 'anchor', anchor: target.anchor, page: target.page.id, space: target.space };
    case 'file':
      return { kind: 'file', file: target.file.id, space: target.space };
    case 'reusable-content':
      return { kind: 'reusable-content', reusableContent: target.reusable.id, space: target.space };
    case 'user':
      return { kind: 'user', user: target.user.id };
    case 'collection':
      return { kind: 'collection', collection: target.collection.id };
    case 'space':
      return { kind: 'space', space: target.record.id };
    case 'openapi':
      return { kind: 'openapi', spec: target.spec.slug };
  }
}

/** Returns the content of the named space if it is in the same organization; of the own space if none is named. */
function contentNamed(context: Context, scope: ReferenceContext, space: string | undefined): Content | undefined {
  if (space === undefined || space === scope.space) {
    return scope.content;
  }
  const [here, there] = [scope.space, space].map((id) => context.store.spaces.get(id));
  const isNear = there?.deletedAt === undefined && there?.organization === here?.organization;
  return there !== undefined && isNear ? spaceContent(context.store, there) : undefined;
}

/**
 * Resolves a content reference; undefined if the target does not exist. An anchor without a page belongs to its own
 * page.
 */
export function resolveReference(
  context: Context,
  scope: ReferenceContext,
  ref: ContentRef,
  on?: PageRecord,
): Target | undefined {
  const { store } = context;
  const organization = store.spaces.get(scope.space)?.organization ?? '';
  switch (ref.kind) {
    case 'url':
      return ref;
    case 'user': {
      const user = store.members.get(`${organization}/${ref.user}`) && store.users.get(ref.user);
      return user && { kind: 'user', user };
    }
    case 'collection': {
      const collection = store.collections.get(ref.collection);
      return collection?.organization === organization ? { kind: 'collection', collection } : undefined;
    }
    case 'space': {
      const record = store.spaces.get(ref.space);
      const isNear = record?.organization === organization && record.deletedAt === undefined;
      return record !== undefined && isNear ? { kind: 'space', record } : undefined;
    }
    case 'openapi': {
      const spec = store.specs.one('slug', `${organization}/${ref.spec}`);
      return spec && { kind: 'openapi', spec };
    }
    case 'tag':
      // A decision of this emulator: contents have no tags.
      return undefined;
    default:
      return within(contentNamed(context, scope, ref.space), ref.space ?? scope.space, ref, on);
  }
}

type InnerRef = Extract<ContentRef, { kind: 'file' | 'page' | 'anchor' | 'reusable-content' }>;

function within(
  content: Content | undefined,
  space: string,
  ref: InnerRef,
  on: PageRecord | undefined,
): Target | undefined {
  switch (ref.kind) {
    case 'file': {
      const file = content?.files.find(({ id }) => id === ref.file);
      return file && { kind: 'file', space, file };
    }
    case 'reusable-content': {
      const reusable = content?.reusableContents.find(({ id }) => id === ref.reusableContent);
      return reusable && { kind: 'reusable-content', space, reusable };
    }
    case 'page':
    case 'anchor': {
      const page = ref.page === undefined ? on : content?.pages.find(({ id }) => id === ref.page);
      return page && { kind: 'page', space, page, anchor: ref.kind === 'anchor' ? ref.anchor : undefined };
    }
  }
}
