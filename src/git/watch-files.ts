/** Watches single files, and the files directly in directories. */
import { basename, dirname, resolve } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { messageOf, SourceError } from '../core/errors.ts';
import { followLinks } from './watch.ts';

export interface WatchedFiles {
  readonly files: readonly string[];
  /** Directories whose files are all watched; directories below them are not. */
  readonly directories: readonly string[];
}

export interface FileWatchOptions {
  /** Called after something has changed and settled. */
  readonly onChange: () => void;
  /** Milliseconds without a change after which changes are reported. */
  readonly settle: number;
  readonly onError: (error: SourceError) => void;
}

/** Names that are watched in a directory; null: all. */
type Names = ReadonlySet<string> | null;

/**
 * Watches the directories of files, so that a file may be replaced, removed and created again, and the directories of
 * symbolic links on the way to it, whose targets may change, as in volumes of Kubernetes.
 */
export class FileWatch {
  readonly #options: FileWatchOptions;
  #watched: WatchedFiles = { files: [], directories: [] };
  #names: ReadonlyMap<string, Names> = new Map();
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: FileWatchOptions) {
    this.#options = options;
  }

  /** Replaces the files that are watched. Resolves once every later change will be noticed. */
  async set(watched: WatchedFiles): Promise<void> {
    this.#watched = watched;
    await this.#retarget();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#watcher?.close();
  }

  async #retarget(): Promise<void> {
    const names = namesByDirectory(this.#watched);
    if (this.#isClosed || describe(names) === describe(this.#names)) {
      return;
    }
    const old = this.#watcher;
    this.#names = names;
    const watcher = watch([...names.keys()], {
      ignoreInitial: true,
      followSymlinks: false,
      depth: 0,
      ignored: (path) => !names.has(path) && !isNamed(names, path),
    });
    this.#watcher = watcher;
    watcher.on('all', () => this.#report());
    watcher.on('error', (error) => {
      const what = messageOf(error);
      this.#options.onError(new SourceError(`cannot watch the configuration: ${what}`, { cause: error }));
    });
    await new Promise<void>((ready) => {
      watcher.once('ready', () => ready());
    });
    await old?.close();
  }

  #report(): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) {
      // A target of a link may have changed. What is read after the watchers are ready is not missed.
      this.#timer = setTimeout(() => void this.#retarget().then(this.#options.onChange), this.#options.settle);
    }
  }
}

function namesByDirectory({ files, directories }: WatchedFiles): ReadonlyMap<string, Names> {
  const names = new Map<string, Set<string> | null>();
  const add = (path: string) => {
    const directory = dirname(path);
    const known = names.get(directory);
    if (known !== null) {
      names.set(directory, (known ?? new Set<string>()).add(basename(path)));
    }
  };
  for (const path of [...files, ...directories]) {
    const { real, links } = followLinks(resolve(path));
    for (const each of [...links, real]) {
      add(each);
    }
  }
  for (const directory of directories) {
    names.set(followLinks(resolve(directory)).real, null);
  }
  return names;
}

function isNamed(names: ReadonlyMap<string, Names>, path: string): boolean {
  const found = names.get(dirname(path));
  return found === null || found?.has(basename(path)) === true;
}

function describe(names: ReadonlyMap<string, Names>): string {
  return JSON.stringify([...names].map(([directory, found]) => [directory, found === null ? null : [...found]]));
}
