import type { Context } from '../operation.ts';
import type { PageRecord } from '../records.ts';
import type { PageHit, PageSection } from '../search.ts';
import { placeKey } from '../store.ts';

/** A section of a search result shows so many characters of its text. */
const EXCERPT = 300;

/** The page right above in the tree: the longest other path that this one begins with. */
function parentOf({ store }: Context, page: PageRecord): PageRecord | undefined {
  const parts = page.path.split('/');
  for (let length = parts.length - 1; length > 0; length -= 1) {
    const parent = store.pages.one('place', placeKey(page.space, parts.slice(0, length).join('/')));
    if (parent !== undefined) {
      return parent;
    }
  }
  return undefined;
}

function ancestorsOf(context: Context, page: PageRecord): PageRecord[] {
  const parent = parentOf(context, page);
  return parent === undefined ? [] : [...ancestorsOf(context, parent), parent];
}

function appUrl(context: Context, page: PageRecord): string {
  return `${context.base}/app/s/${page.space}/${page.path}`;
}

/** The space's pages as a tree (platform API, Content objects: Page). */
export function viewPages(context: Context, space: string): unknown[] {
  const children = Map.groupBy(context.store.pages.by('space', space), (page) => parentOf(context, page)?.id);
  const view = (page: PageRecord): unknown => ({
    id: page.id,
    title: page.title,
    type: 'document',
    slug: page.path.split('/').at(-1),
    path: page.path,
    description: page.description,
    createdAt: page.createdAt,
    updatedAt: page.updatedAt,
    urls: { app: appUrl(context, page) },
    pages: (children.get(page.id) ?? []).map(view),
  });
  return (children.get(undefined) ?? []).map(view);
}

/** A page as search shows it (platform API, Other shapes: Search result item). */
export function viewPageHit(context: Context, { page, sections }: PageHit): unknown {
  return {
    id: page.id,
    title: page.title,
    path: page.path,
    sections: sections.map((section) => viewSection(context, page, section)),
    ancestors: ancestorsOf(context, page).map((ancestor) => ({ title: ancestor.title })),
    urls: { app: appUrl(context, page) },
  };
}

function viewSection(context: Context, page: PageRecord, section: PageSection): unknown {
  const anchor = section.title === '' ? '' : `#${anchorOf(section.title)}`;
  return {
    id: section.id,
    title: section.title,
    path: `${page.path}${anchor}`,
    body: [...section.body].slice(0, EXCERPT).join(''),
    urls: { app: `${appUrl(context, page)}${anchor}` },
  };
}

function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}
