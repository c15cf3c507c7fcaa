/** Helpers that load manifests and format their problems. */
import { DesiredStateError, formatProblem } from '../../src/core/errors.ts';
import type { FileTree } from '../../src/core/files/file-tree.ts';
import { createManifestLoader, type DesiredState, type ManifestLoadOptions } from '../../src/manifests/loader.ts';
import { memoryTree } from '../support/memory-tree.ts';
import { fakeKinds } from './fake-kinds.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

/** Loads valid files. */
export function load(files: Files, options?: ManifestLoadOptions): Promise<DesiredState> {
  return createManifestLoader(fakeKinds).load(memoryTree(files), options);
}

/** Loads invalid files, and returns the formatted problems. */
export function problemsOf(files: Files, options?: ManifestLoadOptions): Promise<string[]> {
  return problemsIn(memoryTree(files), options);
}

/** Loads an invalid tree, and returns the formatted problems. */
export async function problemsIn(tree: FileTree, options?: ManifestLoadOptions): Promise<string[]> {
  try {
    await createManifestLoader(fakeKinds).load(tree, options);
  } catch (error) {
    if (error instanceof DesiredStateError) {
      return error.problems.map(formatProblem);
    }
    throw error;
  }
  return [];
}
