import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { messageOf, SourceError } from '../core/errors.ts';
import type { FileTree } from '../core/files/file-tree.ts';
import { isRefusedFolder } from './repository.ts';

/** A folder being watched. */
export interface DirectoryWatch {
  /** Resolves when every later change will be noticed. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** How a folder is watched. */
export interface WatchOptions {
  /** Milliseconds of quiet after the last change before it is reported. */
  readonly settle: number;
  /** Hears of trouble with watching, such as too many folders for the system; the schedule still looks. */
  readonly onError?: (error: SourceError) => void;
}

/**
 * Calls `onChange` once after files below a folder have changed and settled. Also notices when the folder, or any
 * folder above it, is a symbolic link that is pointed elsewhere, as git-sync does with every commit. Hidden folders
 * are not watched. The folder need not be there yet.
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
    // Not before the watchers stand: whoever reacts to the report may rely on hearing of what comes after it.
    watchers.ready.then(report, fail);
  }
  /** Watches the place that the path leads to now, where that is another one. */
  function retarget(): void {
    const now = followed(path);
    if (closed || (now.real === watched.real && now.links.join() === watched.links.join())) {
      return;
    }
    const old = watchers;
    watched = now;
    watchers = startWatchers(now, onEvent, fail);
    // It may have been pointed elsewhere again before its watchers stood.
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

interface Followed {
  /** Where the folder really is; the path itself where it is not there. */
  readonly real: string;
  /** Every symbolic link on the way, in order. */
  readonly links: readonly string[];
  /** True where a link leads out of its repository. */
  readonly isRefused: boolean;
}

/** Follows a path link by link, and remembers the links. */
function followed(path: string): Followed {
  const links: string[] = [];
  const { root } = parse(path);
  let waiting = path.slice(root.length).split(sep);
  let done = root;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const step = join(done, next);
    if (links.length < 40 && lstatSync(step, { throwIfNoEntry: false })?.isSymbolicLink()) {
      links.push(step);
      const target = resolve(dirname(step), readlinkSync(step));
      waiting = [...target.slice(parse(target).root.length).split(sep), ...waiting];
      done = parse(target).root;
    } else {
      done = step;
    }
  }
  return { real: done, links, isRefused: links.length > 0 && isRefusedFolder(path) };
}

/** Reports that a link leads to a folder. A link that loops counts as one: there is nothing to watch behind it. */
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
  // Asked twice, first without stats: a hidden file such as .octavoignore counts, a hidden folder does not. Nor does a
  // folder behind a link, whose manifests are not read: it may be the whole machine.
  const hidden = (path: string, stats?: Pick<Stats, 'isDirectory' | 'isSymbolicLink'>) =>
    stats !== undefined &&
    path !== real &&
    ((stats.isDirectory() && basename(path).startsWith('.')) || (stats.isSymbolicLink() && isFolderBehind(path)));
  // A refused folder is not walked. Its link is watched, so that a repair is noticed.
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
 * A fingerprint of a folder's files, which changes whenever their content may have: what to compare where nothing
 * else, such as a commit, says whether to look closer. Reads no file. Throws SourceError.
 */
export async function directoryVersion(tree: FileTree): Promise<string> {
  const hash = createHash('sha256');
  for (const { path, version } of await tree.list()) {
    hash.update(`${path}\0${version}\0`);
  }
  return `sha256:${hash.digest('hex')}`;
}
