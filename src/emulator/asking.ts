/*
 * Answers of a site's assistant. Decisions of this emulator, since the platform does not document how it answers: an
 * answer is made of the first sentences of the sections of up to three pages that search ranks first, and the follow-up
 * questions come from the next pages. It quotes the pages, so nothing is invented. Source: docs/platform-notes.md#ask
 */
import type { PageRecord } from './content-records.ts';
import { type PageHit, searchPages } from './search.ts';

/** An answer as it is so far, or as it ends. */
export interface Answering {
  /** Markdown; absent while nothing is said yet. */
  readonly text?: string | undefined;
  readonly sources: readonly PageHit[];
  readonly followups: readonly string[];
}

const SOURCES = 3;
const FOLLOWUPS = 3;
/** Words of a page that are told. */
const TOLD = 60;
/** How many growing pieces an answer comes in, besides the first and the last. */
const PIECES = 5;

/** The beginning of what the page says about it: whole sentences where they are short enough. */
function tell({ page, sections }: PageHit): string {
  const body = sections.find((section) => section.body !== '')?.body ?? page.description ?? '';
  const words = body.split(/\s+/).filter((word) => word !== '');
  const told = words.slice(0, TOLD).join(' ');
  const sentences = words.length > TOLD ? /^.*[.!?](?= )/s.exec(told)?.[0] : undefined;
  const text = sentences ?? (words.length > TOLD ? `${told} …` : told);
  return text === '' ? `There is a page about it: **${page.title}**.` : `**${page.title}**: ${text}`;
}

function askOn(pages: readonly PageRecord[], used: readonly PageHit[]): string[] {
  const known = new Set(used.map((hit) => hit.page.id));
  const others = pages.filter((page) => !known.has(page.id));
  return [...new Set(others.map((page) => page.title))]
    .slice(0, FOLLOWUPS)
    .map((title) => `What is there about ${title}?`);
}

/** The whole answer that pages give to a question. */
function answerTo(question: string, pages: readonly PageRecord[]): Answering {
  const hits = searchPages(pages, question);
  const sources = hits.slice(0, SOURCES);
  const next = [...hits.map((hit) => hit.page), ...pages];
  return {
    text: sources.length === 0 ? 'The documentation does not say anything about that.' : sources.map(tell).join('\n\n'),
    sources,
    followups: askOn(next, sources),
  };
}

/**
 * The answer as it grows: first nothing but where it will come from, then ever more of its words, and at last all of it
 * with what one could ask next.
 */
export function answersTo(question: string, pages: readonly PageRecord[]): Answering[] {
  const whole = answerTo(question, pages);
  const words = whole.text?.split(/(?<=\s)/) ?? [];
  const step = Math.max(1, Math.ceil(words.length / (PIECES + 1)));
  const growing: Answering[] = [];
  for (let length = step; length < words.length; length += step) {
    growing.push({ text: words.slice(0, length).join('').trimEnd(), sources: whole.sources, followups: [] });
  }
  return [{ sources: whole.sources, followups: [] }, ...growing, whole];
}
