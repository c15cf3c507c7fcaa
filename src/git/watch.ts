/** Watches directories and single files for changes. */
import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { messageOf, SourceError } from '../core/errors.ts';
import type { FileTree } from '../core/files/file-tree.ts';
import { isRefusedFolder } from './repository.ts';

/** Watch on a directory. */
export interface DirectoryWatch {
  /** Resolves once every later change will be noticed. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** Options of a watch. */
interface WatchOptions {
  /** Milliseconds without a change after which changes are reported. */
  readonly settle: number;
  /** Called on errors, such as too many directories for the system; scheduled passes still notice changes. */
  readonly onError?: (error: SourceError) => void;
}

/**
 * Calls `onChange` once after files below a directory have changed and settled. Also notices if the directory, or one
 * above it, is a symbolic link whose target changes, as with git-sync. Hidden directories are not watched. The
 * directory does not have to exist yet.
 */
export function watchDirectory(directory: string, onChange: () => void, options: WatchOptions): DirectoryWatch {
  const path = resolve(directory);
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const fail = (error: unknown) =>
    options.onError?.(new SourceError(`cannot watch ${directory}: ${messageOf(error)}`, { cause: error }));
  let watched = followed(path);
  let watchers = startWatchers(watched, onEvent, fail);
  const report = () => {
    clearTimeout(timer);
    timer = closed ? undefined : setTimeout(onChange, options.settle);
  };
  function onEvent(): void {
    retarget();
    // Reported only once the watchers are ready, so that no change after the report is missed.
    watchers.ready.then(report, fail);
  }
  /** Watches the current target of the path if it has changed. */
  function retarget(): void {
    const now = followed(path);
    if (closed || (now.real === watched.real && now.links.join() === watched.links.join())) {
      return;
    }
    const old = watchers;
    watched = now;
    watchers = startWatchers(now, onEvent, fail);
    // The target may have changed again before the watchers were ready.
    watchers.ready.then(retarget, fail);
    old.close().catch(fail);
  }
  return {
    ready: watchers.ready.then(retarget),
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await watchers.close();
    },
  };
}

interface FollowedLinks {
  /** Path without symbolic links, whether it exists or not. */
  readonly real: string;
  /** Symbolic links on the path, in order. */
  readonly links: readonly string[];
}

interface Followed extends FollowedLinks {
  /** True if a link leads out of its repository. */
  readonly isRefused: boolean;
}

function followed(path: string): Followed {
  const found = followLinks(path);
  return { ...found, isRefused: found.links.length > 0 && isRefusedFolder(path) };
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
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : null;
  } catch {
    return null;
  }
}

/** Returns true if a link leads to a directory, or is circular, as there is nothing to watch behind it. */
function isFolderBehind(link: string): boolean {
  try {
    return statSync(link, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return true;
  }
}

function startWatchers(
  { real, links, isRefused }: Followed,
  onEvent: () => void,
  fail: (error: unknown) => void,
): { readonly ready: Promise<void>; close(): Promise<void> } {
  // Called twice, first without stats. Hidden files such as .octavoignore are watched, hidden directories are not.
  // Neither are directories behind links, whose manifests are not read and which can be arbitrarily large.
  const hidden = (path: string, stats?: Pick<Stats, 'isDirectory' | 'isSymbolicLink'>) =>
    stats !== undefined &&
    path !== real &&
    ((stats.isDirectory() && basename(path).startsWith('.')) || (stats.isSymbolicLink() && isFolderBehind(path)));
  // A refused directory is not watched, only its link, so that a fix is noticed.
  const watchers = [
    ...(isRefused ? [] : [watch(real, { ignoreInitial: true, followSymlinks: true, ignored: hidden })]),
    ...(links.length === 0 ? [] : [watch([...links], { ignoreInitial: true, followSymlinks: false, depth: 0 })]),
  ];
  return {
    ready: Promise.all(watchers.map((watcher) => prepare(watcher, onEvent, fail))).then(() => undefined),
    close: async () => {
      await Promise.all(watchers.map((watcher) => watcher.close()));
    },
  };
}

function prepare(watcher: FSWatcher, onEvent: () => void, fail: (error: unknown) => void): Promise<void> {
  watcher.on('all', onEvent);
  watcher.on('error', fail);
  return new Promise((done) => {
    watcher.once('ready', () => done());
  });
}

/**
 * Returns a fingerprint of a directory's files, which changes if their content may have changed. Used to detect changes
 * if there is no commit to compare. Reads no file content. Throws SourceError.
 */
export async function directoryVersion(tree: FileTree): Promise<string> {
  const hash = createHash('sha256');
  for (const { path, version } of await tree.list()) {
    hash.update(`${path}\0${version}\0`);
  }
  return `sha256:${hash.digest('hex')}`;
}

export interface WatchedFiles {
  readonly files: readonly string[];
  /** Directories whose files are all watched; directories below them are not. */
  readonly directories: readonly string[];
}

interface FileWatchOptions {
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
    const fail = (error: unknown) =>
      this.#options.onError(new SourceError(`cannot watch the configuration: ${messageOf(error)}`, { cause: error }));
    await prepare(watcher, () => this.#report(), fail);
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
