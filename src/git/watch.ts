/** Watches directories and single files for changes. */
import { lstatSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { type ChokidarOptions, type FSWatcher, watch } from 'chokidar';
import { messageOf, SourceError } from '../core/errors.ts';
import { isRefusedFolder, orNull } from './repository.ts';

interface WatchOptions {
  /** Called after something has changed and settled. */
  readonly onChange: () => void;
  /** Milliseconds without a change after which changes are reported. */
  readonly settle: number;
  /** Called on errors, such as too many directories for the system; scheduled passes still notice changes. */
  readonly onError?: ((error: SourceError) => void) | undefined;
}

/** Targets of a watch at one time. */
interface Targets {
  /** Differs when the targets do. */
  readonly key: string;
  readonly watches: readonly (readonly [paths: readonly string[], options: ChokidarOptions])[];
}

/** Watch on targets that may move, because links lead to them: they are looked up again at each change. */
class Watch {
  readonly #what: string;
  readonly #find: () => Targets;
  readonly #options: WatchOptions;
  readonly #watchers = new Set<FSWatcher>();
  #key: string | null = null;
  #ready: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #closed = Promise.withResolvers<void>();

  constructor(what: string, find: () => Targets, options: WatchOptions) {
    this.#what = what;
    this.#find = find;
    this.#options = options;
  }

  /** Watches the current targets if they have changed. Resolves once every later change will be noticed. */
  async retarget(): Promise<void> {
    const { key, watches } = this.#find();
    if (this.#isClosed || key === this.#key) {
      return this.#ready;
    }
    const old = [...this.#watchers];
    this.#key = key;
    this.#ready = Promise.all(watches.map(([paths, options]) => this.#start(paths, options))).then(() => undefined);
    await this.#ready;
    for (const watcher of old) {
      this.#watchers.delete(watcher);
      await watcher.close();
    }
    // They may have moved again before the watchers were ready.
    await this.retarget();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closed.resolve();
    clearTimeout(this.#timer);
    await Promise.all([...this.#watchers].map((watcher) => watcher.close()));
  }

  #start(paths: readonly string[], options: ChokidarOptions): Promise<void> {
    const watcher = watch([...paths], { ignoreInitial: true, ...options });
    this.#watchers.add(watcher);
    const fail = (error: unknown) =>
      this.#options.onError?.(new SourceError(`cannot watch ${this.#what}: ${messageOf(error)}`, { cause: error }));
    // Reported only once the watchers are ready, so that no change after the report is missed.
    watcher.on('all', () => void this.retarget().then(() => this.#report(), fail));
    watcher.on('error', fail);
    const ready = new Promise<void>((done) => {
      watcher.once('ready', () => done());
    });
    // A watcher that is closed before it is ready never becomes ready.
    return Promise.race([ready, this.#closed.promise]);
  }

  #report(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#isClosed ? undefined : setTimeout(this.#options.onChange, this.#options.settle);
  }
}

/** Watch on a directory. */
export interface DirectoryWatch {
  /** Resolves once every later change will be noticed. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/**
 * Calls `onChange` once after files below a directory have changed and settled. Also notices if the directory, or one
 * above it, is a symbolic link whose target changes, as with git-sync. Hidden directories are not watched. The
 * directory does not have to exist yet.
 */
export function watchDirectory(directory: string, options: WatchOptions): DirectoryWatch {
  const path = resolve(directory);
  const watching = new Watch(directory, () => directoryTargets(path), options);
  return { ready: watching.retarget(), close: () => watching.close() };
}

function directoryTargets(path: string): Targets {
  const { real, links } = followLinks(path);
  // Called twice, first without stats. Hidden files such as .octavoignore are watched, hidden directories are not.
  // Neither are directories behind links, whose manifests are not read and which can be arbitrarily large.
  const ignored = (file: string, stats?: Pick<Stats, 'isDirectory' | 'isSymbolicLink'>) =>
    stats !== undefined &&
    file !== real &&
    ((stats.isDirectory() && basename(file).startsWith('.')) || (stats.isSymbolicLink() && isFolderBehind(file)));
  // A directory to which a link leads out of the repository is not watched, only the link, so that a fix is noticed.
  const isRefused = links.length > 0 && isRefusedFolder(path);
  return {
    key: JSON.stringify([real, ...links]),
    watches: [
      ...(isRefused ? [] : [[[real], { followSymlinks: true, ignored }] as const]),
      ...(links.length === 0 ? [] : [[links, { followSymlinks: false, depth: 0 }] as const]),
    ],
  };
}

interface FollowedLinks {
  /** Path without symbolic links, whether it exists or not. */
  readonly real: string;
  /** Symbolic links on the path, in order. */
  readonly links: readonly string[];
}

/** Resolves a path and records its symbolic links. Never throws, because watchers call it while others change files. */
function followLinks(path: string): FollowedLinks {
  const links: string[] = [];
  const { root } = parse(path);
  let waiting = path.slice(root.length).split(sep);
  let done = root;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const step = join(done, next);
    const link = links.length < 40 ? linkTarget(step) : null;
    if (link !== null) {
      links.push(step);
      const target = resolve(dirname(step), link);
      waiting = [...target.slice(parse(target).root.length).split(sep), ...waiting];
      done = parse(target).root;
    } else {
      done = step;
    }
  }
  return { real: done, links };
}

/** Returns the target of a symbolic link; null if the path is not a link, or cannot be read. */
function linkTarget(path: string): string | null {
  return orNull(() => (lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null));
}

/** Returns true if a link leads to a directory, or is circular, as there is nothing to watch behind it. */
function isFolderBehind(link: string): boolean {
  try {
    return statSync(link, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return true;
  }
}

export interface WatchedFiles {
  readonly files: readonly string[];
  /** Directories whose files are all watched; directories below them are not. */
  readonly directories: readonly string[];
}

/** Names that are watched in a directory; null: all. */
type Names = ReadonlySet<string> | null;

/**
 * Watches the directories of files, so that a file may be replaced, removed and created again, and the directories of
 * symbolic links on the way to it, whose targets may change, as in volumes of Kubernetes.
 */
export class FileWatch {
  readonly #watch: Watch;
  #watched: WatchedFiles = { files: [], directories: [] };

  constructor(options: WatchOptions) {
    this.#watch = new Watch('the configuration', () => fileTargets(this.#watched), options);
  }

  /** Replaces the files that are watched. Resolves once every later change will be noticed. */
  set(watched: WatchedFiles): Promise<void> {
    this.#watched = watched;
    return this.#watch.retarget();
  }

  close(): Promise<void> {
    return this.#watch.close();
  }
}

function fileTargets(watched: WatchedFiles): Targets {
  const names = namesByDirectory(watched);
  const ignored = (path: string) => !names.has(path) && !isNamed(names, path);
  return {
    key: JSON.stringify([...names].map(([directory, found]) => [directory, found === null ? null : [...found]])),
    watches: names.size === 0 ? [] : [[[...names.keys()], { followSymlinks: false, depth: 0, ignored }]],
  };
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
