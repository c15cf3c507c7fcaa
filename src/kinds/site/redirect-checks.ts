/** Redirects that lead nowhere, and links that no redirect keeps. */
import { type Address, keyOf, kindOf } from '../../core/address.ts';
import { isObject, type Json } from '../../core/json.ts';
import type { Fields } from '../../core/resource.ts';
import type { Review, ReviewedResource } from '../../plan/rules.ts';
import { matches, normalSource } from './redirect-source.ts';

/** A redirect, as far as it decides where a visitor gets to. */
export interface Hop {
  readonly from: string;
  /** The address of a part of the site, or one on the internet. */
  readonly to: string;
  readonly captureWildcard: boolean;
}

/** Places of a site: the path of each part, and the address at which the site is; null if that is not known. */
export interface SiteMap {
  readonly paths: ReadonlyMap<Address, string>;
  readonly base: string | null;
}

/** Most hops that are followed. */
const MAX_HOPS = 10;

/** The redirects of one site, by what they match. */
export class Hops {
  readonly #exact: ReadonlyMap<string, Hop>;
  /** The longest first. */
  readonly #wild: readonly Hop[];
  readonly #site: SiteMap;
  /** The redirects of paths that were looked up: many lead to the same part of the site. */
  readonly #known = new Map<string, Hop | undefined>();

  constructor(hops: readonly Hop[], site: SiteMap) {
    const [wild, exact] = [
      hops.filter(({ from }) => from.endsWith('*')),
      hops.filter(({ from }) => !from.endsWith('*')),
    ];
    this.#exact = new Map(exact.map((hop) => [hop.from, hop]));
    this.#wild = wild.toSorted((a, b) => b.from.length - a.from.length);
    this.#site = site;
  }

  /** Returns the redirect of a path. */
  of(path: string): Hop | undefined {
    if (!this.#known.has(path)) {
      this.#known.set(path, this.#exact.get(path) ?? this.#wild.find(({ from }) => matches(from, path)));
    }
    return this.#known.get(path);
  }

  /** Returns the paths through which a redirect leads back to itself; null if it does not. */
  loopFrom(start: Hop): readonly string[] | null {
    const passed = [start.from];
    for (let hop: Hop | undefined = start; passed.length <= MAX_HOPS; ) {
      const next = this.#next(hop);
      const found: Hop | undefined = next === null ? undefined : this.of(next);
      if (next === null || found === undefined) {
        return null;
      }
      passed.push(next);
      if (found === start) {
        return passed;
      }
      hop = found;
    }
    return null;
  }

  /** Returns the path on the site that a redirect leads to; null if it leads elsewhere. */
  #next({ to, captureWildcard }: Hop): string | null {
    const { paths, base } = this.#site;
    const own = paths.get(to) ?? (base !== null && isWithin(to, base) ? pathIn(to, base) : null);
    // Any page below it.
    return own === null ? null : captureWildcard ? `${own === '/' ? '' : own}/page` : own;
  }
}

function isWithin(url: string, base: string): boolean {
  return url === base || ['/', '?', '#'].some((end) => url.startsWith(`${base}${end}`));
}

function pathIn(url: string, base: string): string {
  return normalSource(url.slice(base.length)) ?? '/';
}

/** Returns a redirect from its fields. */
export function hopOf({ from, to = null, captureWildcard }: Fields): Hop {
  const target = isObject(to) ? `${String(to.siteSpace)} ${String(to.page)}` : String(to);
  return { from: String(from), to: target, captureWildcard: captureWildcard === true };
}

/** Returns the path of each section and site space; those without a known path are left out. */
export function pathsOf(parts: ReadonlyMap<Address, Fields>): ReadonlyMap<Address, string> {
  const own = ({ path }: Fields) => (typeof path === 'string' ? normalSource(`/${path}`) : null);
  return new Map(
    [...parts].flatMap(([address, fields]): readonly (readonly [Address, string])[] => {
      const holder = typeof fields.section === 'string' ? own(parts.get(fields.section) ?? {}) : '';
      const path = own(fields);
      return holder === null || path === null ? [] : [[address, `${holder}${path}`]];
    }),
  );
}

interface Note {
  readonly address: Address;
  readonly text: string;
}

const PARTS = ['section', 'site-space'];

/** Resources of a kind, by the site that they are in. */
type BySite = ReadonlyMap<Address | null, readonly (readonly [Address, ReviewedResource])[]>;

/** The part of a plan that is about redirects, by site, so that each site costs only what is in it. */
class SiteReview {
  readonly changes: ReadonlyMap<Address | null, Review['changes']>;
  readonly redirects: BySite;
  readonly #before: readonly BySite[];
  readonly #after: readonly BySite[];

  constructor({ changes, before, after }: Review) {
    const bySite = (state: ReadonlyMap<Address, ReviewedResource>) => Map.groupBy(state, ([, { within }]) => within);
    const own = changes.filter(({ kind }) => kind === 'redirect' || PARTS.includes(kind));
    this.changes = Map.groupBy(own, ({ within }) => within);
    this.redirects = own.length === 0 ? new Map() : bySite(after('redirect'));
    this.#before = own.length === 0 ? [] : PARTS.map((kind) => bySite(before(kind)));
    this.#after = own.length === 0 ? [] : PARTS.map((kind) => bySite(after(kind)));
  }

  /** Returns the paths of the parts of a site before the plan. */
  pathsBefore(site: Address | null): ReadonlyMap<Address, string> {
    return pathsOf(fieldsIn(this.#before, site));
  }

  /** Returns the paths of the parts of a site after the plan. */
  pathsAfter(site: Address | null): ReadonlyMap<Address, string> {
    return pathsOf(fieldsIn(this.#after, site));
  }
}

function fieldsIn(groups: readonly BySite[], site: Address | null): ReadonlyMap<Address, Fields> {
  return new Map(
    groups.flatMap((group) => (group.get(site) ?? []).map(([address, { fields }]) => [address, fields] as const)),
  );
}

/** Returns notes about the sites in which a plan changes redirects or paths. */
export function reviewRedirects(review: Review): readonly Note[] {
  const own = new SiteReview(review);
  return [...own.changes.keys()].flatMap((site) => reviewSite(site, own, review));
}

function reviewSite(site: Address | null, own: SiteReview, review: Review): readonly Note[] {
  const [before, after] = [own.pathsBefore(site), own.pathsAfter(site)];
  const { fields = {}, facts = {} } = review.before('site').get(site ?? '') ?? {};
  const live = new Map((own.redirects.get(site) ?? []).filter(([, redirect]) => redirect.fields.draft !== true));
  const base = typeof facts.address === 'string' ? facts.address.replace(/\/$/, '') : null;
  const byAddress = new Map([...live].map(([address, redirect]) => [address, hopOf(redirect.fields)]));
  const hops = new Hops([...byAddress.values()], { paths: after, base });
  const changes = own.changes.get(site) ?? [];
  const siteSpaces = review.after('site-space');
  return [
    ...(fields.published === true ? brokenLinks(changes, before, after, hops, insteadOf(fields.default, after)) : []),
    ...changedRedirects(changes).flatMap(({ address }): readonly Note[] => {
      const hop = byAddress.get(address);
      const { to = null } = live.get(address)?.fields ?? {};
      const texts = hop === undefined ? [] : problemsOf(hop, to, hops, after, siteSpaces);
      return texts.map((text) => ({ address, text }));
    }),
  ];
}

/** Returns the site spaces in which the changed redirects have a page, or a path that may be that of a page. */
export function neededSiteSpaces(review: Review): readonly Address[] {
  const own = new SiteReview(review);
  const redirects = review.after('redirect');
  return [...own.changes].flatMap(([site, changes]) => {
    const paths = own.pathsAfter(site);
    return changedRedirects(changes).flatMap(({ address }) => {
      const { from, to } = redirects.get(address)?.fields ?? {};
      const holder = siteSpaceOf(String(from), paths);
      return [...(isObject(to) ? [String(to.siteSpace)] : []), ...(holder === undefined ? [] : [holder.address])];
    });
  });
}

/** Returns the site space below whose path a source is, and what the source adds to that path. */
function siteSpaceOf(source: string, paths: ReadonlyMap<Address, string>) {
  const holders = [...paths].filter(
    ([address, path]) => kindOf(address) === 'site-space' && source.startsWith(`${path}/`),
  );
  const [nearest] = holders.toSorted(([, a], [, b]) => b.length - a.length);
  return nearest === undefined ? undefined : { address: nearest[0], rest: source.slice(nearest[1].length + 1) };
}

function changedRedirects(changes: Review['changes']): Review['changes'] {
  return changes.filter(({ kind, action }) => kind === 'redirect' && action !== 'delete');
}

/** Returns what is wrong with a redirect among the others, in words. */
function problemsOf(
  hop: Hop,
  to: Json,
  hops: Hops,
  paths: ReadonlyMap<Address, string>,
  siteSpaces: ReadonlyMap<Address, ReviewedResource>,
): readonly string[] {
  const loop = hops.loopFrom(hop);
  if (loop !== null) {
    return [`leads back to itself: ${loop.join(' → ')}; change one of these redirects`];
  }
  const pagesOf = (address: Address) => {
    const pages = siteSpaces.get(address)?.facts.pages;
    return isObject(pages) ? pages : null;
  };
  const part = [...paths].find(([, path]) => matches(hop.from, path) || matches(hop.from, `${path}/`));
  const below = part === undefined ? siteSpaceOf(hop.from, paths) : undefined;
  const page = Object.keys(pagesOf(below?.address ?? '') ?? {}).find((path) => matches(below?.rest ?? '', path));
  const place = part ?? (page === undefined ? undefined : [`a page of ${below?.address}`, page]);
  const pages = isObject(to) ? pagesOf(String(to.siteSpace)) : null;
  return [
    ...(place === undefined
      ? []
      : [`has the path of ${place[0]} (${place[1]}), which visitors then may not see; use another source`]),
    ...(pages === null || !isObject(to) || Object.values(pages).includes(to.page)
      ? []
      : [`leads to a page that ${String(to.siteSpace)} does not have; set page to the id of another`]),
  ];
}

/** Returns a note for each path that is published and that nothing has after the plan. */
function brokenLinks(
  changes: Review['changes'],
  before: ReadonlyMap<Address, string>,
  after: ReadonlyMap<Address, string>,
  hops: Hops,
  instead: string,
): readonly Note[] {
  const taken = new Set(after.values());
  return changes.flatMap(({ kind, action, address, fields, isReplacement }): readonly Note[] => {
    const old = before.get(address);
    const isGone = action === 'delete' && !isReplacement;
    const moved = action === 'update' ? fields.find(({ path }) => path === 'path') : undefined;
    const isBroken = old !== undefined && (isGone || moved !== undefined) && !taken.has(old);
    if (!PARTS.includes(kind) || !isBroken || (hops.of(old) !== undefined && hops.of(`${old}/page`) !== undefined)) {
      return [];
    }
    const way = isGone
      ? `to lead them elsewhere, add to redirects: ${[old, `${old}/*`].map((from) => `{ from: ${from}, to: ${instead} }`).join(', ')}`
      : `to keep them, add to it: formerPaths: [${yamlText(String(moved?.from))}]`;
    return [{ address, text: `links to ${old}, and to pages below it, break; ${way}` }];
  });
}

function yamlText(text: string): string {
  return /^[A-Za-z][\w-]*$/.test(text) ? text : JSON.stringify(text);
}

/** Returns what redirects can lead to, as a manifest writes it: the default of the site, or its first part. */
function insteadOf(first: Json | undefined, paths: ReadonlyMap<Address, string>): string {
  const [other = ''] = paths.keys();
  const address = typeof first === 'string' && paths.has(first) ? first : other;
  const key = keyOf(address);
  const local = key.slice(key.indexOf('/') + 1);
  return kindOf(address) === 'section' ? `{ section: ${local} }` : `{ siteSpace: ${local} }`;
}
