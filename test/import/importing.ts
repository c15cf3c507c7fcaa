/** Helpers that import an organization into memory. */
import type { Observation } from '../../src/core/resource.ts';
import {
  type Choice,
  type ExistingManifests,
  type Imported,
  importManifests,
  readAll,
} from '../../src/import/import.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { createManifestLoader } from '../../src/manifests/loader.ts';
import { memoryTree } from '../support/memory-tree.ts';
import type { World } from '../support/world.ts';

export type Files = Readonly<Record<string, string>>;

interface Options extends Partial<Choice> {
  /** Existing manifests. */
  readonly into?: Files;
  readonly folder?: string;
}

/** Imports a platform's organization into an in-memory folder. */
export async function importFrom(world: World, options: Options = {}): Promise<Imported> {
  const { observation } = await readAll(kinds, options.kinds ?? [], world.reader());
  return importOf(observation, options);
}

/** The same from an observation. */
export async function importOf(
  observation: Observation,
  { into, folder = '', kinds: names = [], sites = [] }: Options = {},
): Promise<Imported> {
  const tree = memoryTree(into ?? {});
  return importManifests({
    kinds,
    observation,
    choice: { kinds: names, sites },
    tree,
    load: {},
    existing: into === undefined ? null : await existingOf(into),
    folder,
  });
}

async function existingOf(files: Files): Promise<ExistingManifests> {
  const { declared, paths } = await createManifestLoader(kinds).load(memoryTree(files));
  return { declared, manifests: new Map(paths.map((path) => [path, files[path] ?? ''])) };
}

/** Files of a folder after an import into it. */
export function filesAfter({ files }: Imported, into: Files = {}): Files {
  return { ...into, ...Object.fromEntries(files.map(({ path, text }) => [path, text])) };
}
