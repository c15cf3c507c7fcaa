import type { ClusterIssue, IssueCluster } from '../model/cluster.ts';
import { cut, oneLine, webUrl } from '../model/text-sanitizing.ts';
import { pickRepresentatives } from './representatives.ts';

/** Longest query, in characters. Source: docs/platform-notes.md#limits */
const MAX_QUERY_LENGTH = 512;
/** Maximum number of issue titles in a query: more would outweigh the label. */
const MAX_TITLES = 5;

/** Placeholder that redaction inserts for private data; useless in a search. */
const PLACEHOLDER = /\[[A-Z][A-Z0-9_]*_\d+\]/g;

/** Builds the search query from the cluster's label and the titles of its most representative issues. */
export function buildSearchQuery(cluster: IssueCluster, issues: readonly ClusterIssue[]): string {
  const titles = pickRepresentatives(issues, issues.length).map(({ title }) => oneLine(title));
  const texts = [oneLine(cluster.label), ...titles].map((text) => oneLine(text.replaceAll(PLACEHOLDER, ' ')));
  const words = [...new Set(texts.filter((text) => text !== ''))];
  return cut(words.slice(0, MAX_TITLES + 1).join(' '), MAX_QUERY_LENGTH, true).replace(/…$/, '');
}

/** Search result for a space, as returned by the client, best first. */
export interface SearchAnswer {
  readonly id: string;
  readonly title?: string | null | undefined;
  readonly pages?:
    | readonly {
        readonly id: string;
        readonly title?: string | null | undefined;
        readonly path?: string | null | undefined;
        readonly urls?: Readonly<Record<string, string | null | undefined>> | null | undefined;
      }[]
    | null
    | undefined;
}

/** Page found by a search. */
export interface RelatedPage {
  readonly id: string;
  readonly title: string;
  readonly url: string | null;
  /** Title of its space. */
  readonly space: string;
}

/** Space with its score: the sum of the reciprocal ranks of its results. */
export interface RankedSpace {
  readonly id: string;
  readonly title: string;
  readonly score: number;
  readonly pages: readonly RelatedPage[];
}

/**
 * Ranks the spaces of search results, best first. The platform returns an order without scores, so a space at position
 * n gets 1/n. Each of its pages at position m adds 1/(n+m), so that a space with many matching pages can rank above the
 * space before it. Equal scores keep their order.
 */
export function rankSpaces(results: readonly SearchAnswer[]): readonly RankedSpace[] {
  const spaces = new Map<string, { title: string; score: number; pages: RelatedPage[] }>();
  for (const [place, result] of results.entries()) {
    const title = oneLine(result.title ?? '');
    const space = spaces.get(result.id) ?? { title, score: 0, pages: [] };
    spaces.set(result.id, space);
    space.score += 1 / (place + 1);
    for (const [index, page] of (result.pages ?? []).entries()) {
      space.score += 1 / (place + index + 2);
      const url = webUrl(page.urls?.app) ?? webUrl(page.urls?.published);
      const name = oneLine(page.title ?? '') || oneLine(page.path ?? '') || page.id;
      space.pages.push({ id: page.id, title: name, url, space: title });
    }
  }
  return [...spaces].map(([id, space]) => ({ id, ...space })).sort((a, b) => b.score - a.score);
}

/** Picks up to `most` pages: those of the chosen space first, then those of the others. */
export function pickRelatedPages(ranked: readonly RankedSpace[], space: string, most: number): readonly RelatedPage[] {
  const own = ranked.filter(({ id }) => id === space);
  const others = ranked.filter(({ id }) => id !== space);
  const pages = [...own, ...others].flatMap((found) => found.pages);
  return [...new Map(pages.map((page) => [page.id, page])).values()].slice(0, most);
}
