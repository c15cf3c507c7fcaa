import type { ClustersConfig } from '../../config/clusters.ts';
import { append } from '../../core/lists.ts';
import { compilePattern, type Pattern } from '../../core/text/pattern.ts';
import type { IssueCluster } from '../model/cluster.ts';
import type { RankedSpace } from './search-query.ts';

/** Space that a change request may be opened in. */
export interface TargetSpace {
  readonly id: string;
  readonly title: string;
  /** Key of its manifest; null if no manifest declares it. */
  readonly key: string | null;
  /** False if it is locked or deleted. */
  readonly usable: boolean;
  /** True if it is declared but does not exist yet; its change requests wait. */
  readonly waits: boolean;
  /** Reason why it is not usable, such as "locked". */
  readonly why: string | null;
}

/** The spaces of an organization. */
export type Spaces = ReadonlyMap<string, TargetSpace>;

/** Target space of a cluster's change request with the reason, or the reason why there is none. */
export type Route =
  | { readonly space: TargetSpace; readonly why: string }
  | {
      readonly space: null;
      readonly why: string;
      /** True if the space does not exist yet. */
      readonly waits: boolean;
    };

/** Compiled routing settings. */
export interface Routing {
  readonly rules: readonly { readonly matches: (cluster: IssueCluster) => boolean; readonly space: string }[];
  readonly search: ClustersConfig['search'];
  readonly default: string | null;
}

/** Indexes spaces by manifest key and by id. A key takes precedence over an equal id. */
export function indexSpaces(spaces: readonly TargetSpace[]): Spaces {
  const keyed = spaces.filter(({ key }) => key !== null);
  return new Map([
    ...spaces.map((space) => [space.id, space] as const),
    ...keyed.map((space) => [space.key ?? '', space] as const),
  ]);
}

export function createRouting(settings: Pick<ClustersConfig, 'routes' | 'search' | 'defaultSpace'>): Routing {
  const rules = settings.routes.map(({ label, source, space }) => {
    const pattern = label === undefined ? null : compilePattern(label, 'i');
    return { matches: (cluster: IssueCluster) => matches(cluster, pattern, source), space };
  });
  return { rules, search: settings.search, default: settings.defaultSpace };
}

function matches(cluster: IssueCluster, pattern: Pattern | null, source: string | undefined): boolean {
  const isFrom = source === undefined || (cluster.sources[source] ?? 0) > 0;
  return isFrom && (pattern === null || pattern.test(cluster.label));
}

/** Returns whether no route matches a cluster, so that a search must find its space. */
export function needsSearch(cluster: IssueCluster, routing: Routing, spaces: Spaces): boolean {
  if (!routing.search.enabled || routing.search.spaces.some((name) => spaces.get(name)?.waits === true)) {
    return false;
  }
  const { space, waits } = byRules(cluster, routing, spaces);
  return space === null && !waits;
}

/**
 * Selects the space for a cluster: that of the first matching route, else the best search result among the allowed
 * spaces, else the default. An unusable space is skipped with a reason. If a declared space does not exist yet, the
 * cluster waits for it. `ranked` is null if no search was made. See docs/clusters.md.
 */
export function chooseSpace(
  cluster: IssueCluster,
  routing: Routing,
  spaces: Spaces,
  ranked: readonly RankedSpace[] | null,
): Route {
  const rejected: string[] = [];
  for (const decideOpening of [byRules, bySearch, byDefault]) {
    const found = decideOpening(cluster, routing, spaces, ranked);
    append(rejected, found.rejected);
    if (found.space !== null) {
      return { space: found.space, why: [found.why, ...rejected].join('; ') };
    }
    if (found.waits) {
      return { space: null, why: rejected.join('; '), waits: true };
    }
  }
  return { space: null, why: rejected.join('; ') || 'no route matches', waits: false };
}

interface OpeningDecision {
  readonly space: TargetSpace | null;
  /** True if the space does not exist yet. */
  readonly waits: boolean;
  readonly why: string;
  /** Rejected spaces, with reasons. */
  readonly rejected: readonly string[];
}

function byRules(cluster: IssueCluster, { rules }: Routing, spaces: Spaces): OpeningDecision {
  const rejected: string[] = [];
  for (const [index, rule] of rules.entries()) {
    if (rule.matches(cluster)) {
      const { space, waits } = usable(rule.space, spaces, rejected, `route ${index + 1}`);
      if (space !== null || waits) {
        return { space, waits, why: `route ${index + 1}`, rejected };
      }
    }
  }
  const nothing = rules.length === 0 ? [] : rejected.length > 0 ? rejected : ['no route matches'];
  return { space: null, waits: false, why: '', rejected: nothing };
}

function bySearch(
  _: IssueCluster,
  { search }: Routing,
  spaces: Spaces,
  ranked: readonly RankedSpace[] | null,
): OpeningDecision {
  const rejected: string[] = [];
  const later = search.enabled ? search.spaces.find((name) => spaces.get(name)?.waits === true) : undefined;
  if (later !== undefined) {
    return { ...usable(later, spaces, rejected, 'the search'), why: '', rejected };
  }
  if (!search.enabled || ranked === null) {
    return { space: null, waits: false, why: '', rejected };
  }
  const allowed = new Set(search.spaces.map((name) => spaces.get(name)?.id));
  const candidates = ranked.filter(({ id }) => allowed.size === 0 || allowed.has(id));
  for (const [index, { id, pages }] of candidates.entries()) {
    const { space } = usable(id, spaces, rejected, 'the search');
    if (space !== null) {
      const found = `${pages.length} ${pages.length === 1 ? 'page' : 'pages'}`;
      const rank = index === 0 ? 'first' : 'first of the usable spaces';
      return { space, waits: false, why: `ranked ${rank} in the search (${found})`, rejected };
    }
  }
  const nothing = ranked.length === 0 ? 'the search found nothing' : 'the search found no allowed space';
  return { space: null, waits: false, why: '', rejected: candidates.length === 0 ? [nothing] : rejected };
}

function byDefault(_: IssueCluster, routing: Routing, spaces: Spaces): OpeningDecision {
  if (routing.default === null) {
    return { space: null, waits: false, why: '', rejected: ['no default is set'] };
  }
  const rejected: string[] = [];
  return { ...usable(routing.default, spaces, rejected, 'the default'), why: 'the default', rejected };
}

/**
 * Returns the space with this name if it is usable. Otherwise adds the reason to `rejected` and reports whether to wait
 * for it.
 */
function usable(
  name: string,
  spaces: Spaces,
  rejected: string[],
  by: string,
): Pick<OpeningDecision, 'space' | 'waits'> {
  const space = spaces.get(name);
  if (space?.usable === true) {
    return { space, waits: false };
  }
  rejected.push(`${by} names ${name}, which is ${space === undefined ? 'not found' : (space.why ?? 'not usable')}`);
  return { space: null, waits: space?.waits === true };
}
