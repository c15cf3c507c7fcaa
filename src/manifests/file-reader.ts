/** Reader and cache of manifests and of the files that they refer to. */
import { isUtf8 } from 'node:buffer';
import { posix } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf, type Problem, SourceError } from '../core/errors.ts';
import { megabytes } from '../core/files/disk.ts';
import { type FileEntry, type FileTree, isInGitFolder, isLfsPointer, LFS_POINTER } from '../core/files/file-tree.ts';
import { quote, type Suggestions } from '../core/text/suggest.ts';
import { FileContent } from '../kinds/model/manifest.ts';
import { UNREAD_FILE } from './check-entry.ts';
import type { KindIndex } from './kind-index.ts';
import { isConfig } from './manifest-files.ts';
import { ManifestReader, type ReadManifest } from './read-manifest.ts';
import { Lines, START, type YamlFile } from './yaml.ts';

/** A file that a manifest refers to, with the version that was read. */
interface NamedDependency {
  /** Path as referred to, relative to the tree's root. */
  readonly path: string;
  /** Path after following links; the same as `path` if they could not be followed. */
  readonly resolved: string;
  /** Null if only the content shows whether the file has changed. */
  readonly version: string | null;
}

/** A tree and its file list, as of the start of one load. */
interface ListedTree {
  readonly tree: FileTree;
  readonly entries: ReadonlyMap<string, FileEntry>;
  /** Suggestions for references to files that do not exist. */
  readonly suggestions: Suggestions;
}

/**
 * Reads the file that `{ file }` refers to, relative to the manifest at `from`. Returns its content or a problem, and the
 * version that was read; null for a file that may not be read.
 */
async function readNamedFile(
  listed: ListedTree,
  from: string,
  file: string,
  limit: number,
): Promise<{ readonly content: FileContent | string; readonly dependency: NamedDependency | null }> {
  const path = posix.normalize(posix.join(posix.dirname(from), file));
  const refused = refuse(file, path);
  if (refused !== null) {
    return { content: refused, dependency: null };
  }
  let resolved = path;
  const read = (content: FileContent | string) => {
    return { content, dependency: { path, resolved, version: versionOf(listed, path, resolved) } };
  };
  try {
    resolved = await listed.tree.resolve(path);
    await listed.tree.checkNamed(path);
    const size = listed.entries.get(resolved)?.size ?? 0;
    const bytes = size > limit ? null : await listed.tree.read(path);
    if (bytes === null || bytes.byteLength > limit) {
      return read(`${quote(file)} is ${megabytes(bytes?.byteLength ?? size)}; the limit is ${megabytes(limit)}`);
    }
    const text = decodeUtf8(bytes);
    if (text === null) {
      return read(`${quote(file)} is not UTF-8 text; use a text file`);
    }
    return read(isLfsPointer(text) ? `${quote(file)} ${POINTER_PROBLEM}` : new FileContent(file, path, text));
  } catch (error) {
    if (!(error instanceof SourceError)) {
      throw error;
    }
    return read(`cannot read ${quote(file)}: ${messageOf(error)}${similar(listed, path)}`);
  }
}

function refuse(file: string, path: string): string | null {
  if (posix.isAbsolute(file) || /^[A-Za-z]:[\\/]/.test(file)) {
    return `${quote(file)} is an absolute path; use a path relative to this manifest`;
  }
  if (path === '..' || path.startsWith('../')) {
    return `${quote(file)} is outside the manifest directory; use a file inside it`;
  }
  if (isInGitFolder(path)) {
    return `${quote(file)} is inside .git; use a file outside it`;
  }
  return file.includes('\0') || file === ''
    ? `${quote(file)} is not a path; use a path relative to this manifest`
    : null;
}

function similar(listed: ListedTree, path: string): string {
  const near = listed.entries.has(path) ? null : listed.suggestions.nearest(path, listed.entries);
  return near === null ? '' : `; did you mean ${quote(near)}?`;
}

function versionOf(listed: ListedTree, path: string, resolved: string): string | null {
  const version = listed.entries.get(path)?.version ?? null;
  const target = path === resolved ? version : (listed.entries.get(resolved)?.version ?? null);
  return version === null || target === null ? null : `${version}\n${target}`;
}

/** Says what is wrong with a Git LFS pointer among manifests, and what to do. */
const POINTER_PROBLEM = `${LFS_POINTER}; store the file in git itself: Octavo runs no filters of a repository`;

/** Decodes UTF-8 strictly: returns null for an invalid byte. Removes a byte order mark. */
function decodeUtf8(bytes: Uint8Array): string | null {
  if (!isUtf8(bytes)) {
    return null;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}
const BYTE_ORDER_MARK = 0xfeff;

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

  /** Returns the cached result if the files that it refers to are unchanged too. */
  private fresh(slot: Slot, listed: ListedTree): CachedManifest | null {
    const isUnchanged = ({ path, resolved, version }: NamedDependency) =>
      version !== null && version === versionOf(listed, path, resolved);
    if (!slot.cached.dependencies.every(isUnchanged)) {
      return null;
    }
    slot.load = this.load;
    return slot.cached;
  }
}

function slotKey(root: string, path: string): string {
  return `${root}\0${path}`;
}

/** Size limits of a manifest and of the files that it refers to. */
export interface ManifestLimits {
  /** Maximum size of a manifest, in bytes. */
  readonly manifestBytes: number;
  /** Maximum size of a file that a manifest refers to, in bytes. */
  readonly fileBytes: number;
  /** Maximum number of values that the aliases of one file may expand to. */
  readonly aliasedValues: number;
}

/** Called with the names of sections before the manifest that contains them is parsed, which blocks the process. */
export type OnSections = (names: ReadonlySet<string>) => Promise<void>;

/** Characters of manifests after which other work of the process gets a turn. */
const TURN = 200_000;
/** Characters of manifests from which {@link OnSections} is called: less is parsed in a moment. */
const MUCH = 8192;

interface ReaderParts {
  readonly kinds: KindIndex;
  readonly limits: ManifestLimits;
  readonly cache: ManifestCache;
  readonly parse: (text: string) => YamlFile;
}

/** Reads single files of one tree. Unchanged files come from the cache. */
export class FileReader {
  private readonly parts: ReaderParts;
  private readonly listed: ListedTree;
  private readonly root: string;
  private readonly onSections: OnSections | null;
  private announced: ReadonlySet<string> = new Set();
  private characters = 0;
  private sinceTurn = 0;
  private turn: Promise<void> = Promise.resolve();

  constructor(parts: ReaderParts, listed: ListedTree, root: string, onSections: OnSections | null = null) {
    this.parts = parts;
    this.listed = listed;
    this.root = root;
    this.onSections = onSections;
  }

  async read(entry: FileEntry): Promise<CachedManifest> {
    const unchanged = this.parts.cache.byVersion(this.root, entry, this.listed);
    if (unchanged !== null) {
      return unchanged;
    }
    if (entry.size > this.parts.limits.manifestBytes) {
      return this.unreadable(entry, this.tooLarge(entry.size));
    }
    const bytes = await this.bytesOf(entry.path);
    if (typeof bytes === 'string') {
      return this.unreadable(entry, bytes);
    }
    if (bytes.byteLength > this.parts.limits.manifestBytes) {
      return this.unreadable(entry, this.tooLarge(bytes.byteLength));
    }
    const text = decodeUtf8(bytes);
    if (text === null) {
      return this.notUtf8(entry, bytes);
    }
    if (isLfsPointer(text)) {
      return this.unreadable(entry, POINTER_PROBLEM);
    }
    const known = this.parts.cache.byText(this.root, entry, this.listed, text);
    if (known !== null) {
      return known;
    }
    const cached = isConfig(entry.path, text)
      ? { text, manifest: null, dependencies: [], names: [] }
      : await this.readText(entry, text);
    this.parts.cache.put(this.root, entry, this.listed, cached);
    return cached;
  }

  private async readText(entry: FileEntry, text: string): Promise<CachedManifest> {
    const { kinds, limits, parse } = this.parts;
    const reader = new ManifestReader(this.shown(entry.path), text, kinds, limits.aliasedValues);
    await this.announce(text);
    const file = parse(text);
    await this.giveTurn(text);
    reader.begin(file);
    const dependencies: NamedDependency[] = [];
    for (const { file, offset, put } of reader.files) {
      const { content, dependency } = await readNamedFile(this.listed, entry.path, file, limits.fileBytes);
      if (dependency !== null) {
        dependencies.push(dependency);
      }
      if (typeof content === 'string') {
        reader.reportInEntry(offset, content);
      }
      put(typeof content === 'string' ? UNREAD_FILE : content);
    }
    const names = dependencies.flatMap(({ path, resolved }) => (path === resolved ? [path] : [path, resolved]));
    await this.giveTurn(text);
    return { text, manifest: reader.finish(), dependencies, names };
  }

  /**
   * Lets health checks and pages be answered after much text: reading a manifest keeps the main thread busy. Files that are
   * read at the same time go on in turns of their own.
   */
  private async giveTurn({ length }: string): Promise<void> {
    this.sinceTurn += length;
    if (this.sinceTurn >= TURN) {
      this.sinceTurn = 0;
      this.turn = this.turn.then(() => nextTurn());
      await this.turn;
    }
  }

  private async announce(text: string): Promise<void> {
    this.characters += text.length;
    if (this.onSections === null || this.characters < MUCH) {
      return;
    }
    const names = new Set(Array.from(text.matchAll(/^\w+(?=:)/gm), ([name]) => name));
    const added = names.difference(this.announced);
    if (added.size > 0) {
      this.announced = this.announced.union(added);
      await this.onSections(added);
    }
  }

  /** Returns the bytes, or an error message for a link that is broken or leads to a file that is not in the tree. */
  private async bytesOf(path: string): Promise<Uint8Array | string> {
    try {
      return await this.listed.tree.read(path);
    } catch (error) {
      if (!(error instanceof SourceError)) {
        throw error;
      }
      try {
        if ((await this.listed.tree.resolve(path)) !== path) {
          await this.listed.tree.checkNamed(path);
        }
      } catch (reason) {
        return messageOf(reason);
      }
      // The file exists and may be read, so the error may be temporary and is not a problem of the manifest.
      throw error;
    }
  }

  private tooLarge(bytes: number): string {
    return `is ${megabytes(bytes)}; the limit for a manifest is ${megabytes(this.parts.limits.manifestBytes)}`;
  }

  private notUtf8(entry: FileEntry, bytes: Uint8Array): CachedManifest {
    const text = new TextDecoder('utf-8').decode(bytes);
    const position = new Lines(text).positionOf(Math.max(0, text.indexOf('\ufffd')));
    return this.unreadable(entry, 'is not UTF-8; save the file as UTF-8', position);
  }

  /** Returns the result for an unreadable file. It is not cached, so every load tries again. */
  private unreadable(entry: FileEntry, message: string, position = START): CachedManifest {
    const shown = this.shown(entry.path);
    const problem: Problem = { file: shown, ...position, address: '', message };
    const manifest = { shown, problems: [problem], entries: [], unread: '' };
    return { text: '', manifest, dependencies: [], names: [] };
  }

  private shown(path: string): string {
    return this.root === '' ? path : `${this.root}/${path}`;
  }
}
