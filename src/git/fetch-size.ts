/**
 * Limits the size of a fetch. Git itself has no limit for it: a server can send a pack until the disk is full.
 */
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { SourceError } from '../core/errors.ts';

/** Most bytes that one fetch may write: as many as a commit may have unpacked. */
const MAX_FETCH_SIZE = 4 * 1024 ** 3;
/** Milliseconds between two checks of the size. */
const CHECK_INTERVAL = 1000;
/** File whose time is that of the start: the clock of the file system may differ from that of the process. */
const MARKER = 'octavo-fetch';

export interface FetchLimit {
  readonly clock: Clock;
  /** Bytes. Set in tests. */
  readonly maxSize?: number;
}

/**
 * Runs a fetch that writes to a repository only Octavo uses. `fetch` must end soon after its signal aborts, which it does
 * when `signal` aborts, too. Throws SourceError if it writes more than the limit, and removes what it wrote.
 */
export async function limitFetch(
  gitDir: string,
  { clock, maxSize = MAX_FETCH_SIZE }: FetchLimit,
  signal: AbortSignal | undefined,
  fetch: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const start = await timeOf(join(gitDir, MARKER));
  const written = () => filesSince(join(gitDir, 'objects'), start);
  const exceeds = async () => (await written()).reduce((sum, { size }) => sum + size, 0) > maxSize;
  const stopping = new AbortController();
  const ended = new AbortController();
  const watch = async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(CHECK_INTERVAL, ended.signal);
      if (await exceeds()) {
        stopping.abort();
      }
    }
  };
  // Rejected when the fetch ends.
  const watching = watch().catch(() => {});
  const either = signal === undefined ? stopping.signal : AbortSignal.any([signal, stopping.signal]);
  const error: unknown = await fetch(either).then(
    () => null,
    (cause) => cause,
  );
  ended.abort();
  await watching;
  if (stopping.signal.aborted || (error === null && (await exceeds()))) {
    await Promise.all((await written()).map(({ path }) => rm(path, { force: true })));
    throw new SourceError(
      `the fetch writes more than ${Math.ceil(maxSize / 2 ** 20)} MiB; move the manifests to a separate repository`,
    );
  }
  if (error !== null) {
    throw error;
  }
}

/** Writes a file, removes it, and returns its time of modification. */
async function timeOf(path: string): Promise<number> {
  await writeFile(path, '');
  const { mtimeMs } = await stat(path);
  await rm(path, { force: true });
  return mtimeMs;
}

interface WrittenFile {
  readonly path: string;
  readonly size: number;
}

/** Returns the objects and packs that were written after a time, including incomplete ones. */
async function filesSince(objects: string, start: number): Promise<readonly WrittenFile[]> {
  const found: WrittenFile[] = [];
  for (const name of await namesIn(objects)) {
    const folder = join(objects, name);
    // A new entry changes the time of its directory.
    if (((await stat(folder).catch(() => null))?.mtimeMs ?? 0) >= start) {
      for (const path of (await namesIn(folder)).map((file) => join(folder, file))) {
        const stats = await stat(path).catch(() => null);
        if (stats?.isFile() === true && stats.mtimeMs > start) {
          found.push({ path, size: stats.size });
        }
      }
    }
  }
  return found;
}

/** Returns the names in a directory; none if it is not one, or no longer exists. */
function namesIn(path: string): Promise<readonly string[]> {
  return readdir(path).catch(() => []);
}
