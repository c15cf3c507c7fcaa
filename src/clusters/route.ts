/** Finds the space for a cluster's change request: by the configured routes, a search, or the default. */
import type { ClustersConfig } from '../config/clusters.ts';
import { ConfigError, formatProblem } from '../core/errors.ts';
import type { Declared } from '../core/resource.ts';
import { compilePattern } from '../core/text/pattern.ts';
import { didYouMean, quote } from '../core/text/suggest.ts';
import type { Reader } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';
import type { Item } from '../platform/operations/model/operation.ts';
import type { OrganizationRecord } from '../store/record.ts';
import { type ClusterIssue, cut, type IssueCluster, oneLine, pickRepresentatives, webUrl } from './cluster.ts';
import { nullIfNotFound } from './sources.ts';

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
  const keyed = spaces.flatMap((space) => (space.key === null ? [] : [[space.key, space] as const]));
  return new Map([...spaces.map((space) => [space.id, space] as const), ...keyed]);
}

export function createRouting(settings: Pick<ClustersConfig, 'routes' | 'search' | 'defaultSpace'>): Routing {
  const rules = settings.routes.map(({ label, source, space }) => {
    const pattern = label === undefined ? null : compilePattern(label, 'i');
    const matches = (cluster: IssueCluster) =>
      (source === undefined || (cluster.sources[source] ?? 0) > 0) && (pattern === null || pattern.test(cluster.label));
    return { matches, space };
  });
  return { rules, search: settings.search, default: settings.defaultSpace };
}

/** Returns whether no route matches a cluster, so that a search must find its space. */
export function needsSearch(cluster: IssueCluster, { rules, search }: Routing, spaces: Spaces): boolean {
  const waits = (name: string) => spaces.get(name)?.waits === true;
  const isRouted = ({ matches, space }: Routing['rules'][number]) =>
    matches(cluster) && (spaces.get(space)?.usable === true || waits(space));
  return search.enabled && !search.spaces.some(waits) && !rules.some(isRouted);
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
  for (const candidate of candidates(cluster, routing, spaces, ranked)) {
    if (typeof candidate === 'string') {
      rejected.push(candidate);
      continue;
    }
    const { name, by, why = by } = candidate;
    const space = spaces.get(name);
    if (space?.usable === true) {
      return { space, why: [why, ...rejected].join('; ') };
    }
    rejected.push(`${by} names ${name}, which is ${space === undefined ? 'not found' : (space.why ?? 'not usable')}`);
    if (space?.waits === true) {
      return { space: null, why: rejected.join('; '), waits: true };
    }
  }
  return { space: null, why: rejected.join('; '), waits: false };
}

/** A space that may be selected, with what names it, and the reason for it if that differs. */
interface Candidate {
  readonly name: string;
  readonly by: string;
  readonly why?: string;
}

/** Returns the spaces that may be selected, the best one first, and in their place the reason why there are none. */
function* candidates(
  cluster: IssueCluster,
  { rules, search, default: fallback }: Routing,
  spaces: Spaces,
  ranked: readonly RankedSpace[] | null,
): Generator<Candidate | string> {
  const routes = [...rules.entries()].filter(([, rule]) => rule.matches(cluster));
  yield* routes.map(([index, { space }]) => ({ name: space, by: `route ${index + 1}` }));
  if (rules.length > 0 && routes.length === 0) {
    yield 'no route matches';
  }
  if (search.enabled) {
    yield* searchCandidates(search, spaces, ranked);
  }
  yield fallback === null ? 'no default is set' : { name: fallback, by: 'the default' };
}

function* searchCandidates(
  search: Routing['search'],
  spaces: Spaces,
  ranked: readonly RankedSpace[] | null,
): Generator<Candidate | string> {
  const later = search.spaces.find((name) => spaces.get(name)?.waits === true);
  if (later !== undefined) {
    yield { name: later, by: 'the search' };
  }
  const allowed = new Set(search.spaces.map((name) => spaces.get(name)?.id));
  const found = (ranked ?? []).filter(({ id }) => allowed.size === 0 || allowed.has(id));
  for (const [index, { id, pages }] of found.entries()) {
    const rank = index === 0 ? 'first' : 'first of the usable spaces';
    const count = `${pages.length} ${pages.length === 1 ? 'page' : 'pages'}`;
    yield { name: id, by: 'the search', why: `ranked ${rank} in the search (${count})` };
  }
  if (ranked !== null && found.length === 0) {
    yield ranked.length === 0 ? 'the search found nothing' : 'the search found no allowed space';
  }
}

/** Space as declared by its manifest. */
interface DeclaredSpace {
  /** Id that the manifest sets; null if the space is matched by its title, or is created. */
  readonly id: string | null;
  readonly title: string | null;
}

/** Spaces and teams known from the record, the manifests and the last plan. */
export type Names = ReturnType<typeof createNames>;

type DeclaredResources = ReadonlyMap<string, Pick<Declared, 'kind' | 'id' | 'fields'>>;

/**
 * Combines the record, the manifests and the last plan. `declared`: resources of the manifests; null if they cannot be
 * read here. `bindings`: ids of resources, as the last plan found them; null if there was no plan.
 */
export function createNames({
  record,
  declared,
  bindings,
}: {
  readonly record: Pick<OrganizationRecord, 'read'>;
  readonly declared: (() => Promise<DeclaredResources>) | null;
  readonly bindings?: () => ReadonlyMap<string, string> | null;
}) {
  return {
    /** Ids by manifest key, as last applied. Throws StoreError. */
    recorded: async (kind: 'space' | 'team'): Promise<ReadonlyMap<string, string>> => {
      const { entries } = await record.read();
      const own = entries.filter((entry) => entry.kind === kind);
      return new Map(own.flatMap(({ address, id }) => (id === null ? [] : [[address.slice(kind.length + 1), id]])));
    },
    /** Spaces that the manifests declare now, by key; null if the manifests cannot be read. */
    declared: async (): Promise<ReadonlyMap<string, DeclaredSpace> | null> => {
      const found = (await declared?.().catch(() => null)) ?? null;
      const spaces = [...(found ?? [])].filter(([, { kind }]) => kind === 'space');
      const space = ({ id, fields: { title } }: Pick<Declared, 'id' | 'fields'>): DeclaredSpace => ({
        id,
        title: typeof title === 'string' ? title : null,
      });
      return found === null ? null : new Map(spaces.map(([address, each]) => [keyOf(address), space(each)]));
    },
    /** Ids of spaces by key, as the last plan found them; empty if there was no plan. */
    observed: (): ReadonlyMap<string, string> => {
      const found = [...(bindings?.() ?? [])].filter(([address]) => address.startsWith(SPACE));
      return new Map(found.map(([address, id]) => [keyOf(address), id]));
    },
  };
}

const SPACE = 'space/';

function keyOf(address: string): string {
  return address.slice(SPACE.length);
}

type SpaceAnswer = Item<typeof operations.listSpaces>;

/**
 * Reads the spaces that change requests may be opened in. `also`: a name given by a person. Throws AppError, and
 * ConfigError with the position of each name in the settings that is neither a manifest key nor an id, unless the
 * manifests cannot be read.
 */
export async function readSpaces(
  reader: Reader,
  names: Names,
  config: ClustersConfig,
  also: string | null = null,
): Promise<Spaces> {
  const recorded = await names.recorded('space');
  const answers = await listSpaces(reader, config, names, recorded);
  const there = new Map(answers.map((answer) => [answer.id, answer]));
  const missing = [...namesIn(config), ...(also === null ? [] : [also])].filter(
    (name) => !there.has(recorded.get(name) ?? name),
  );
  const declared = missing.length === 0 ? new Map<string, DeclaredSpace>() : await names.declared();
  const bound = new Map(recorded);
  for (const name of missing) {
    const id = boundId(names.observed().get(name), declared?.get(name), there);
    if (id !== null) {
      bound.set(name, id);
    }
  }
  const keys = new Map([...bound].map(([key, id]) => [id, key]));
  const gone = [...bound].filter(([, id]) => !there.has(id)).map(([key, id]) => absent(key, id, 'deleted', false));
  const found = indexSpaces([...gone, ...answers.map((answer) => toTargetSpace(answer, keys.get(answer.id) ?? null))]);
  const why = declared === null ? 'unknown because the manifests cannot be read' : 'declared but not created yet';
  const later = missing
    .filter((name) => !found.has(name) && declared?.has(name) !== false)
    .map((name) => absent(name, name, why, true));
  const unknown = config.spaceNames.filter(({ name }) => !found.has(name) && declared?.has(name) === false);
  if (unknown.length > 0) {
    // Declared spaces that do not exist yet are valid names too.
    const known = [...found.keys(), ...(declared?.keys() ?? [])];
    const lines = unknown.map(({ name, place }) =>
      formatProblem({ ...place, message: unknownSpaceMessage(name, known) }),
    );
    throw new ConfigError(lines.join('\n'));
  }
  return new Map([...indexSpaces(later), ...found]);
}

/** Returns the names of spaces in the settings. */
function namesIn({ routes, search, defaultSpace: fallback }: ClustersConfig): readonly string[] {
  const names = [...routes.map(({ space }) => space), ...search.spaces, ...(fallback === null ? [] : [fallback])];
  return [...new Set(names)];
}

/**
 * Returns the id of a declared space that is not in the record: the id in the manifest, the id found by the last plan,
 * or the id of the only space with its title, which a plan would adopt. Null if it does not exist yet.
 */
function boundId(
  observed: string | undefined,
  declared: DeclaredSpace | undefined,
  there: ReadonlyMap<string, SpaceAnswer>,
): string | null {
  if (declared === undefined) {
    return null;
  }
  const id = declared.id ?? observed;
  if (id !== undefined) {
    return there.has(id) ? id : null;
  }
  const alike = [...there.values()].filter(({ title, deletedAt }) => title === declared.title && deletedAt == null);
  return declared.title !== null && alike.length === 1 ? (alike[0]?.id ?? null) : null;
}

/** Lists the spaces. On versions without such a list, reads each space that is named. */
async function listSpaces(
  reader: Reader,
  config: ClustersConfig,
  names: Names,
  recorded: ReadonlyMap<string, string>,
): Promise<readonly SpaceAnswer[]> {
  const listed = await nullIfNotFound(Array.fromAsync(reader.pages(operations.listSpaces)));
  if (listed !== null) {
    return listed;
  }
  const [declared, observed] = [await names.declared(), names.observed()];
  const idOf = (name: string) => recorded.get(name) ?? declared?.get(name)?.id ?? observed.get(name) ?? name;
  const ids = new Set(namesIn(config).map(idOf));
  const answers = await Promise.all(
    [...ids].map((spaceId) => nullIfNotFound(reader.get(operations.getSpace, { path: { spaceId } }))),
  );
  return answers.filter((answer) => answer !== null);
}

function toTargetSpace({ id, title, deletedAt, editMode }: SpaceAnswer, key: string | null): TargetSpace {
  const isDeleted = (deletedAt ?? null) !== null;
  const why = isDeleted ? 'deleted' : editMode === 'locked' ? 'locked' : null;
  return { id, title: oneLine(title ?? '') || id, key, usable: why === null, waits: false, why };
}

function absent(key: string, id: string, why: string, waits: boolean): TargetSpace {
  return { id, title: key, key, usable: false, waits, why };
}

/** Describes an unknown space name, with a suggestion. */
export function unknownSpaceMessage(name: string, known: readonly string[]): string {
  return `${quote(name)} is neither the key of a space’s manifest nor the id of a space${didYouMean(name, known)}`;
}

/** Longest query, in characters. Source: docs/platform-notes.md#limits */
const MAX_QUERY_LENGTH = 512;
/** Maximum number of issue titles in a query: more would outweigh the label. */
const MAX_TITLES = 5;

/** Placeholder that redaction inserts for private data; useless in a search. */
const PLACEHOLDER = /\[[A-Z][A-Z0-9_]*_\d+\]/g;

/** Builds the search query from the cluster's label and the titles of its most representative issues. */
export function buildSearchQuery(cluster: IssueCluster, issues: readonly ClusterIssue[]): string {
  const titles = pickRepresentatives(issues, issues.length).map(({ title }) => oneLine(title));
  const texts = [oneLine(cluster.label), ...titles].map((text) => oneLine(text.replaceAll(PLACEHOLDER, ' ')));
  const words = [...new Set(texts.filter((text) => text !== ''))];
  return cut(words.slice(0, MAX_TITLES + 1).join(' '), MAX_QUERY_LENGTH, true).replace(/…$/, '');
}

/** Page found by a search. */
export interface RelatedPage {
  readonly id: string;
  readonly title: string;
  readonly url: string | null;
  /** Title of its space. */
  readonly space: string;
}

/** Space with its score: the sum of the reciprocal ranks of its results. */
export interface RankedSpace {
  readonly id: string;
  readonly score: number;
  readonly pages: readonly RelatedPage[];
}

/**
 * Ranks the spaces of search results, best first. The platform returns an order without scores, so a space at position
 * n gets 1/n. Each of its pages at position m adds 1/(n+m), so that a space with many matching pages can rank above the
 * space before it. Equal scores keep their order.
 */
export function rankSpaces(results: readonly Item<typeof operations.searchOrganization>[]): readonly RankedSpace[] {
  const spaces = new Map<string, { score: number; pages: RelatedPage[] }>();
  for (const [place, result] of results.entries()) {
    const title = oneLine(result.title ?? '');
    const space = spaces.get(result.id) ?? { score: 0, pages: [] };
    spaces.set(result.id, space);
    space.score += 1 / (place + 1);
    for (const [index, page] of (result.pages ?? []).entries()) {
      space.score += 1 / (place + index + 2);
      const url = webUrl(page.urls?.app) ?? webUrl(page.urls?.published);
      const name = oneLine(page.title ?? '') || oneLine(page.path ?? '') || page.id;
      space.pages.push({ id: page.id, title: name, url, space: title });
    }
  }
  return [...spaces].map(([id, space]) => ({ id, ...space })).sort((a, b) => b.score - a.score);
}

/** Picks up to `most` pages: those of the chosen space first, then those of the others. */
export function pickRelatedPages(ranked: readonly RankedSpace[], space: string, most: number): readonly RelatedPage[] {
  const own = ranked.filter(({ id }) => id === space);
  const others = ranked.filter(({ id }) => id !== space);
  const pages = [...own, ...others].flatMap((found) => found.pages);
  return [...new Map(pages.map((page) => [page.id, page])).values()].slice(0, most);
}
