import type { ClustersConfig, PlacedName } from '../../config/clusters.ts';
import { ConfigError, formatProblem, RejectedError } from '../../core/errors.ts';
import type { Declared } from '../../core/resource.ts';
import { didYouMean, quote } from '../../core/text/suggest.ts';
import type { Reader } from '../../platform/client.ts';
import { operations } from '../../platform/operations/index.ts';
import type { OrganizationRecord } from '../../store/store.ts';
import { indexSpaces, type Spaces, type TargetSpace } from '../decide/route.ts';
import { oneLine } from '../model/text-sanitizing.ts';

/** Space as declared by its manifest. */
export interface DeclaredSpace {
  /** Id that the manifest sets; null if the space is matched by its title, or is created. */
  readonly id: string | null;
  readonly title: string | null;
}

/** Spaces and teams known from the record, the manifests and the last plan. */
export interface Names {
  /** Ids by manifest key, as last applied. Throws StoreError. */
  recorded(kind: 'space' | 'team'): Promise<ReadonlyMap<string, string>>;
  /** Spaces that the manifests declare now, by key; null if the manifests cannot be read. */
  declared(): Promise<ReadonlyMap<string, DeclaredSpace> | null>;
  /** Ids of spaces by key, as the last plan found them; empty if there was no plan. */
  observed(): ReadonlyMap<string, string>;
}

type DeclaredResources = ReadonlyMap<string, Pick<Declared, 'kind' | 'id' | 'fields'>>;

/** Sources of `createNames`. */
export interface NameSources {
  readonly record: Pick<OrganizationRecord, 'read'>;
  /** Resources of the manifests; null if they cannot be read here. */
  readonly declared: (() => Promise<DeclaredResources>) | null;
  /** Ids of resources, as the last plan found them; null if there was no plan. */
  readonly bindings?: () => ReadonlyMap<string, string> | null;
}

/** Combines the record, the manifests and the last plan. */
export function createNames({ record, declared, bindings }: NameSources): Names {
  return {
    recorded: async (kind) => {
      const { entries } = await record.read();
      const own = entries.filter((entry) => entry.kind === kind);
      return new Map(own.flatMap(({ address, id }) => (id === null ? [] : [[address.slice(kind.length + 1), id]])));
    },
    declared: async () => {
      const found = (await declared?.().catch(() => null)) ?? null;
      const spaces = [...(found ?? [])].filter(([, { kind }]) => kind === 'space');
      return found === null ? null : new Map(spaces.map(([address, space]) => [keyOf(address), declaredSpace(space)]));
    },
    observed: () => {
      const found = [...(bindings?.() ?? [])].filter(([address]) => address.startsWith(SPACE));
      return new Map(found.map(([address, id]) => [keyOf(address), id]));
    },
  };
}

const SPACE = 'space/';

function keyOf(address: string): string {
  return address.slice(SPACE.length);
}

function declaredSpace({ id, fields }: Pick<Declared, 'id' | 'fields'>): DeclaredSpace {
  return { id, title: typeof fields.title === 'string' ? fields.title : null };
}

/** Spaces on the platform, and names in the settings that match none of them. */
export interface SpacesRead {
  readonly spaces: Spaces;
  /** Names in the settings that are neither a manifest key nor an id; empty if that cannot be determined. */
  readonly unknown: readonly PlacedName[];
  /** Every valid name of a space, including declared spaces that do not exist yet. */
  readonly known: readonly string[];
}

type SpaceAnswer = {
  readonly id: string;
  readonly title?: string | null | undefined;
  readonly deletedAt?: string | null | undefined;
  readonly editMode?: string | null | undefined;
};

/** Reads the spaces that change requests may be opened in. `also`: a name given by a person. Throws AppError. */
export async function readSpaces(
  reader: Reader,
  names: Names,
  config: ClustersConfig,
  also: string | null = null,
): Promise<SpacesRead> {
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
  return {
    spaces: new Map([...indexSpaces(later), ...found]),
    unknown: declared === null ? [] : config.spaceNames.filter(({ name }) => !found.has(name) && !declared.has(name)),
    known: [...found.keys(), ...(declared?.keys() ?? [])],
  };
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

/** Returns whether the platform answered with status 404. */
export function isNotFound(error: unknown): boolean {
  return error instanceof RejectedError && error.status === 404;
}

/** Returns null for status 404 if `isExpected`; throws every other error. */
export async function nullIfNotFound<T>(read: Promise<T>, isExpected = true): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (isExpected && isNotFound(error)) {
      return null;
    }
    throw error;
  }
}

function toTargetSpace({ id, title, deletedAt, editMode }: SpaceAnswer, key: string | null): TargetSpace {
  const isDeleted = (deletedAt ?? null) !== null;
  const why = isDeleted ? 'deleted' : editMode === 'locked' ? 'locked' : null;
  return { id, title: oneLine(title ?? '') || id, key, usable: why === null, waits: false, why };
}

function absent(key: string, id: string, why: string, waits: boolean): TargetSpace {
  return { id, title: key, key, usable: false, waits, why };
}

/** Builds one error for all names that match no space, each with its position. `known`: names that match one. */
export function unknownSpacesError(unknown: readonly PlacedName[], known: readonly string[]): ConfigError {
  const lines = unknown.map(({ name, place }) =>
    formatProblem({
      ...place,
      message: unknownSpaceMessage(name, known),
    }),
  );
  return new ConfigError(lines.join('\n'));
}

/** Describes an unknown space name, with a suggestion. */
export function unknownSpaceMessage(name: string, known: readonly string[]): string {
  return `${quote(name)} is neither the key of a space’s manifest nor the id of a space${didYouMean(name, known)}`;
}
