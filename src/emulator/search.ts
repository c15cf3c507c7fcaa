/*
 * Search: pages by the words they have in common with a query. A decision of this emulator: the platform does not say
 * how it ranks. A word counts for more the fewer pages have it, and in a title for more than in the text; what no page
 * has counts for nothing, so that a long query finds what it can. Of a page's sections those come first that say most.
 */
import type { PageRecord } from './content-records.ts';
import { stems } from './ticket-text.ts';

/** A stretch of a page below one of its headings; the first may have none. */
export interface PageSection {
  readonly id: string;
  readonly title: string;
  readonly body: string;
}

/** A page that has words of the query, and those of its sections that do, the best first. */
export interface PageHit {
  readonly page: PageRecord;
  readonly score: number;
  readonly sections: readonly PageSection[];
}

const WEIGHTS = { title: 4, heading: 2, body: 1 };

/** The page's Markdown by its headings. */
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

/** How much one word of the query says for the page: once for each place it stands in. */
function weightIn({ title, sections }: Read, word: string): number {
  return (
    (title.has(word) ? WEIGHTS.title : 0) +
    (sections.some((section) => section.heading.has(word)) ? WEIGHTS.heading : 0) +
    (sections.some((section) => section.body.has(word)) ? WEIGHTS.body : 0)
  );
}

/** Those that have words of the query, the best first; of equally good ones the first. */
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

/** Groups and links have no text; some pages are not to be found. */
export function isSearched(page: PageRecord): boolean {
  return page.noIndex !== true && (page.type ?? 'document') === 'document';
}

/** The pages that have words of the query, the best first; of equally good ones the oldest. */
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
