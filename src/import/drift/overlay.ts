import type { FileTree } from '../../core/files/file-tree.ts';

/** Returns a tree in which some files are already written. */
export function withFiles(tree: FileTree, files: ReadonlyMap<string, string>): FileTree {
  const encoded = new Map([...files].map(([path, text]) => [path, new TextEncoder().encode(text)]));
  return {
    label: tree.label,
    async list() {
      const there = (await tree.list()).filter(({ path }) => !files.has(path));
      const written = [...encoded].map(([path, { byteLength: size }]) => ({ path, size, version: null }));
      return [...there, ...written].sort((a, b) => (a.path < b.path ? -1 : 1));
    },
    read: async (path) => encoded.get(path) ?? tree.read(path),
    resolve: async (path) => (encoded.has(path) ? path : tree.resolve(path)),
    checkNamed: async (path) => (encoded.has(path) ? undefined : tree.checkNamed(path)),
  };
}
