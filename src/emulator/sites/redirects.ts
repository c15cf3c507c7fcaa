/**
 * Redirects of a site: old paths, each with a destination. What the API document leaves open, such as a source that is
 * taken, is a decision of this emulator. Source: docs/platform-notes.md#redirects
 */
import { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import { ApiError, created, deleted, invalid, ok, referenced } from '../model/answers.ts';
import { type Features, refuseUnknown } from '../model/features.ts';
import { type ApiOperation, type Context, type OperationCall, operation, SITE } from '../model/operation.ts';
import { list } from '../model/paging.ts';
import { containsText, omitUndefined, pick } from '../model/patch.ts';
import { flag, id, listQuery, shareQuery, url } from '../model/schema.ts';
import { type EmulatorStore, placeKey } from '../model/store.ts';
import { type RedirectRecord, redirectKey, type SiteRecord } from './records.ts';
import { findPart, requirePart, requireSite, siteLocation, viewSection, viewSiteSpace } from './views.ts';

const MAX_SOURCE = 512;
/** Operations in one request. */
const MAX_BULK = 500;

/** Reports whether a path can be a source: in the latest version, or as versions without `+` and `*` limit it. */
function isSource(path: string, wild: boolean, plus: boolean): boolean {
  const [root, ...segments] = path.split('/');
  const isPlain = (segment: string) =>
    /^(?:[\w\-.~+]|%[0-9A-Fa-f]{2})+$/.test(segment) && (plus || !segment.includes('+'));
  const last = segments.length - 1;
  return (
    root === '' &&
    segments.length > 0 &&
    segments.every((segment, at) =>
      wild && at === last && segment.endsWith('*')
        ? (at > 0 && segment === '*') || isPlain(segment.slice(0, -1))
        : isPlain(segment),
    )
  );
}

const source = z
  .string()
  .max(MAX_SOURCE, { error: `must be at most ${MAX_SOURCE} characters` })
  .refine((path) => isSource(path, true, true), { error: 'must be a path on the site' });

const destination = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('site-section'), siteSectionId: id }),
  z.strictObject({ kind: z.literal('site-space'), siteSpaceId: id }),
  z.strictObject({ kind: z.literal('site-page'), siteSpaceId: id, pageId: id }),
  z.strictObject({ kind: z.literal('external'), url: url() }),
]);
type Destination = z.output<typeof destination>;

/** Only for writing: the platform looks up the page. */
const toPath = z.strictObject({ kind: z.literal('path'), spaceId: id, path: z.string() });
const written = z.union([destination, toPath], { error: 'must be a destination' });
type Written = z.output<typeof written>;

const flags = { captureWildcard: z.boolean().optional(), permanent: z.boolean().optional() };
const creation = z.strictObject({ source, destination: written, draft: z.boolean().optional(), ...flags });
const update = z.strictObject({
  source: source.optional(),
  destination: destination.optional(),
  draft: z.boolean().optional(),
  ...flags,
});
const bulk = z.strictObject({
  redirects: z
    .array(
      z.union(
        [
          z.strictObject({ source, intent: z.literal('publish') }),
          z.strictObject({
            source,
            destination: written.nullable(),
            intent: z.enum(['live', 'draft']).optional(),
            ...flags,
          }),
        ],
        { error: 'must be an operation on a redirect' },
      ),
    )
    .min(1, { error: 'must not be empty' })
    .max(MAX_BULK, { error: `must have at most ${MAX_BULK} redirects` }),
});
type BulkItem = z.output<typeof bulk>['redirects'][number];

const ORDERS = ['createdAt', 'updatedAt', 'source'] as const;
const query = listQuery.extend({
  search: z.string().optional(),
  draft: flag.optional(),
  orderBy: z.enum(ORDERS).optional(),
});

type Call = OperationCall<typeof REDIRECTS>;

/** Throws a 400 for a path that cannot be a source in this version. */
function requireSource(features: Features, path: string): void {
  if (!isSource(path, features.bulkRedirects, features.permanentRedirects)) {
    throw invalid('body.source', 'must be a path on the site');
  }
}

function refuseLater(call: Pick<Context, 'features'>, body: Readonly<Record<string, unknown>>): void {
  refuseUnknown(call, 'bulkRedirects', body, 'draft');
  refuseUnknown(call, 'bulkRedirects', body, 'captureWildcard');
  refuseUnknown(call, 'permanentRedirects', body, 'permanent');
}

/** Checks what a destination names, and looks up the page of a path. Throws a 400. */
function resolve(call: Pick<Context, 'features' | 'store'>, site: SiteRecord, to: Written): Destination {
  const { store, features } = call;
  if ((to.kind === 'external' || to.kind === 'path') && !features.bulkRedirects) {
    throw invalid('body.destination.kind', 'must be another kind');
  }
  if (to.kind === 'external') {
    return to;
  }
  if (to.kind === 'site-section') {
    referenced(findPart(store.sections, site, to.siteSectionId), 'body.destination', 'site section', to.siteSectionId);
    return to;
  }
  if (to.kind === 'path') {
    const shown = store.siteSpaces.by('site', site.id).find(({ space }) => space === to.spaceId);
    const { id: siteSpaceId } = referenced(shown, 'body.destination.spaceId', 'space of the site', to.spaceId);
    const page = store.pages.one('place', placeKey(to.spaceId, to.path.replace(/^\/+/, '')));
    const { id: pageId } = referenced(page, 'body.destination.path', 'page', to.path);
    return { kind: 'site-page', siteSpaceId, pageId };
  }
  const siteSpace = findPart(store.siteSpaces, site, to.siteSpaceId);
  const { space } = referenced(siteSpace, 'body.destination.siteSpaceId', 'site space', to.siteSpaceId);
  if (to.kind === 'site-page') {
    const page = store.pages.get(to.pageId);
    referenced(page?.space === space ? page : undefined, 'body.destination.pageId', 'page', to.pageId);
  }
  return to;
}

function find(store: EmulatorStore, site: SiteRecord, path: string, draft: boolean): RedirectRecord | undefined {
  return store.redirects.one('source', redirectKey(site.id, path, draft));
}

function refuseTaken(store: EmulatorStore, site: SiteRecord, wanted: RedirectRecord): void {
  const other = find(store, site, wanted.source, wanted.draft);
  if (other !== undefined && other.id !== wanted.id) {
    throw invalid('body.source', 'source is already in use');
  }
}

function add(call: Call, site: SiteRecord, given: z.output<typeof creation>): RedirectRecord {
  requireSource(call.features, given.source);
  const to = resolve(call, site, given.destination);
  const made: RedirectRecord = {
    ...call.store.identify('sitrd'),
    site: site.id,
    source: given.source,
    draft: given.draft ?? false,
    captureWildcard: given.captureWildcard ?? false,
    permanent: given.permanent ?? false,
    destination: to as unknown as JsonObject,
    createdAt: call.at,
  };
  refuseTaken(call.store, site, made);
  return call.store.redirects.put(made);
}

function change(
  call: Pick<Context, 'features' | 'store' | 'at'>,
  site: SiteRecord,
  redirect: RedirectRecord,
  { destination: to, ...given }: z.output<typeof update> | Omit<z.output<typeof creation>, 'source'>,
): RedirectRecord {
  const moved = to === undefined ? {} : { destination: resolve(call, site, to) as unknown as JsonObject };
  const updated = { ...redirect, ...omitUndefined(given), ...moved, updatedAt: call.at };
  requireSource(call.features, updated.source);
  refuseTaken(call.store, site, updated);
  return call.store.redirects.put(updated);
}

/** Runs one operation of a bulk request; throws ApiError if it is refused. */
function runItem(call: Call, site: SiteRecord, item: BulkItem): object {
  const { store } = call;
  if (item.intent === 'publish') {
    const draft = find(store, site, item.source, true);
    if (draft === undefined) {
      throw invalid('source', 'there is no draft with this source');
    }
    const live = find(store, site, item.source, false);
    store.redirects.remove(draft.id);
    const { id: published } = store.redirects.put({ ...draft, id: live?.id ?? draft.id, draft: false });
    return { status: 'published', source: item.source, draft: false, id: published };
  }
  const { destination: to, intent, ...rest } = item;
  const draft = intent === 'draft';
  const known = find(store, site, item.source, draft);
  if (to === null) {
    if (known === undefined) {
      throw invalid('source', 'there is no redirect with this source');
    }
    store.redirects.remove(known.id);
    return { status: 'deleted', source: item.source, draft };
  }
  const given = { ...rest, destination: to, draft };
  // The document gives a default to one of them: absent means false.
  const whole = { ...given, captureWildcard: given.captureWildcard ?? false };
  const { id: made } = known === undefined ? add(call, site, whole) : change(call, site, known, whole);
  return { status: known === undefined ? 'created' : 'updated', source: item.source, draft, id: made };
}

function runBulk(call: Call, site: SiteRecord, item: BulkItem): object {
  try {
    return runItem(call, site, item);
  } catch (error) {
    if (!(error instanceof ApiError)) {
      throw error;
    }
    return { status: 'error', source: item.source, draft: item.intent === 'draft', error: error.message };
  }
}

function view({ features }: Context, redirect: RedirectRecord): unknown {
  return {
    object: 'site-redirect',
    ...pick(redirect, 'id', 'source', 'destination'),
    ...(features.bulkRedirects ? pick(redirect, 'draft', 'captureWildcard') : {}),
    ...(features.permanentRedirects ? pick(redirect, 'permanent', 'createdAt', 'updatedAt') : {}),
  };
}

/** Returns the address of a destination. */
function targetOf(call: Context, site: SiteRecord, to: Destination): string {
  if (to.kind === 'external') {
    return to.url;
  }
  const section = to.kind === 'site-section' ? findPart(call.store.sections, site, to.siteSectionId) : undefined;
  const siteSpace = to.kind === 'site-section' ? undefined : findPart(call.store.siteSpaces, site, to.siteSpaceId);
  const part = (section && viewSection(call, section)) ?? (siteSpace && viewSiteSpace(call, siteSpace));
  const { urls } = (part ?? {}) as { readonly urls?: { readonly published?: string | undefined } };
  const page = to.kind === 'site-page' ? call.store.pages.get(to.pageId) : undefined;
  return [urls?.published ?? siteLocation(call, site), ...(page === undefined ? [] : [page.path])].join('/');
}

const REDIRECTS = `${SITE}/redirects` as const;
const REDIRECT = `${REDIRECTS}/{siteRedirectId}` as const;

function requireRedirect(call: OperationCall<typeof REDIRECT>): RedirectRecord {
  return requirePart(call, call.store.redirects, 'Site redirect', call.params.siteRedirectId);
}

/** Operations on the redirects of a site. */
export const redirectOperations: readonly ApiOperation[] = [
  operation('listSiteRedirects', 'GET', REDIRECTS, { query }, (call) => {
    const { search, draft, orderBy = 'createdAt' } = call.query;
    const site = requireSite(call);
    if (draft !== undefined && !call.features.bulkRedirects) {
      throw invalid('query.draft', 'unknown parameter');
    }
    if (call.query.orderBy !== undefined && !call.features.permanentRedirects) {
      throw invalid('query.orderBy', 'unknown parameter');
    }
    const items = call.store.redirects
      .by('site', site.id)
      .filter((redirect) => search === undefined || containsText(redirect.source, search))
      .filter((redirect) => draft === undefined || redirect.draft === draft);
    const keyOf = (redirect: RedirectRecord) =>
      orderBy === 'source' ? redirect.source : (orderBy === 'updatedAt' && redirect.updatedAt) || redirect.createdAt;
    const isDescending = orderBy !== 'source';
    return list(call, { items, key: (each) => [keyOf(each), each.seq], descending: isDescending, view });
  }),
  operation('createSiteRedirect', 'POST', REDIRECTS, { body: creation }, (call) => {
    const site = requireSite(call);
    refuseLater(call, call.body);
    const made = add(call, site, call.body);
    return created(view(call, made), `${siteLocation(call, site)}/redirects/${made.id}`);
  }),
  operation('bulkUpsertSiteRedirects', 'PUT', REDIRECTS, { body: bulk, feature: 'bulkRedirects' }, (call) => {
    const site = requireSite(call);
    for (const item of call.body.redirects) {
      refuseLater(call, item);
    }
    return ok({ results: call.body.redirects.map((item) => runBulk(call, site, item)) });
  }),
  operation('updateSiteRedirectById', 'PATCH', REDIRECT, { body: update }, (call) => {
    refuseLater(call, call.body);
    return ok(view(call, change(call, requireSite(call), requireRedirect(call), call.body)));
  }),
  operation('deleteSiteRedirectById', 'DELETE', REDIRECT, {}, (call) => {
    const redirect = findPart(call.store.redirects, requireSite(call), call.params.siteRedirectId);
    return deleted(redirect !== undefined && call.store.redirects.remove(redirect.id));
  }),
  operation('getSiteRedirectBySource', 'GET', `${SITE}/redirect`, { query: shareQuery.extend({ source }) }, (call) => {
    const site = requireSite(call);
    const found = find(call.store, site, call.query.source, false);
    if (found === undefined) {
      throw new ApiError(404, `Site redirect "${call.query.source}" not found`);
    }
    const target = targetOf(call, site, found.destination as unknown as Destination);
    return ok({ redirect: view(call, found), target });
  }),
];
