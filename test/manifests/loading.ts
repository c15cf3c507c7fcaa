import { DesiredStateError, formatProblem } from '../../src/core/errors.ts';
import type { FileTree } from '../../src/core/files/file-tree.ts';
import { createManifestLoader, type DesiredState, type LoadOptions } from '../../src/manifests/loader.ts';
import { memoryTree } from '../support/memory-tree.ts';
import { fakeKinds } from './fake-kinds.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

/** Loads files that are right. */
export function load(files: Files, options?: LoadOptions): Promise<DesiredState> {
  return createManifestLoader(fakeKinds).load(memoryTree(files), options);
}

/** Loads files that are wrong, and returns the problems as they are shown. */
export function problemsOf(files: Files, options?: LoadOptions): Promise<string[]> {
  return problemsIn(memoryTree(files), options);
}

/** The same for a tree. */
export async function problemsIn(tree: FileTree, options?: LoadOptions): Promise<string[]> {
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
