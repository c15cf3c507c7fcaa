/** Kind of the redirects of a site: old paths, each with what it leads to. */
import { z } from 'zod';
import type { Change } from '../../core/change.ts';
import { isObject, type Json, present } from '../../core/json.ts';
import { type Actual, type Fields, idRef, isIdRef } from '../../core/resource.ts';
import type { Reader } from '../../platform/client.ts';
import { operations, type SiteRedirect } from '../../platform/operations/index.ts';
import type { Answer } from '../../platform/operations/model/operation.ts';
import { itemWrites } from '../model/derived-kind.ts';
import { type FieldTable, fieldTable, writtenFields } from '../model/field-table.ts';
import { type BulkItem, type BulkRequest, type Detail, type Kind, ref } from '../model/kind.ts';
import type { DescribeContext } from '../model/manifest.ts';
import { key, reporting, text, url } from '../model/schema.ts';
import { neededSiteSpaces, reviewRedirects } from './redirect-checks.ts';
import { MAX_SOURCE, sourceProblem } from './redirect-source.ts';

const IS_ADDRESS = /^https?:/i;

const PART = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/;

const siteSpaceKey = z.string().regex(PART, { error: 'is not the key of a site space, such as guides/en' });

/** Target of a redirect, as written. */
const target = z.union(
  [
    url('https://acme.example/new').refine((value) => !/\s/.test(value), { error: 'has white space; encode it' }),
    z.strictObject({ section: key('The key of a section of this site.', 'section') }),
    z.strictObject({
      siteSpace: siteSpaceKey.describe('The key of a site space, with that of its section: `guides/en`.'),
      page: text({ min: 1, max: 255, example: 'page_9x' })
        .optional()
        .describe('The id of a page in it, as `octavo api getSpacePages` returns it.'),
    }),
  ],
  { error: 'must be an address that begins with https://, { section: … } or { siteSpace: … }' },
);

const fields: FieldTable<SiteRedirect> = {
  from: {
    schema: z
      .string()
      .superRefine(reporting(sourceProblem))
      .meta({ maxLength: MAX_SOURCE, examples: ['/old/*'] })
      .describe('The old path on the site. A `*` at its end means everything that begins like this.'),
    required: true,
    read: ({ source }) => source,
    parameter: 'source',
  },
  to: {
    schema: target.describe('What visitors see instead: an address, a section, a site space, or a page in it.'),
    required: true,
    read: ({ destination }) => readDestination(destination),
    toEntry: describeTarget,
    references: (value) => [targetOf(value)].filter((address) => address !== null),
    parameter: 'destination',
    toParameter: destinationOf,
  },
  permanent: flag(
    'Whether browsers may remember it (308 instead of 307). From platform 0.201 on.',
    ({ permanent }) => permanent ?? undefined,
    'permanent was not compared: this version of the platform has no permanent redirects (added in 0.201)',
  ),
  captureWildcard: flag(
    'Whether the part of the path that `*` stands for is added to the destination. From platform 0.167 on.',
    ({ captureWildcard }) => captureWildcard ?? undefined,
    'captureWildcard was not compared: this version of the platform cannot keep a part of the path (added in 0.167)',
  ),
  draft: {
    ...flag(
      'Whether it is prepared, but not live. From platform 0.167 on.',
      ({ draft }) => draft ?? undefined,
      'draft was not compared: this version of the platform has no draft redirects (added in 0.167)',
    ),
    fixed: 'replace',
  },
};

function flag(description: string, read: (item: SiteRedirect) => boolean | undefined, unsupportedNote: string) {
  return {
    schema: z.boolean().describe(description),
    unsupportedNote,
    read,
    toEntry: (value: Json | undefined, { includeDefaults }: DescribeContext) =>
      value === true || includeDefaults ? value : undefined,
  };
}

/** The fields of a redirect. */
export const redirectTable = fieldTable(fields);

/** Redirects of a site, known by their source. Source: docs/platform-notes.md#redirects */
export const redirect: Kind = {
  name: 'redirect',
  dependsOn: ['site', 'section', 'site-space'],
  partOf: 'site',
  applyAfter: ['section', 'site-space'],
  creatable: true,
  deletable: true,
  fields: redirectTable.rules,
  manifest: null,
  observe: null,
  suggestedKeys: ({ title }) => [title],
  keyWithin: ({ title }) => title,
  // One that may be either is the live one, if there is one.
  naturalKeys: ({ from, draft }) =>
    draft === undefined ? [sourceKey(from, false), sourceKey(from, true)] : [sourceKey(from, draft)],
  actualKeys: ({ fields: { from, draft } }) => [sourceKey(from, draft)],
  renamedKey: (from, { draft }) => sourceKey(from, draft),
  impact: ({ fields: { from } }) => ({ weight: 0, text: `${String(from)} leads nowhere` }),
  reviewNeeds: neededSiteSpaces,
  review: reviewRedirects,
  pendingReason: ({ fields: { from, to, draft } }, { actuals }) =>
    isBefore0167(actuals) && (String(from).endsWith('*') || IS_ADDRESS.test(String(to)) || draft === true)
      ? 'this version of the platform has no redirects to addresses, from paths with *, or as drafts (added in 0.167)'
      : null,
  writes(change, { actuals }) {
    const isOld = isBefore0167(actuals);
    // Every redirect shows it, so one is enough.
    const [other] = actuals('redirect');
    const hasPermanent = !isOld && (other === undefined || other.fields.permanent !== undefined);
    const { permanent, captureWildcard, ...rest } = redirectTable.parameters(change);
    const parameters = present({
      ...rest,
      permanent: hasPermanent ? permanent : undefined,
      captureWildcard: isOld ? undefined : captureWildcard,
    });
    // False is the default of a new redirect, and a platform without the field refuses it.
    const sent = change.action === 'create' ? withoutFalse(parameters) : parameters;
    const { first } = itemWrites(change, redirectOperations, sent, { siteId: ref(change.within) });
    const bulk = isOld ? null : bulkItem(change, hasPermanent);
    return { first: first.map((each) => ({ ...each, bulk })) };
  },
};

/** A site with `agentsContext` is one before 0.167. Source: docs/platform-notes.md#changes-by-version */
function isBefore0167(actuals: (kind: string) => readonly Actual[]): boolean {
  const [site] = actuals('site');
  return site?.fields.agentsContext !== undefined;
}

const redirectOperations = {
  create: operations.createSiteRedirect,
  update: operations.updateSiteRedirectById,
  delete: operations.deleteSiteRedirectById,
};

/** Creates, changes and deletes redirects by their sources. Source: docs/platform-notes.md#redirects */
const bulkRequest: BulkRequest = {
  operation: operations.bulkUpsertSiteRedirects,
  most: 500,
  body: (redirects) => ({ redirects }),
  resultOf(answer, item) {
    const { source, intent } = item as { readonly source: string; readonly intent: string };
    const { results } = answer as Answer<typeof operations.bulkUpsertSiteRedirects>;
    const found = results.find((each) => each.source === source && (each.draft === true) === (intent === 'draft'));
    if (found === undefined) {
      return undefined;
    }
    return found.status === 'error' ? { error: found.error ?? '' } : { id: found.id ?? null };
  },
};

/**
 * Returns a change as one of many, which state a redirect as a whole. Null if it gets another source, because they know
 * redirects by their sources, or keeps a destination that cannot be stated.
 */
function bulkItem(change: Change, hasPermanent: boolean): BulkItem | null {
  const { action, actual } = change;
  const whole = action === 'delete' ? actual : { ...actual, ...writtenFields(change) };
  const item = { source: whole.from, intent: whole.draft === true ? 'draft' : 'live' };
  const path = { siteId: ref(change.within) };
  if (action === 'delete') {
    return { request: bulkRequest, path, body: { ...item, destination: null } };
  }
  const to = whole.to ?? null;
  if ((action === 'update' && whole.from !== actual.from) || !isStated(to)) {
    return null;
  }
  const { captureWildcard, permanent } = action === 'create' ? withoutFalse(whole) : whole;
  const switches = { captureWildcard, permanent: hasPermanent ? permanent : undefined };
  const body = { ...item, destination: destinationOf(to), ...switches };
  return { request: bulkRequest, path, body: present(body) };
}

function withoutFalse(parameters: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== false));
}

/** A draft and a live redirect can have the same source. */
function sourceKey(from: Json | undefined, draft: Json | undefined) {
  return { by: 'source', value: `${String(from)}${draft === true ? ' (draft)' : ''}` };
}

/** Reads the redirects of a site. */
export async function readRedirects({ id }: { readonly id: string }, reader: Reader): Promise<Detail> {
  const parts = [];
  for await (const item of reader.pages(operations.listSiteRedirects, { path: { siteId: id } })) {
    parts.push({
      kind: redirect.name,
      id: item.id,
      title: item.source,
      fields: redirectTable.observe(item),
      within: id,
      place: null,
    });
  }
  return { parts };
}

/** Returns the address that a target refers to; null for an address on the internet. */
function targetOf(value: Json): string | null {
  const address = isObject(value) ? value.siteSpace : value;
  return typeof address === 'string' && /^(?:section|site-space)\//.test(address) ? address : null;
}

function isStated(to: Json): boolean {
  return targetOf(to) !== null || (typeof to === 'string' && IS_ADDRESS.test(to));
}

function readDestination({ kind, siteSectionId, siteSpaceId, pageId, url }: SiteRedirect['destination']): Json {
  switch (kind) {
    case 'site-section':
      return idRef(siteSectionId ?? '', 'section');
    case 'site-space':
      return idRef(siteSpaceId ?? '', 'site-space');
    case 'site-page':
      return { siteSpace: idRef(siteSpaceId ?? '', 'site-space'), page: pageId ?? '' };
    default:
      // Whatever else it is cannot be declared, and is not the same as an address of the manifests.
      return kind === 'external' && IS_ADDRESS.test(url ?? '') ? (url ?? '') : { kind };
  }
}

function destinationOf(value: Json): unknown {
  const address = targetOf(value);
  if (address === null) {
    return { kind: 'external', url: value };
  }
  if (isObject(value)) {
    return { kind: 'site-page', siteSpaceId: ref(address), pageId: value.page };
  }
  return address.startsWith('section/')
    ? { kind: 'site-section', siteSectionId: ref(address) }
    : { kind: 'site-space', siteSpaceId: ref(address) };
}

/** Returns the target as written; undefined if no manifest can declare it. */
function describeTarget(value: Json | undefined, context: DescribeContext): unknown {
  if (typeof value === 'string') {
    return value;
  }
  const { siteSpace = value ?? null, page } = (isObject(value) ? value : {}) as Fields;
  const full = context.keyOfRef(siteSpace);
  if (full === null) {
    return undefined;
  }
  const local = full.slice(full.indexOf('/') + 1);
  const isSection = isIdRef(siteSpace) && siteSpace.kinds.includes('section');
  return isSection ? { section: local } : { siteSpace: local, ...(page === undefined ? {} : { page }) };
}
