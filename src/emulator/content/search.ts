/**
 * Search for pages by the words of a query. Decision of this emulator, since the platform does not document its
 * ranking: rare words weigh more than common ones, and titles more than text; a word that no page has is ignored, so
 * that long queries also find pages. The best sections of a page come first.
 */

import { toAnchor } from '../documents/markdown.ts';
import { stems } from '../documents/stems.ts';
import { type ApiOperation, type Context, ORGANIZATION, operation, SPACE } from '../model/operation.ts';
import { list } from '../model/paging.ts';
import { listQuery, text } from '../model/schema.ts';
import { placeKey } from '../model/store.ts';
import { requireOrganization } from '../organizations/people.ts';
import { requireSpace } from '../spaces/views.ts';
import { spaceContent } from './content.ts';
import { findParent, renderForReaders } from './pages.ts';
import type { PageRecord } from './records.ts';

/** Part of a page below one of its headings; the first may have no heading. */
export interface PageSection {
  readonly id: string;
  readonly title: string;
  readonly body: string;
}

/** Search result: a page, and its sections that match, the best first. */
export interface PageHit {
  readonly page: PageRecord;
  readonly score: number;
  readonly sections: readonly PageSection[];
}

const WEIGHTS = { title: 4, heading: 2, body: 1 };

/** Splits a page's Markdown at its headings. */
function sectionsOf(page: PageRecord): PageSection[] {
  const sections: { title: string; lines: string[] }[] = [{ title: '', lines: [] }];
  let isCode = false;
  for (const line of page.body.split('\n')) {
    isCode = /^\s*(?:```|~~~)/.test(line) ? !isCode : isCode;
    const heading = isCode ? null : /^#{1,6}\s+(.+?)\s*#*$/.exec(line);
    if (heading === null) {
      sections.at(-1)?.lines.push(line);
    } else {
      sections.push({ title: heading[1] ?? '', lines: [] });
    }
  }
  return sections
    .map(({ title, lines }, at) => ({ id: `${page.id}-${at}`, title, body: lines.join('\n').trim() }))
    .filter((section) => section.title !== '' || section.body !== '');
}

interface Read {
  readonly page: PageRecord;
  readonly title: ReadonlySet<string>;
  readonly sections: readonly {
    readonly section: PageSection;
    readonly heading: ReadonlySet<string>;
    readonly body: ReadonlySet<string>;
  }[];
}

function read(page: PageRecord): Read {
  const sections = sectionsOf(page).map((section) => ({
    section,
    heading: new Set(stems(section.title)),
    body: new Set(stems(section.body)),
  }));
  return { page, title: new Set(stems(`${page.title} ${page.description ?? ''}`)), sections };
}

/** Weight of a query word for a page: once for each place where it occurs. */
function weightIn({ title, sections }: Read, word: string): number {
  return (
    (title.has(word) ? WEIGHTS.title : 0) +
    (sections.some((section) => section.heading.has(word)) ? WEIGHTS.heading : 0) +
    (sections.some((section) => section.body.has(word)) ? WEIGHTS.body : 0)
  );
}

/** Returns the matching sections, the best first, otherwise in the order of the text. */
function bestSections(page: Read, words: readonly string[], rarity: ReadonlyMap<string, number>): PageSection[] {
  const scored = page.sections.map(({ section, heading, body }) => {
    const weight = (word: string) => (heading.has(word) ? WEIGHTS.heading : 0) + (body.has(word) ? WEIGHTS.body : 0);
    return { section, score: words.reduce((sum, word) => sum + weight(word) * (rarity.get(word) ?? 0), 0) };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ section }) => section);
}

/** Reports whether search includes the page: groups, links and pages with `noIndex` are left out. */
export function isSearched(page: PageRecord): boolean {
  return page.noIndex !== true && (page.type ?? 'document') === 'document';
}

/** Returns the matching pages, the best first, otherwise the oldest first. */
export function searchPages(pages: readonly PageRecord[], query: string): PageHit[] {
  const words = [...new Set(stems(query))];
  const all = pages.filter(isSearched).map(read);
  const rarity = new Map(
    words.map((word) => {
      const having = all.filter((page) => weightIn(page, word) > 0).length;
      return [word, having === 0 ? 0 : Math.log(1 + all.length / having)];
    }),
  );
  return all
    .map((candidate) => ({
      page: candidate.page,
      score: words.reduce((sum, word) => sum + weightIn(candidate, word) * (rarity.get(word) ?? 0), 0),
      sections: bestSections(candidate, words, rarity),
    }))
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score || a.page.seq - b.page.seq);
}

/** An empty query is rejected, since it is required. Source: docs/platform-notes.md#limits */
const searchQuery = listQuery.extend({ query: text(1, 512) });

/** Number of pages per space in the search of an organization. */
const PAGES_PER_SPACE = 10;

/** Sort key of a search result: the best first. */
const best = (hit: PageHit | undefined) => -(hit?.score ?? 0);

/** Operations that search pages. Source: docs/platform-notes.md#search */
export const searchOperations: readonly ApiOperation[] = [
  operation('searchOrganization', 'GET', `${ORGANIZATION}/search`, { query: searchQuery }, (call) => {
    const { store } = call;
    const organization = requireOrganization(call);
    const spaces = store.spaces.by('organization', organization.id);
    const hits = searchPages(
      spaces.flatMap((space) => renderForReaders(spaceContent(store, space))),
      call.query.query,
    );
    const bySpace = Map.groupBy(hits, (hit) => hit.page.space);
    return list(call, {
      items: spaces
        .flatMap((space) => ({ space, pages: bySpace.get(space.id) ?? [] }))
        .filter((item) => item.pages.length > 0),
      key: ({ space, pages }) => [best(pages[0]), space.seq],
      view: (_, { space, pages }) => ({
        id: space.id,
        title: space.title,
        pages: pages.slice(0, PAGES_PER_SPACE).map((hit) => viewPageHit(call, hit)),
      }),
    });
  }),
  operation('searchSpace', 'GET', `${SPACE}/search`, { query: searchQuery }, (call) => {
    const space = requireSpace(call);
    return list(call, {
      items: searchPages(renderForReaders(spaceContent(call.store, space)), call.query.query),
      key: (hit) => [best(hit), hit.page.seq],
      view: viewPageHit,
    });
  }),
];

/** Number of characters of a section in a search result. */
const EXCERPT = 300;

function ancestorsOf(context: Context, page: PageRecord): PageRecord[] {
  const parent = findParent(page, (path) => context.store.pages.one('place', placeKey(page.space, path)));
  return parent === undefined ? [] : [...ancestorsOf(context, parent), parent];
}

/** A page as a search result. Source: docs/platform-notes.md#search */
function viewPageHit(context: Context, { page, sections }: PageHit): unknown {
  return {
    id: page.id,
    title: page.title,
    path: page.path,
    sections: sections.map((section) => viewSection(context, page, section)),
    ancestors: ancestorsOf(context, page).map((ancestor) => ({ title: ancestor.title })),
    urls: { app: searchedAt(context, page) },
  };
}

function searchedAt(context: Context, page: PageRecord): string {
  return `${context.base}/app/s/${page.space}/${page.path}`;
}

function viewSection(context: Context, page: PageRecord, section: PageSection): unknown {
  const anchor = section.title === '' ? '' : `#${toAnchor(section.title)}`;
  return {
    id: section.id,
    title: section.title,
    path: `${page.path}${anchor}`,
    body: [...section.body].slice(0, EXCERPT).join(''),
    urls: { app: `${searchedAt(context, page)}${anchor}` },
  };
}
