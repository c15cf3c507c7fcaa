/**
 * Answers of a site's assistant. Decisions of this emulator, since the platform does not document how answers are made:
 * an answer quotes the first sentences of the sections of up to three pages that search ranks first, and the follow-up
 * questions come from the next pages. Source: docs/platform-notes.md#ask
 */
import { z } from 'zod';
import { spaceContent } from '../content/content.ts';
import { renderForReaders } from '../content/pages.ts';
import type { PageRecord } from '../content/records.ts';
import { isSearched, type PageHit, searchPages } from '../content/search.ts';
import { convertFromMarkdown } from '../documents/from-markdown.ts';
import { type ApiAnswer, ApiError, referenced, streamed } from '../model/answers.ts';
import { type ApiOperation, type Context, type OperationCall, operation } from '../model/operation.ts';
import { id, text } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import { organizationById } from '../organizations/people.ts';
import { spaceById } from '../spaces/views.ts';
import type { SectionRecord, SiteRecord, SiteSpaceRecord } from './records.ts';
import { siteSpacesIn } from './tree.ts';
import { findPart, requireSite } from './views.ts';

/** A partial or complete answer. */
export interface Answering {
  /** Markdown; absent at the beginning. */
  readonly text?: string | undefined;
  readonly sources: readonly PageHit[];
  readonly followups: readonly string[];
}

const SOURCES = 3;
const FOLLOWUPS = 3;

/** Number of words that are quoted from a page. */
const MAX_EXCERPT_WORDS = 60;

/** Number of pieces of an answer, without the first and the last. */
const PIECES = 5;

/** Returns the beginning of the best section: whole sentences if they are short enough. */
function excerptOf({ page, sections }: PageHit): string {
  const body = sections.find((section) => section.body !== '')?.body ?? page.description ?? '';
  const words = body.split(/\s+/).filter((word) => word !== '');
  const excerpt = words.slice(0, MAX_EXCERPT_WORDS).join(' ');
  const sentences = words.length > MAX_EXCERPT_WORDS ? /^.*[.!?](?= )/s.exec(excerpt)?.[0] : undefined;
  const text = sentences ?? (words.length > MAX_EXCERPT_WORDS ? `${excerpt} …` : excerpt);
  return text === '' ? `There is a page about it: **${page.title}**.` : `**${page.title}**: ${text}`;
}

function askOn(pages: readonly PageRecord[], used: readonly PageHit[]): string[] {
  const known = new Set(used.map((hit) => hit.page.id));
  const others = pages.filter((page) => !known.has(page.id));
  return [...new Set(others.map((page) => page.title))]
    .slice(0, FOLLOWUPS)
    .map((title) => `What is there about ${title}?`);
}

/** Returns the complete answer to a question. */
function answerTo(question: string, pages: readonly PageRecord[]): Answering {
  const hits = searchPages(pages, question);
  const sources = hits.slice(0, SOURCES);
  const next = [...hits.map((hit) => hit.page), ...pages];
  return {
    text:
      sources.length === 0
        ? 'The documentation does not say anything about that.'
        : sources.map(excerptOf).join('\n\n'),
    sources,
    followups: askOn(next, sources),
  };
}

/**
 * Returns the answer as it grows: the sources, then more and more words, and at last everything with follow-up
 * questions.
 */
function answersTo(question: string, pages: readonly PageRecord[]): Answering[] {
  const whole = answerTo(question, pages);
  const words = whole.text?.split(/(?<=\s)/) ?? [];
  const step = Math.max(1, Math.ceil(words.length / (PIECES + 1)));
  const growing: Answering[] = [];
  for (let length = step; length < words.length; length += step) {
    growing.push({ text: words.slice(0, length).join('').trimEnd(), sources: whole.sources, followups: [] });
  }
  return [{ sources: whole.sources, followups: [] }, ...growing, whole];
}

const ASK = '/orgs/{organizationId}/sites/{siteId}/ask';

/** An empty question is rejected, since it is required. Source: docs/platform-notes.md#ask */
const askBody = z.strictObject({
  question: text(1, 512),
  scope: z.discriminatedUnion('mode', [
    z.strictObject({ mode: z.literal('default'), currentSiteSpace: id.optional() }),
    z.strictObject({
      mode: z.literal('specific'),
      siteSpaceIds: z.array(id).min(1, { error: 'must name at least one site space' }),
    }),
    z.strictObject({ mode: z.literal('all') }),
  ]),
  context: z.strictObject({ siteSpaceId: id.optional() }).optional(),
});

type Question = z.output<typeof askBody>;

/** Source: docs/platform-notes.md#filters */
const askQuery = z.strictObject({ format: z.enum(['document', 'markdown']).optional() });
type Format = z.output<typeof askQuery>['format'];

function referencedSiteSpace(store: EmulatorStore, site: SiteRecord, name: string, field: string): SiteSpaceRecord {
  return referenced(findPart(store.siteSpaces, site, name), field, 'site space', name);
}

/**
 * Returns the site space that a section, or a site without sections, shows: the one in the reader's language, or the
 * default.
 */
function shownIn(store: EmulatorStore, place: SectionRecord | SiteRecord, language: string | undefined) {
  const siteSpaces = siteSpacesIn(store, place.id);
  const alike = siteSpaces.find(
    (each) => language !== undefined && store.spaces.get(each.space)?.language === language,
  );
  return alike ?? siteSpaces.find((each) => each.id === place.defaultSiteSpace) ?? siteSpaces[0];
}

/** Returns the site spaces in the scope of the question. Source: docs/platform-notes.md#ask */
function inScope(store: EmulatorStore, site: SiteRecord, scope: Question['scope']): readonly SiteSpaceRecord[] {
  if (scope.mode === 'all') {
    return store.siteSpaces.by('site', site.id);
  }
  if (scope.mode === 'specific') {
    return scope.siteSpaceIds.map((name, at) =>
      referencedSiteSpace(store, site, name, `body.scope.siteSpaceIds.${at}`),
    );
  }
  const reading =
    scope.currentSiteSpace === undefined
      ? []
      : [referencedSiteSpace(store, site, scope.currentSiteSpace, 'body.scope.currentSiteSpace')];
  const language = store.spaces.get(reading[0]?.space ?? '')?.language;
  const places = [site, ...store.sections.by('site', site.id)];
  return [...reading, ...places.flatMap((place) => shownIn(store, place, language) ?? [])];
}

function viewSource({ store }: Context, { page, sections }: PageHit): unknown {
  return {
    type: 'page',
    page: page.id,
    revision: store.spaces.get(page.space)?.revision,
    space: page.space,
    sections: sections.map((section) => section.id),
    reason: 'It has words of the question.',
  };
}

/** Renders an answer; without a format, as Markdown. */
function viewAnswer(context: Context, { text: markdown, sources, followups }: Answering, format: Format): unknown {
  const body = format === 'document' ? { document: convertFromMarkdown(markdown ?? '') } : { markdown };
  return {
    type: 'answer',
    answer: {
      ...(markdown === undefined ? {} : { answer: body }),
      sources: sources.map((source) => viewSource(context, source)),
      followupQuestions: followups,
    },
  };
}

/** Answers a question. 403 when the organization has AI features switched off. Source: docs/platform-notes.md#ask */
function ask(call: OperationCall<typeof ASK, z.output<typeof askQuery>, Question>): ApiAnswer {
  const { store, body } = call;
  const site = requireSite(call);
  if (!organizationById(store, site.organization).ai) {
    throw new ApiError(403, `Organization "${site.organization}" has AI features switched off`);
  }
  const reading = body.context?.siteSpaceId;
  if (reading !== undefined) {
    referencedSiteSpace(store, site, reading, 'body.context.siteSpaceId');
  }
  const spaces = new Set(inScope(store, site, body.scope).map((siteSpace) => siteSpace.space));
  const pages = [...spaces]
    .flatMap((space) => renderForReaders(spaceContent(store, spaceById(store, space))))
    .filter(isSearched);
  return streamed(answersTo(body.question, pages).map((each) => viewAnswer(call, each, call.query.format)));
}

/** Operations on a site's assistant. Source: docs/platform-notes.md#ask */
export const askOperations: readonly ApiOperation[] = [
  operation('askSite', 'POST', ASK, { allowsReaders: true, query: askQuery, body: askBody }, ask),
];
