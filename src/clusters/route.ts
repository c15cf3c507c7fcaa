import type { ClustersConfig } from '../config/clusters.ts';
import { type LabelPattern, labelPattern } from '../core/label-pattern.ts';
import type { IssueCluster } from './cluster.ts';
import type { RankedSpace } from './search-query.ts';

/** A space that a change request may be for. */
export interface RouteSpace {
  readonly id: string;
  readonly title: string;
  /** The key of its manifest; null where none declares it. */
  readonly key: string | null;
  /** A locked or deleted one is not. */
  readonly usable: boolean;
  /** Why it is not: "locked". */
  readonly why: string | null;
}

/** The spaces of an organization. */
export type Spaces = ReadonlyMap<string, RouteSpace>;

/** Where a cluster's change request goes, and why there, or why nowhere. In words that a person reads. */
export type Route =
  | { readonly space: RouteSpace; readonly why: string }
  | { readonly space: null; readonly why: string };

/** The settings of the routes, ready to be asked. */
export interface Routing {
  readonly rules: readonly { readonly matches: (cluster: IssueCluster) => boolean; readonly space: string }[];
  readonly search: ClustersConfig['search'];
  readonly default: string | null;
}

/** Finds spaces by the keys of their manifests and by their ids. A key wins over an equal id. */
export function spacesOf(spaces: readonly RouteSpace[]): Spaces {
  const keyed = spaces.filter(({ key }) => key !== null);
  return new Map([
    ...spaces.map((space) => [space.id, space] as const),
    ...keyed.map((space) => [space.key ?? '', space] as const),
  ]);
}

export function routingOf(settings: Pick<ClustersConfig, 'routes' | 'search' | 'default'>): Routing {
  const rules = settings.routes.map(({ label, source, space }) => {
    const pattern = label === undefined ? null : labelPattern(label);
    return { matches: (cluster: IssueCluster) => matches(cluster, pattern, source), space };
  });
  return { rules, search: settings.search, default: settings.default };
}

function matches(cluster: IssueCluster, pattern: LabelPattern | null, source: string | undefined): boolean {
  const isFrom = source === undefined || (cluster.sources[source] ?? 0) > 0;
  return isFrom && (pattern === null || pattern(cluster.label));
}

/** Whether the routes say nothing of a cluster, so that a search is needed to know its space. */
export function needsSearch(cluster: IssueCluster, routing: Routing, spaces: Spaces): boolean {
  return routing.search.enabled && byRules(cluster, routing, spaces).space === null;
}

/**
 * The space for a cluster (design: Issue clusters): the first rule that matches, else the best of the search's results
 * among those allowed, else the default. One that cannot be used is passed over, and that is said. `ranked` is null
 * where nothing was searched for.
 */
export function route(
  cluster: IssueCluster,
  routing: Routing,
  spaces: Spaces,
  ranked: readonly RankedSpace[] | null,
): Route {
  const passed: string[] = [];
  for (const choose of [byRules, bySearch, byDefault]) {
    const found = choose(cluster, routing, spaces, ranked);
    passed.push(...found.passed);
    if (found.space !== null) {
      return { space: found.space, why: [found.why, ...passed].join('; ') };
    }
  }
  return { space: null, why: passed.join('; ') || 'no route matches' };
}

interface Choice {
  readonly space: RouteSpace | null;
  readonly why: string;
  /** What was passed over. */
  readonly passed: readonly string[];
}

function byRules(cluster: IssueCluster, { rules }: Routing, spaces: Spaces): Choice {
  const passed: string[] = [];
  for (const [index, rule] of rules.entries()) {
    if (rule.matches(cluster)) {
      const space = usable(rule.space, spaces, passed, `route ${index + 1}`);
      if (space !== null) {
        return { space, why: `route ${index + 1}`, passed };
      }
    }
  }
  return { space: null, why: '', passed: rules.length === 0 ? [] : passed.length > 0 ? passed : ['no route matches'] };
}

function bySearch(_: IssueCluster, { search }: Routing, spaces: Spaces, ranked: readonly RankedSpace[] | null): Choice {
  if (!search.enabled || ranked === null) {
    return { space: null, why: '', passed: [] };
  }
  const allowed = new Set(search.spaces.map((name) => spaces.get(name)?.id));
  const passed: string[] = [];
  const candidates = ranked.filter(({ id }) => allowed.size === 0 || allowed.has(id));
  for (const [index, { id, pages }] of candidates.entries()) {
    const space = usable(id, spaces, passed, 'the search');
    if (space !== null) {
      const found = `${pages.length} ${pages.length === 1 ? 'page' : 'pages'}`;
      return {
        space,
        why: `the search finds it ${index === 0 ? 'best' : 'best of what can be used'} (${found})`,
        passed,
      };
    }
  }
  const nothing = ranked.length === 0 ? 'the search finds nothing' : 'the search finds no space that is allowed';
  return { space: null, why: '', passed: candidates.length === 0 ? [nothing] : passed };
}

function byDefault(_: IssueCluster, routing: Routing, spaces: Spaces): Choice {
  if (routing.default === null) {
    return { space: null, why: '', passed: ['there is no default'] };
  }
  const passed: string[] = [];
  const space = usable(routing.default, spaces, passed, 'the default');
  return { space, why: 'the default', passed };
}

/** The space of this name if it can be used; else what speaks against it is noted. */
function usable(name: string, spaces: Spaces, passed: string[], by: string): RouteSpace | null {
  const space = spaces.get(name);
  if (space?.usable === true) {
    return space;
  }
  passed.push(`${by} names ${name}, which is ${space === undefined ? 'not there' : (space.why ?? 'not usable')}`);
  return null;
}
