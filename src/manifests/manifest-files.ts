import ignore from 'ignore';
import type { FileEntry, FileTree } from '../core/file-tree.ts';
import { decodeUtf8 } from './file-contents.ts';

const IGNORE_FILE = '.octavoignore';
const CONFIG_FILES: readonly string[] = ['config.yaml', 'config.example.yaml'];

/** The files of a tree that may be manifests: hidden and ignored ones, and the daemon's own config, are left out. */
export async function findManifestFiles(
  tree: FileTree,
  entries: readonly FileEntry[],
  config: string | null,
): Promise<readonly FileEntry[]> {
  const ignored = await readIgnoreFile(tree, entries);
  return entries.filter(({ path }) => isYaml(path) && !isHidden(path) && path !== config && !ignored(path));
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
  const rules = ignore().add(decodeUtf8(await tree.read(IGNORE_FILE)) ?? '');
  return (path) => rules.ignores(path);
}

/** Whether a file is the daemon's config rather than a manifest: by its name, and by what is in it. */
export function isConfig(path: string, text: string): boolean {
  return CONFIG_FILES.includes(path) && /^(platform|organizations)\s*:/m.test(text);
}
