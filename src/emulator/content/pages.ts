// Views of pages and files.

import type { ContentRef } from '../documents/content-reference.ts';
import type { Context } from '../model/operation.ts';
import { pick } from '../model/patch.ts';
import { type ContentOwner, getContent } from './content.ts';
import { renderDocument, renderMarkdown, type TextContext, type TextOptions } from './page-text.ts';
import type { Content, FileRecord, GitBlob, PageRecord } from './records.ts';

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
export function getAppAddress(context: Addressing, { space, changeRequest }: ContentOwner): string {
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
export function viewGit(git: GitBlob | undefined, options: { readonly metadata: boolean }): unknown {
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

function childrenOf({ pages }: Content): Map<string | undefined, PageRecord[]> {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  return Map.groupBy(pages, (page) => findParent(page, (path) => byPath.get(path))?.id);
}

/** Renders the pages of a space or change request as a tree. Source: docs/platform-notes.md#content */
export function viewPages(
  context: Context,
  place: ContentOwner,
  options: PageOptions = DEFAULT_PAGE_OPTIONS,
): unknown[] {
  const children = childrenOf(getContent(context.store, place));
  const view = viewer(context, place, options);
  const viewWithin = (page: PageRecord): unknown => view(page, (children.get(page.id) ?? []).map(viewWithin));
  return (children.get(undefined) ?? []).map(viewWithin);
}

/** Renders a page with its child pages. */
export function viewPage(context: Context, place: ContentOwner, page: PageRecord, options: PageOptions): unknown {
  const children = childrenOf(getContent(context.store, place));
  const view = viewer(context, place, options);
  const viewWithin = (one: PageRecord): unknown => view(one, (children.get(one.id) ?? []).map(viewWithin));
  return viewWithin(page);
}

/** Renders a page without its child pages, as in a reference. */
export function viewPageWithoutChildren(context: Context, place: ContentOwner, page: PageRecord): unknown {
  return viewer(context, place, DEFAULT_PAGE_OPTIONS)(page, []);
}
