/** Views of pages, their texts, files and revisions, and of what pages refer to. */

import type { ContentRef } from '../documents/content-reference.ts';
import { convertFromMarkdown } from '../documents/from-markdown.ts';
import {
  applyReplacements,
  EXPRESSION,
  getSpan,
  INCLUDE,
  matchesOutsideCode,
  parseMarkdown,
  walkNodes,
} from '../documents/markdown.ts';
import type { Context } from '../model/operation.ts';
import { pick } from '../model/patch.ts';
import { viewSpec } from '../openapi/openapi.ts';
import { viewOrganization } from '../organizations/organizations.ts';
import { organizationById, viewUserOf } from '../organizations/people.ts';
import { viewCollection, viewSpace } from '../spaces/views.ts';
import { type ContentOwner, getContent, getRevisionId, viewChangeRequest } from './content.ts';
import { type ReferenceContext, resolve, type Target, toReference } from './links.ts';
import type { Content, FileRecord, GitBlob, PageRecord, ReusableRecord } from './records.ts';

/*
 * Text of a page in the requested form (`format`, `evaluated`, `dereferenced`). Decisions of this emulator:
 * `space.vars.NAME` and `page.vars.NAME` are deterministic expressions. Any other has no value: it becomes empty, or
 * stays when only deterministic expressions are evaluated. Dereferencing inserts included content and turns links into
 * URLs. Source: docs/platform-notes.md#content
 */

/** Requested form of a page's text. */
export interface TextOptions {
  readonly evaluated: 'true' | 'false' | 'deterministic-only';
  readonly dereferenced: 'true' | 'false' | 'reusable-contents';
}

/** Context in which a text is rendered. */
export interface TextContext extends ReferenceContext {
  /** Returns the public address of a page or file; undefined for other targets. */
  addressOf(ref: ContentRef): string | undefined;
}

function withIncludes(content: Content, body: string, within: readonly string[] = []): string {
  const replacements = matchesOutsideCode(body, INCLUDE).flatMap(({ start, end, inner }) => {
    const reusable = content.reusableContents.find(({ title }) => title === inner);
    const isAround = within.includes(inner);
    return reusable === undefined || isAround
      ? []
      : [{ start, end, text: withIncludes(content, reusable.body, [...within, inner]) }];
  });
  return applyReplacements(body, replacements);
}

/** Replaces addresses of pages and files with their public addresses. */
function withAddresses(scope: TextContext, page: PageRecord, body: string): string {
  const replacements = [...walkNodes(parseMarkdown(body))].flatMap((node) => {
    if (node.type !== 'link' && node.type !== 'image' && node.type !== 'definition') {
      return [];
    }
    const address = scope.addressOf(toReference(resolve(scope, page, node.url).target));
    const [start, end] = getSpan(node);
    const opening = body.slice(start, end).lastIndexOf(node.type === 'definition' ? ']:' : '](');
    if (address === undefined || opening === -1) {
      return [];
    }
    const title = node.title ? ` ${JSON.stringify(node.title)}` : '';
    const text = node.type === 'definition' ? `${address}${title}` : `${address}${title})`;
    return [{ start: start + opening + 2, end, text: node.type === 'definition' ? ` ${text}` : text }];
  });
  return applyReplacements(body, replacements);
}

function variableAt(content: Content, page: PageRecord, expression: string): string | undefined {
  const [, scope, name = ''] = /^(space|page)\.vars\.([\p{L}\p{N}_-]+)$/u.exec(expression.trim()) ?? [];
  const variables = scope === 'page' ? page.variables : content.variables;
  return scope !== undefined && variables !== undefined && Object.hasOwn(variables, name) ? variables[name] : undefined;
}

function evaluate(content: Content, page: PageRecord, body: string, isOnlySure: boolean): string {
  const replacements = matchesOutsideCode(body, EXPRESSION).flatMap(({ start, end, inner }) => {
    const value = variableAt(content, page, inner);
    return value === undefined && isOnlySure ? [] : [{ start, end, text: value ?? '' }];
  });
  return applyReplacements(body, replacements);
}

/** Returns the page's Markdown in the requested form. */
export function renderMarkdown(scope: TextContext, page: PageRecord, options: TextOptions): string {
  let body = page.body;
  if (options.dereferenced !== 'false') {
    body = withIncludes(scope.content, body);
  }
  if (options.dereferenced === 'true') {
    body = withAddresses(scope, page, body);
  }
  if (options.evaluated !== 'false') {
    body = evaluate(scope.content, page, body, options.evaluated === 'deterministic-only');
  }
  return body;
}

/** Returns the page as a rich document in the requested form. */
function renderDocument(scope: TextContext, page: PageRecord, options: TextOptions): unknown {
  return convertFromMarkdown(renderMarkdown(scope, page, options), {
    toReference: (address) => toReference(resolve(scope, page, address).target),
    reusable: (title) => {
      const found = scope.content.reusableContents.find((one) => one.title === title);
      return found && { kind: 'reusable-content', reusableContent: found.id, space: scope.space };
    },
  });
}

/** Returns the pages as readers see them: with included content and the values of expressions. */
export function renderForReaders(content: Content): PageRecord[] {
  return content.pages.map((page) => ({
    ...page,
    body: evaluate(content, page, withIncludes(content, page.body), false),
  }));
}

/** Default layout of a page. Source: docs/platform-notes.md#enumerations */
const LAYOUT = {
  width: 'default',
  cover: true,
  coverSize: 'hero',
  title: true,
  description: true,
  tableOfContents: true,
  outline: true,
  pagination: true,
  metadata: true,
};

/** Options for reading a page. Source: docs/platform-notes.md#content */
export interface PageOptions extends TextOptions {
  readonly format: 'markdown' | 'document';
  /** Includes git metadata. */
  readonly metadata: boolean;
  /** Includes computed content. */
  readonly computed: boolean;
}

/** Default options for reading a page. */
export const DEFAULT_PAGE_OPTIONS: PageOptions = {
  format: 'markdown',
  metadata: true,
  computed: true,
  evaluated: 'false',
  dereferenced: 'false',
};

/** Finds the parent page: the one with the longest path that this page's path starts with. */
export function findParent(page: PageRecord, at: (path: string) => PageRecord | undefined): PageRecord | undefined {
  const parts = page.path.split('/');
  for (let length = parts.length - 1; length > 0; length -= 1) {
    const parent = at(parts.slice(0, length).join('/'));
    if (parent !== undefined) {
      return parent;
    }
  }
  return undefined;
}

/** Part of the context that addresses are made from. */
type Addressing = Pick<Context, 'base'>;

/** Returns the address of the app for a space, or for a change request's version of it. */
function getAppAddress(context: Addressing, { space, changeRequest }: ContentOwner): string {
  const change = changeRequest === undefined ? '' : `/~/changes/${changeRequest.number}`;
  return `${context.base}/app/s/${space.id}${change}`;
}

/** Returns the download address of a file, which needs no token. */
function downloadOf(context: Addressing, { changeRequest }: ContentOwner, file: FileRecord): string {
  const change = changeRequest === undefined ? '' : `?changeRequest=${changeRequest.id}`;
  return `${context.base}/app/files/${file.space}/${file.id}/${encodeURIComponent(file.name)}${change}`;
}

/** Returns the context for rendering texts of a space or change request. */
export function createTextContext(context: Addressing & Pick<Context, 'store'>, place: ContentOwner): TextContext {
  const content = getContent(context.store, place);
  const addressOf = (ref: ContentRef) => {
    if (ref.kind === 'file') {
      const file = content.files.find(({ id }) => id === ref.file);
      return file && downloadOf(context, place, file);
    }
    if (ref.kind === 'page' || ref.kind === 'anchor') {
      const page = content.pages.find(({ id }) => id === ref.page);
      return page && `${getAppAddress(context, place)}/${page.path}${ref.kind === 'anchor' ? `#${ref.anchor}` : ''}`;
    }
    return undefined;
  };
  return { content, space: place.space.id, app: `${context.base}/app`, addressOf };
}

/** Git metadata, when requested. Source: docs/platform-notes.md#content */
function viewGit(git: GitBlob | undefined, options: { readonly metadata: boolean }): unknown {
  return options.metadata ? git : undefined;
}

/** File. Source: docs/platform-notes.md#content */
export function viewFile(
  context: Context,
  place: ContentOwner,
  file: FileRecord,
  options: { metadata: boolean },
): unknown {
  return {
    ...pick(file, 'id', 'name', 'contentType', 'dimensions'),
    downloadURL: downloadOf(context, place, file),
    size: Buffer.byteLength(file.data, 'base64'),
    git: viewGit(file.git, options),
  };
}

/** Fields of a page that depend on its type. Source: docs/platform-notes.md#enumerations */
function viewKind(context: Context, place: ContentOwner, scope: TextContext, page: PageRecord, options: PageOptions) {
  if (page.type === 'link') {
    return { kind: 'link', type: 'link', target: page.target, hidden: page.hidden };
  }
  const { hidden, noIndex, noRobotsIndex } = page;
  const where = { slug: page.path.split('/').at(-1), path: page.path, hidden, noIndex, noRobotsIndex };
  if (page.type === 'group') {
    return { kind: 'group', type: 'group', ...where };
  }
  const shown = page.computed !== undefined && !options.computed ? { ...page, body: '' } : page;
  return {
    kind: 'sheet',
    type: 'document',
    ...where,
    description: page.description,
    ...(options.format === 'document'
      ? { document: renderDocument(scope, shown, options) }
      : { markdown: renderMarkdown(scope, shown, options) }),
    urls: { app: `${getAppAddress(context, place)}/${page.path}` },
    layout: LAYOUT,
    variables: page.variables,
    computed: page.computed,
    computedSeed: page.computed === undefined ? undefined : page.id,
    git: viewGit(page.git, options),
  };
}

/** Creates the function that renders a page from its record and the views of its child pages. */
function viewer(context: Context, place: ContentOwner, options: PageOptions) {
  const scope = createTextContext(context, place);
  return (page: PageRecord, below: unknown[]): unknown => ({
    ...pick(page, 'id', 'title', 'emoji', 'icon', 'createdAt', 'updatedAt'),
    ...viewKind(context, place, scope, page, options),
    ...(page.type === 'link' ? {} : { pages: below }),
  });
}

/** Creates the function that renders the pages below a page, or those at the top, as trees. */
function treeViewer(context: Context, place: ContentOwner, options: PageOptions) {
  const { pages } = getContent(context.store, place);
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const children = Map.groupBy(pages, (page) => findParent(page, (path) => byPath.get(path))?.id);
  const view = viewer(context, place, options);
  const viewTree = (page: PageRecord): unknown => view(page, viewBelow(page.id));
  const viewBelow = (id: string | undefined): unknown[] => (children.get(id) ?? []).map(viewTree);
  return { viewTree, viewBelow };
}

/** Renders the pages of a space or change request as a tree. Source: docs/platform-notes.md#content */
export function viewPages(context: Context, place: ContentOwner, options: PageOptions): unknown[] {
  return treeViewer(context, place, options).viewBelow(undefined);
}

/** Renders a page with its child pages. */
export function viewPage(context: Context, place: ContentOwner, page: PageRecord, options: PageOptions): unknown {
  return treeViewer(context, place, options).viewTree(page);
}

/** Returns the space of a target, which may be another than the reference's. */
function placeOf(context: Context, place: ContentOwner, space: string): ContentOwner {
  const other = space === place.space.id ? undefined : context.store.spaces.get(space);
  return other === undefined ? place : { space: other };
}

function locationOf(context: Context, place: ContentOwner) {
  return {
    organization: viewOrganization(context, organizationById(context.store, place.space.organization)),
    space: viewSpace(context, place.space),
    // A decision of this emulator: these lists are empty here, as they would hold the whole content for each reference.
    versionContext: {
      type: 'revision',
      revision: { ...viewFrame(context, place), pages: [], files: [], reusableContents: [] },
    },
  };
}

/** Renders a page that has a reference. Source: docs/platform-notes.md#links-and-backlinks */
export function viewLocation(context: Context, place: ContentOwner, page: PageRecord, anchor?: string): unknown {
  return {
    kind: 'page',
    ...locationOf(context, place),
    page: viewer(context, place, DEFAULT_PAGE_OPTIONS)(page, []),
    internalLocation: anchor === undefined ? undefined : { type: 'anchor', anchor },
  };
}

/** Renders the target of a reference. Source: docs/platform-notes.md#links-and-backlinks */
export function viewTarget(context: Context, place: ContentOwner, target: Target): unknown {
  const organization = () => viewOrganization(context, organizationById(context.store, place.space.organization));
  switch (target.kind) {
    case 'url':
      return { kind: 'url', url: target.url };
    case 'page':
      return viewLocation(context, placeOf(context, place, target.space), target.page, target.anchor);
    case 'file': {
      const within = placeOf(context, place, target.space);
      const file = viewFile(context, within, target.file, { metadata: true });
      return { kind: 'file', ...locationOf(context, within), file };
    }
    case 'reusable-content': {
      const reusableContent = viewReusable(target.reusable, { metadata: true });
      return {
        kind: 'reusable-content',
        ...locationOf(context, placeOf(context, place, target.space)),
        reusableContent,
      };
    }
    case 'user':
      return { kind: 'user', user: viewUserOf(context, target.user.id) };
    case 'collection':
      return {
        kind: 'collection',
        organization: organization(),
        collection: viewCollection(context, target.collection),
      };
    case 'space':
      return { kind: 'space', organization: organization(), space: viewSpace(context, target.record) };
    case 'openapi':
      return { kind: 'openapi', organization: organization(), openAPISpec: viewSpec(context, target.spec) };
  }
}

function viewReusable(reusable: ReusableRecord, options: { readonly metadata: boolean }): unknown {
  return { id: reusable.id, title: reusable.title, git: viewGit(reusable.git, options) };
}

/** Renders a revision without its content. */
function viewFrame(context: Context, place: ContentOwner) {
  const { space, changeRequest } = place;
  const id = getRevisionId(place);
  const record = context.store.revisions.get(id);
  const initial = changeRequest === undefined ? [] : [changeRequest.revisionInitial];
  const merged = context.store.changeRequests.get(record?.mergedFrom ?? '');
  return {
    object: 'revision',
    id,
    parents: record?.parents ?? initial,
    type: record?.type === 'merge' && merged === undefined ? 'edits' : (record?.type ?? 'edits'),
    mergedFrom: merged === undefined ? undefined : viewChangeRequest(context, merged),
    createdAt: record?.createdAt ?? (changeRequest ?? space).createdAt,
    urls: { app: `${getAppAddress(context, place)}/~/revisions/${id}` },
  };
}

/** Revision: the latest of a space or change request, with all its content. Source: docs/platform-notes.md#content */
export function viewRevision(context: Context, place: ContentOwner, options: PageOptions): unknown {
  const { files, reusableContents, variables } = getContent(context.store, place);
  const git = context.store.revisions.get(getRevisionId(place))?.git;
  return {
    ...viewFrame(context, place),
    pages: viewPages(context, place, options),
    files: files.map((file) => viewFile(context, place, file, options)),
    reusableContents: reusableContents.map((reusable) => viewReusable(reusable, options)),
    variables,
    git: git === undefined || !options.metadata ? undefined : { ...git, createdByGitBook: false },
  };
}
