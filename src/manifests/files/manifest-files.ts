import { posix } from 'node:path';
import { DesiredStateError } from '../../core/errors.ts';
import type { FileEntry, FileTree } from '../../core/files/file-tree.ts';
import { IgnoreError, parseIgnoreRules } from './ignore-rules.ts';

const IGNORE_FILE = '.octavoignore';
const CONFIG_FILES: readonly string[] = ['config.yaml', 'config.example.yaml'];

/** Files of a tree that may be manifests, and those with JSON, which is not read. */
export interface FoundFiles {
  readonly files: readonly FileEntry[];
  readonly json: readonly FileEntry[];
}

/**
 * Finds the files of a tree that may be manifests, without hidden and ignored files and the daemon's own config. `root` is
 * the prefix of paths in problems. Throws DesiredStateError for an ignore file that is too large or takes too long to
 * match.
 */
export async function findManifestFiles(
  tree: FileTree,
  entries: readonly FileEntry[],
  config: string | null,
  root = '',
): Promise<FoundFiles> {
  try {
    const ignored = await readIgnoreFile(tree, entries);
    const isRead = ({ path }: FileEntry) => !isHidden(path) && path !== config && !ignored(path);
    return {
      files: entries.filter((entry) => isYaml(entry.path) && isRead(entry)),
      json: entries.filter((entry) => entry.path.endsWith('.json') && isRead(entry)),
    };
  } catch (error) {
    throw error instanceof IgnoreError ? ignoreProblem(error, root) : error;
  }
}

function isYaml(path: string): boolean {
  return path.endsWith('.yaml') || path.endsWith('.yml');
}

function isHidden(path: string): boolean {
  return path.startsWith('.') || path.includes('/.');
}

async function readIgnoreFile(tree: FileTree, entries: readonly FileEntry[]): Promise<(path: string) => boolean> {
  if (!entries.some((entry) => entry.path === IGNORE_FILE)) {
    return () => false;
  }
  const rules = parseIgnoreRules(await tree.read(IGNORE_FILE));
  return (path) => rules.ignores(path);
}

function ignoreProblem(error: IgnoreError, root: string): DesiredStateError {
  const file = posix.join(root, IGNORE_FILE);
  return new DesiredStateError([{ file, line: 1, column: 1, address: '', message: error.message }], [], {
    cause: error,
  });
}

/** Reports whether a file is the daemon's config rather than a manifest, judged by its name and its content. */
export function isConfig(path: string, text: string): boolean {
  return CONFIG_FILES.includes(path) && /^(platform|organizations)\s*:/m.test(text);
}
