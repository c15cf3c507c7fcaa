import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Problem } from '../../core/errors.ts';
import { messageOf, SourceError } from '../../core/errors.ts';
import type { FileEntry } from '../../core/files/file-tree.ts';
import { isLfsPointer } from '../../core/files/lfs-pointer.ts';
import { UNREAD_FILE } from '../read/check-entry.ts';
import type { KindIndex } from '../read/kind-index.ts';
import { Lines, START } from '../read/lines.ts';
import type { YamlFile } from '../read/parse-yaml.ts';
import { ManifestReader, type ReadManifest } from '../read/read-manifest.ts';
import {
  decodeUtf8,
  type ListedTree,
  megabytes,
  type NamedDependency,
  POINTER_PROBLEM,
  readNamedFile,
} from './file-contents.ts';
import type { CachedManifest, ManifestCache } from './manifest-cache.ts';
import { isConfig } from './manifest-files.ts';

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
  private readonly announced = new Set<string>();
  private characters = 0;
  private sinceTurn = 0;
  private turn: Promise<void> = Promise.resolve();

  constructor(parts: ReaderParts, listed: ListedTree, root: string, onSections: OnSections | null = null) {
    this.parts = parts;
    this.listed = listed;
    this.root = root;
    this.onSections = onSections;
  }

  /** Returns the cached result without reading the file; null if the file must be read. */
  cached(entry: FileEntry): CachedManifest | null {
    return this.parts.cache.byVersion(this.root, entry, this.listed);
  }

  async read(entry: FileEntry): Promise<CachedManifest> {
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
    const shown = this.shown(entry.path);
    const reader = new ManifestReader({ shown, text, kinds, maxAliased: limits.aliasedValues });
    await this.announce(text);
    const file = parse(text);
    await this.giveTurn(text);
    reader.begin(file);
    const dependencies: NamedDependency[] = [];
    for (const { file, offset, put } of reader.files) {
      const { content, problem, dependency } = await readNamedFile(this.listed, entry.path, file, limits.fileBytes);
      if (dependency !== null) {
        dependencies.push(dependency);
      }
      if (problem !== null) {
        reader.reportInEntry(offset, problem);
      }
      put(content ?? UNREAD_FILE);
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
      for (const name of added) {
        this.announced.add(name);
      }
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
    const problem: Problem = { file: this.shown(entry.path), ...position, address: '', message };
    const manifest: ReadManifest = {
      shown: this.shown(entry.path),
      problems: [problem],
      sections: [],
      entries: [],
      unread: '',
    };
    return { text: '', manifest, dependencies: [], names: [] };
  }

  private shown(path: string): string {
    return this.root === '' ? path : `${this.root}/${path}`;
  }
}
