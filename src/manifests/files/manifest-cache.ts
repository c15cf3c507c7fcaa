import type { FileEntry } from '../../core/files/file-tree.ts';
import type { ReadManifest } from '../read/read-manifest.ts';
import { isUnchanged, type ListedTree, type NamedDependency } from './file-contents.ts';

/** What is kept of one file between loads. */
export interface CachedManifest {
  readonly text: string;
  /** Null for the daemon's config and what else is no manifest whatever the others say. */
  readonly manifest: ReadManifest | null;
  readonly dependencies: readonly NamedDependency[];
  /** Paths that it names, before and after following links. */
  readonly names: readonly string[];
}

interface Slot {
  cached: CachedManifest;
  tree: string;
  version: string | null;
  load: number;
}

/** How many loads a file may be absent from before it is forgotten: a loader reads a commit and its base in turn. */
const KEPT_LOADS = 4;

/** The files that were read, by path: by the version the tree gives them, else by their text. */
export class ManifestCache {
  private readonly slots = new Map<string, Slot>();
  private load = 0;

  /** Begins a load, and forgets what the last few did not see. */
  begin(): void {
    this.load += 1;
    for (const [key, slot] of this.slots) {
      if (slot.load < this.load - KEPT_LOADS) {
        this.slots.delete(key);
      }
    }
  }

  /** What is known of a file that has not changed since, as far as the tree tells without reading it. */
  byVersion(root: string, entry: FileEntry, listed: ListedTree): CachedManifest | null {
    const slot = this.slots.get(slotKey(root, entry.path));
    const known = slot !== undefined && slot.version !== null && slot.version === entry.version;
    return known && slot.tree === listed.tree.label ? this.fresh(slot, listed) : null;
  }

  /** What is known of a file with this text. */
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
