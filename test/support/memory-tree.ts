/** In-memory tree of files. */
import { createHash } from 'node:crypto';
import { SourceError } from '../../src/core/errors.ts';
import type { FileEntry, FileTree } from '../../src/core/files/file-tree.ts';

/** In-memory tree of files that counts reads. */
export interface MemoryTree extends FileTree {
  readonly files: Map<string, string | Uint8Array>;
  /** Paths in the order in which they were read. */
  readonly reads: string[];
}

/**
 * Creates a tree of these files. With `versions: false` it reports no versions, so that only reading detects a change.
 */
export function memoryTree(
  files: Readonly<Record<string, string | Uint8Array>>,
  options: { readonly versions?: boolean; readonly label?: string } = {},
): MemoryTree {
  const held = new Map(Object.entries(files));
  const reads: string[] = [];
  const bytesOf = (path: string) => {
    const content = held.get(path);
    if (content === undefined) {
      throw new SourceError(`${path} is not there`);
    }
    return typeof content === 'string' ? new TextEncoder().encode(content) : content;
  };
  const entryOf = (path: string): FileEntry => {
    const bytes = bytesOf(path);
    const version = options.versions === false ? null : createHash('sha1').update(bytes).digest('hex');
    return { path, size: bytes.byteLength, version };
  };
  return {
    label: options.label ?? 'manifests',
    files: held,
    reads,
    list: async () => [...held.keys()].sort().map(entryOf),
    read: async (path) => {
      reads.push(path);
      return bytesOf(path);
    },
    resolve: async (path) => {
      bytesOf(path);
      return path;
    },
    checkNamed: async () => undefined,
  };
}
