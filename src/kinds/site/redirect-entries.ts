/** Redirects in the entry of a site: a list, a CSV file, and the former paths of its parts. */
import { z } from 'zod';
import { type Address, addressOf } from '../../core/address.ts';
import { compareText } from '../../core/lists.ts';
import type { Actual, Fields } from '../../core/resource.ts';
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
import { entry, fileOnly } from '../model/schema.ts';
import { readRedirects, redirect, redirectTable } from './redirect.ts';
import { type Hop, Hops, hopOf, pathsOf } from './redirect-checks.ts';
import { MAX_REDIRECTS, readRows } from './redirect-rows.ts';
import { normalSource } from './redirect-source.ts';
import type { SiteItems } from './site-items.ts';

const written = entry(redirectTable.shape);

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
      fields: { ...redirectTable.declare(redirect, path, ''), to: referTo(redirect.to, site, [...path, 'to']) },
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
      const [taken] = [...paths].filter(([, path]) => path === from);
      if (taken !== undefined) {
        context.problem(here, `${JSON.stringify(former)} is the path of ${taken[0]} now; remove it`);
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

/** Describes the redirects of a site. Those that no manifest can declare are left out, with a note. */
function describeRedirects(site: Actual, context: DescribeContext): readonly Described[] | undefined {
  const seen = new Set<string>();
  const list = context
    .unorderedParts(site, redirect.name)
    .toSorted((a, b) => compareText(a.title, b.title) || Number(a.fields.draft) - Number(b.fields.draft))
    .flatMap((actual): readonly Described[] => {
      const described = redirectTable.describe(actual, context);
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
