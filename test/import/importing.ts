/** Helpers that import an organization into memory. */
import { expect } from 'vitest';
import type { Actual, Base, Observation } from '../../src/core/resource.ts';
import { type Drift, resolveDrift } from '../../src/import/drift.ts';
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
import { declare, type PassOptions, UNLIMITED, type World } from '../support/world.ts';

export type Files = Readonly<Record<string, string>>;

interface Options extends Partial<Choice> {
  /** Existing manifests. */
  readonly into?: Files;
  readonly folder?: string;
}

/** An organization with these resources, and these people by email address. */
export function observationOf(actuals: readonly Actual[], people: Readonly<Record<string, string>> = {}): Observation {
  const found = new Map(kinds.map(({ name }) => [name, actuals.filter(({ kind }) => kind === name)]));
  return { kinds: found, people: new Map(Object.entries(people)) };
}

/** The drift of a platform from manifests, over what was last applied; null: no base. */
export async function driftOf(world: World, files: Files, options: PassOptions, base: Base): Promise<Drift> {
  const { plan, identity, observation } = await world.plan(files, options);
  const manifests = new Map(Object.entries(files));
  return resolveDrift(
    {
      kinds,
      changes: plan.changes,
      declared: await declare(files),
      bound: identity.bound,
      base,
      observation,
      manifests,
    },
    async (texts) => (await world.plan({ ...files, ...Object.fromEntries(texts) }, options)).plan.changes,
  );
}

/** Expects that the changes of a plan over these manifests, without a base, are none. */
export async function expectEmptyPlan(world: World, files: Files, unmanaged: readonly string[] = []): Promise<void> {
  const { plan } = await world.plan(files, { policy: UNLIMITED, base: null });
  expect(plan.changes.map(({ action, address, fields }) => ({ action, address, fields }))).toEqual([]);
  expect(plan.pending).toEqual([]);
  expect(plan.unmanaged.map(({ kind }) => kind).filter((kind) => !unmanaged.includes(kind))).toEqual([]);
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
