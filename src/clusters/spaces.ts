import type { ClustersConfig, PlacedName } from '../config/clusters.ts';
import { ConfigError, formatProblem, RejectedError } from '../core/errors.ts';
import { didYouMean, quote } from '../core/suggest.ts';
import type { Reader } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';
import type { OrganizationRecord } from '../store/store.ts';
import { oneLine } from './line.ts';
import { type RouteSpace, type Spaces, spacesOf } from './route.ts';

/** Where names of spaces and teams are known from, besides the platform. */
export interface Names {
  /** Ids by the keys of manifests, as they were last applied. Throws StoreError. */
  recorded(kind: 'space' | 'team'): Promise<ReadonlyMap<string, string>>;
  /** The keys of spaces that the manifests declare now; null where these cannot be read. */
  declared(): Promise<ReadonlySet<string> | null>;
}

/** What a record and manifests know. `declared` null: there are no manifests to read. */
export function namesFrom(
  record: Pick<OrganizationRecord, 'read'>,
  declared: (() => Promise<ReadonlyMap<string, { readonly kind: string }>>) | null,
): Names {
  return {
    recorded: async (kind) => {
      const { entries } = await record.read();
      const own = entries.filter((entry) => entry.kind === kind);
      return new Map(own.flatMap(({ address, id }) => (id === null ? [] : [[address.slice(kind.length + 1), id]])));
    },
    declared: async () => {
      const found = await declared?.().catch(() => null);
      const spaces = [...(found ?? [])].filter(([, { kind }]) => kind === 'space');
      return found == null ? null : new Set(spaces.map(([address]) => address.slice('space/'.length)));
    },
  };
}

/** Spaces as the platform has them, and the names in the settings that mean none of them. */
export interface SpacesRead {
  readonly spaces: Spaces;
  /** Neither a key of the manifests nor an id; empty where that cannot be known. */
  readonly unknown: readonly PlacedName[];
  /** Every name that means a space, also one that the manifests declare and that is not there yet. */
  readonly known: readonly string[];
}

type SpaceAnswer = {
  readonly id: string;
  readonly title?: string | null | undefined;
  readonly deletedAt?: string | null | undefined;
  readonly editMode?: string | null | undefined;
};

/** Reads the spaces that change requests may be for. Throws AppError. */
export async function readSpaces(reader: Reader, names: Names, config: ClustersConfig): Promise<SpacesRead> {
  const recorded = await names.recorded('space');
  const keys = new Map([...recorded].map(([key, id]) => [id, key]));
  const answers = await listSpaces(reader, config, recorded);
  const there = answers.map((answer) => toRouteSpace(answer, keys.get(answer.id) ?? null));
  const ids = new Set(there.map(({ id }) => id));
  const gone = [...recorded].filter(([, id]) => !ids.has(id)).map(([key, id]) => absent(key, id, 'deleted'));
  const found = spacesOf([...gone, ...there]);
  const missing = config.spaceNames.filter(({ name }) => !found.has(name));
  if (missing.length === 0) {
    return { spaces: found, unknown: [], known: [...found.keys()] };
  }
  const declared = await names.declared();
  const why = declared === null ? 'not known, and the manifests cannot be read' : 'declared, and not there yet';
  const later = missing.filter(({ name }) => declared?.has(name) !== false).map(({ name }) => absent(name, name, why));
  return {
    spaces: new Map([...spacesOf(later), ...found]),
    unknown: declared === null ? [] : missing.filter(({ name }) => !declared.has(name)),
    known: [...found.keys(), ...(declared ?? [])],
  };
}

/** Versions without a list of spaces are asked for each that is named. */
async function listSpaces(
  reader: Reader,
  config: ClustersConfig,
  recorded: ReadonlyMap<string, string>,
): Promise<readonly SpaceAnswer[]> {
  try {
    const spaces: SpaceAnswer[] = [];
    for await (const space of reader.pages(operations.listSpaces)) {
      spaces.push(space);
    }
    return spaces;
  } catch (error) {
    if (!isNotThere(error)) {
      throw error;
    }
  }
  const ids = new Set(config.spaceNames.map(({ name }) => recorded.get(name) ?? name));
  const answers = await Promise.all([...ids].map((id) => spaceOf(reader, id)));
  return answers.filter((answer) => answer !== null);
}

async function spaceOf(reader: Reader, spaceId: string): Promise<SpaceAnswer | null> {
  try {
    return await reader.get(operations.getSpace, { path: { spaceId } });
  } catch (error) {
    if (isNotThere(error)) {
      return null;
    }
    throw error;
  }
}

/** Whether the platform answered that there is no such thing. */
export function isNotThere(error: unknown): boolean {
  return error instanceof RejectedError && error.status === 404;
}

/** Null for a 404, where that has a meaning. */
export async function orNull<T>(hasMeaning: boolean, read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (hasMeaning && isNotThere(error)) {
      return null;
    }
    throw error;
  }
}

function toRouteSpace({ id, title, deletedAt, editMode }: SpaceAnswer, key: string | null): RouteSpace {
  const isDeleted = (deletedAt ?? null) !== null;
  const why = isDeleted ? 'deleted' : editMode === 'locked' ? 'locked' : null;
  return { id, title: oneLine(title ?? '') || id, key, usable: why === null, why };
}

function absent(key: string, id: string, why: string): RouteSpace {
  return { id, title: key, key, usable: false, why };
}

/** One error for all names that mean no space, each with its place. `known`: those that mean one. */
export function unknownSpaces(unknown: readonly PlacedName[], known: readonly string[]): ConfigError {
  const lines = unknown.map(({ name, place }) =>
    formatProblem({
      ...place,
      message: noSuchSpace(name, known),
    }),
  );
  return new ConfigError(lines.join('\n'));
}

/** That a name means no space, in words, and which was probably meant. */
export function noSuchSpace(name: string, known: readonly string[]): string {
  return `${quote(name)} is neither the key of a space’s manifest nor the id of a space${didYouMean(name, known)}`;
}
