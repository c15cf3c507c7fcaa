import { z } from 'zod';
import { type Answer, ApiError, streamed } from '../answers.ts';
import { type Answering, answersTo } from '../asking.ts';
import { spaceContent } from '../content.ts';
import { organizationAt, referenced, siteAt, siteSpaceOf, spaceAt } from '../lookup.ts';
import { documentOfMarkdown } from '../markdown-document.ts';
import { type Call, type Context, type Operation, operation } from '../operation.ts';
import { asRead } from '../page-text.ts';
import type { SectionRecord, SiteRecord, SiteSpaceRecord } from '../records.ts';
import { id, text } from '../schema.ts';
import { isSearched, type PageHit } from '../search.ts';
import { siteSpacesIn } from '../site-tree.ts';
import type { Store } from '../store.ts';

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

function siteSpaceReferenced(store: Store, site: SiteRecord, name: string, field: string): SiteSpaceRecord {
  return referenced(siteSpaceOf(store, site, name), field, 'site space', name);
}

/** What a section, or a site without any, shows: its default, or what is in the reader's language. */
function shownIn(store: Store, place: SectionRecord | SiteRecord, language: string | undefined) {
  const siteSpaces = siteSpacesIn(store, place.id);
  const alike = siteSpaces.find(
    (each) => language !== undefined && store.spaces.get(each.space)?.language === language,
  );
  return alike ?? siteSpaces.find((each) => each.id === place.defaultSiteSpace) ?? siteSpaces[0];
}

/** Returns the site spaces in the scope of the question. Source: docs/platform-notes.md#ask */
function inScope(store: Store, site: SiteRecord, scope: Question['scope']): readonly SiteSpaceRecord[] {
  if (scope.mode === 'all') {
    return store.siteSpaces.by('site', site.id);
  }
  if (scope.mode === 'specific') {
    return scope.siteSpaceIds.map((name, at) =>
      siteSpaceReferenced(store, site, name, `body.scope.siteSpaceIds.${at}`),
    );
  }
  const reading =
    scope.currentSiteSpace === undefined
      ? []
      : [siteSpaceReferenced(store, site, scope.currentSiteSpace, 'body.scope.currentSiteSpace')];
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

/** Markdown without a format, as everywhere else where what is said is read. */
function viewAnswer(context: Context, { text: markdown, sources, followups }: Answering, format: Format): unknown {
  const body = format === 'document' ? { document: documentOfMarkdown(markdown ?? '') } : { markdown };
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
function ask(call: Call<typeof ASK, z.output<typeof askQuery>, Question>): Answer {
  const { store, params, body } = call;
  const site = siteAt(store, params.organizationId, params.siteId);
  if (!organizationAt(store, site.organization).ai) {
    throw new ApiError(403, `Organization "${site.organization}" has no AI features enabled`);
  }
  const reading = body.context?.siteSpaceId;
  if (reading !== undefined) {
    siteSpaceReferenced(store, site, reading, 'body.context.siteSpaceId');
  }
  const spaces = new Set(inScope(store, site, body.scope).map((siteSpace) => siteSpace.space));
  const pages = [...spaces].flatMap((space) => asRead(spaceContent(store, spaceAt(store, space)))).filter(isSearched);
  return streamed(answersTo(body.question, pages).map((each) => viewAnswer(call, each, call.query.format)));
}

/** Operations on a site's assistant. Source: docs/platform-notes.md#ask */
export const askOperations: readonly Operation[] = [
  operation({
    name: 'askSite',
    method: 'POST',
    path: ASK,
    readersMay: true,
    query: askQuery,
    body: askBody,
    handle: ask,
  }),
];
