import type { FileEntry } from '../../core/files/file-tree.ts';
import type { ReadManifest } from '../read/read-manifest.ts';
import { isUnchanged, type ListedTree, type NamedDependency } from './file-contents.ts';

/** Cached result of reading one file. */
export interface CachedManifest {
  readonly text: string;
  /** Null for the daemon's config, which is never a manifest. */
  readonly manifest: ReadManifest | null;
  readonly dependencies: readonly NamedDependency[];
  /** Paths that it refers to, before and after following links. */
  readonly names: readonly string[];
}

interface Slot {
  cached: CachedManifest;
  tree: string;
  version: string | null;
  load: number;
}

/** Number of loads without a file before it is evicted. A loader alternates between a commit and its base. */
const KEPT_LOADS = 4;

/** Cache of read files by path. A file is unchanged if its version is the same or, without a version, its text. */
export class ManifestCache {
  private readonly slots = new Map<string, Slot>();
  private load = 0;

  /** Starts a load, and evicts files that the last few loads did not contain. */
  begin(): void {
    this.load += 1;
    for (const [key, slot] of this.slots) {
      if (slot.load < this.load - KEPT_LOADS) {
        this.slots.delete(key);
      }
    }
  }

  /** Returns the cached result if the file's version is unchanged; the file is not read. */
  byVersion(root: string, entry: FileEntry, listed: ListedTree): CachedManifest | null {
    const slot = this.slots.get(slotKey(root, entry.path));
    const known = slot !== undefined && slot.version !== null && slot.version === entry.version;
    return known && slot.tree === listed.tree.label ? this.fresh(slot, listed) : null;
  }

  /** Returns the cached result if the file's text is unchanged. */
  byText(root: string, entry: FileEntry, listed: ListedTree, text: string): CachedManifest | null {
    const slot = this.slots.get(slotKey(root, entry.path));
    if (slot === undefined || slot.cached.text !== text) {
      return null;
    }
    slot.tree = listed.tree.label;
    slot.version = entry.version;
    return this.fresh(slot, listed);
  }

  put(root: string, entry: FileEntry, listed: ListedTree, cached: CachedManifest): void {
    const { load } = this;
    this.slots.set(slotKey(root, entry.path), { cached, tree: listed.tree.label, version: entry.version, load });
  }

  private fresh(slot: Slot, listed: ListedTree): CachedManifest | null {
    if (!slot.cached.dependencies.every((dependency) => isUnchanged(listed, dependency))) {
      return null;
    }
    slot.load = this.load;
    return slot.cached;
  }
}

function slotKey(root: string, path: string): string {
  return `${root}\0${path}`;
}
