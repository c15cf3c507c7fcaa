/** Kind of the redirects of a site: old paths, each with what it leads to. */
import { z } from 'zod';
import { type Address, addressOf } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import { isObject, type Json, present } from '../../core/json.ts';
import { compareText } from '../../core/lists.ts';
import { type Actual, type Fields, idRef, isIdRef } from '../../core/resource.ts';
import type { Reader } from '../../platform/client.ts';
import { operations, type SiteRedirect } from '../../platform/operations/index.ts';
import type { Answer } from '../../platform/operations/model/operation.ts';
import { itemWrites } from '../model/derived-kind.ts';
import { type Field, type FieldTable, fieldTable, writtenFields } from '../model/field-table.ts';
import { type BulkItem, type BulkRequest, type Detail, type Kind, ref } from '../model/kind.ts';
import {
  type CommonFields,
  commonFields,
  type DeclareContext,
  type DescribeContext,
  type Described,
  type EntryPath,
  FileContent,
  type FileLine,
  Reference,
  type WrittenResource,
} from '../model/manifest.ts';
import { entry, fileOnly, key, line, reporting, text, url } from '../model/schema.ts';
import { type Hop, Hops, hopOf, neededSiteSpaces, pathsOf, reviewRedirects } from './redirect-checks.ts';
import { MAX_REDIRECTS, readRows } from './redirect-rows.ts';
import { MAX_SOURCE, normalSource, sourceProblem } from './redirect-source.ts';
import type { SiteItems } from './site-items.ts';

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
        .describe('The id of a page in it, as `octavo api listPages` returns it.'),
    }),
  ],
  { error: 'must be an address that begins with https://, { section: … } or { siteSpace: … }' },
);

/** Field of a part of a site: paths that it had. */
export const formerPaths: Field = {
  schema: z
    .array(line({ min: 1, max: 100, example: 'handbook' }))
    .max(20)
    .describe(
      'Paths that it had before: links to them, and to pages below them, lead to where it is now. From platform 0.167 on.',
    ),
  declarationOnly: true,
};

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

const table = fieldTable(fields);
const written = entry(table.shape);

type Written = CommonFields & {
  readonly [field: string]: unknown;
  readonly from: string;
  readonly to: string | { readonly section: string } | { readonly siteSpace: string; readonly page?: string };
  readonly permanent?: boolean;
  readonly captureWildcard?: boolean;
  readonly draft?: boolean;
};

/** The redirects of a site as its entry writes them: a list, or a CSV file. */
type WrittenRedirects = readonly Written[] | FileContent;

/** Schema of the member of a site that holds its redirects. */
const redirectsSchema: z.ZodType<WrittenRedirects> = z
  .union([z.array(written).max(MAX_REDIRECTS), fileOnly], { error: 'must be a list of redirects, or { file: path }' })
  .describe(
    'Old paths and what they lead to, in any order. Redirects that are not listed are left as they are. `{ file: redirects.csv }` reads them from a CSV file.',
  ) as unknown as z.ZodType<WrittenRedirects>;

/** Redirects of a site, known by their source. Source: docs/platform-notes.md#redirects */
const redirect: Kind = {
  name: 'redirect',
  dependsOn: ['site', 'section', 'site-space'],
  partOf: 'site',
  applyAfter: ['section', 'site-space'],
  creatable: true,
  deletable: true,
  fields: table.rules,
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
    const { permanent, captureWildcard, ...rest } = table.parameters(change);
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
async function readRedirects({ id }: { readonly id: string }, reader: Reader): Promise<Detail> {
  const parts = [];
  for await (const item of reader.pages(operations.listSiteRedirects, { path: { siteId: id } })) {
    parts.push({
      kind: redirect.name,
      id: item.id,
      title: item.source,
      fields: table.observe(item),
      within: id,
      place: null,
    });
  }
  return { parts };
}

/** Place of a declared redirect: in the entry, or in a file that it includes. */
interface Place {
  readonly path: EntryPath;
  readonly at?: FileLine;
}

/**
 * Declares the redirects of a site as resources of their own: those of its list, and those of the former paths of its
 * parts. Reports those that lead back to themselves. `proxy` is the address at which the site is, if it has one.
 */
function declareRedirects(
  site: string,
  { redirects: list, proxy }: Described,
  context: DeclareContext,
  parts: readonly WrittenResource[],
): void {
  const paths = pathsOf(new Map(parts.map(({ kind, key, fields }) => [addressOf(kind, key), fields as Fields])));
  const placed = [
    ...redirectsIn(list as WrittenRedirects | undefined, context),
    ...formerPathsOf(parts, paths, context),
  ];
  const hops = placed.map(({ redirect }) => hopOf({ ...redirect, to: addressOfTarget(redirect.to, site) }));
  const base = typeof proxy === 'string' ? `https://${proxy}` : null;
  const live = new Hops(
    hops.filter((_, index) => placed[index]?.redirect.draft !== true),
    { paths, base },
  );
  for (const [index, { redirect, path, at }] of placed.entries()) {
    const loop = redirect.draft === true ? null : live.loopFrom(hops[index] as Hop);
    if (loop !== null) {
      context.problem(
        [...path, 'from'],
        `leads back to itself: ${loop.join(' → ')}; change one of these redirects`,
        at,
      );
    }
    context.add({
      kind: 'redirect',
      key: `${site}${redirect.from}`,
      path,
      ...(at === undefined ? {} : { at }),
      fields: { ...table.declare(redirect, path, ''), to: referTo(redirect.to, site, [...path, 'to']) },
      within: `site/${site}`,
      place: null,
      common: commonFields(redirect),
    });
  }
}

/** Returns the redirects of a list or a file. */
function redirectsIn(
  list: WrittenRedirects | undefined,
  context: DeclareContext,
): readonly (Place & { readonly redirect: Written })[] {
  if (!(list instanceof FileContent)) {
    return (list ?? []).map((redirect, index) => ({ redirect, path: ['redirects', index] }));
  }
  const path = ['redirects'];
  return readRows(list, (message, at) => context.problem(path, message, at)).flatMap(({ value, at }) => {
    const redirect = context.included(written, value, at);
    return redirect === null ? [] : [{ redirect: redirect as Written, path, at }];
  });
}

/** Returns two redirects for each former path of a part: of the path itself, and of everything below it. */
function formerPathsOf(
  parts: readonly WrittenResource[],
  paths: ReadonlyMap<Address, string>,
  context: DeclareContext,
): readonly (Place & { readonly redirect: Written })[] {
  return parts.flatMap(({ kind, key: full, path, fields: { formerPaths, section } }) => {
    const local = full.slice(full.indexOf('/') + 1);
    const to = kind === 'section' ? { section: local } : { siteSpace: local };
    const holder = typeof section === 'string' ? paths.get(section) : '';
    return ((formerPaths as readonly string[] | undefined) ?? []).flatMap((former, index) => {
      const here = [...path, 'formerPaths', index];
      const from = normalSource(`${holder}/${former}`);
      if (holder === undefined || from === null) {
        const why = holder === undefined ? 'needs the path of its section' : `${JSON.stringify(former)} is not a path`;
        context.problem(here, why);
        return [];
      }
      return [
        { redirect: { from, to }, path: here },
        { redirect: { from: `${from}/*`, to, captureWildcard: true }, path: here },
      ];
    });
  });
}

/** Returns the address of a part of the site, or that on the internet. A page has no path that is declared. */
function addressOfTarget(to: Written['to'], site: string): string {
  if (typeof to === 'string') {
    return to;
  }
  return 'section' in to
    ? addressOf('section', `${site}/${to.section}`)
    : addressOf(to.page === undefined ? 'site-space' : 'page', `${site}/${to.siteSpace}`);
}

function referTo(to: Written['to'], site: string, path: EntryPath): unknown {
  if (typeof to === 'string') {
    return to;
  }
  if ('section' in to) {
    return new Reference(['section'], to.section, [...path, 'section'], `${site}/`);
  }
  const siteSpace = new Reference(['site-space'], to.siteSpace, [...path, 'siteSpace'], `${site}/`);
  return to.page === undefined ? siteSpace : { siteSpace, page: to.page };
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

/** Describes the redirects of a site. Those that no manifest can declare are left out, with a note. */
function describeRedirects(site: Actual, context: DescribeContext): readonly Described[] | undefined {
  const seen = new Set<string>();
  const list = context
    .unorderedParts(site, redirect.name)
    .toSorted((a, b) => compareText(a.title, b.title) || Number(a.fields.draft) - Number(b.fields.draft))
    .flatMap((actual): readonly Described[] => {
      const described = table.describe(actual, context);
      const isSecond = seen.has(actual.title);
      seen.add(actual.title);
      if (isSecond || described.to === undefined) {
        const reason = isSecond ? 'it is a draft of a redirect that is live' : 'what it leads to cannot be declared';
        context.note(site, `left out: the redirect from ${actual.title}, because ${reason}`);
        return [];
      }
      return [context.resource(actual, described)];
    });
  return list.length === 0 ? undefined : list;
}

/** Redirects, as the entry of a site holds them. */
export const redirects: SiteItems = {
  kind: redirect,
  member: 'redirects',
  schema: redirectsSchema.optional(),
  details: { name: 'redirects', fields: [], parts: [redirect.name], read: readRedirects },
  declare: declareRedirects,
  describe: describeRedirects,
};
