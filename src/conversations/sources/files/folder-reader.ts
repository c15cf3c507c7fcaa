import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { access, constants, lstat, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { Clock } from '../../../core/clock.ts';
import { messageOf, SourceError } from '../../../core/errors.ts';
import { makeDirectory } from '../../../core/files/make-directory.ts';
import { fileInput } from './formats/input.ts';
import { isRejectFile } from './reject-file.ts';
import { type FileStat, isSettled, isTemporaryName, readFileStat } from './settled.ts';

/** A completely written file in a drop folder. */
export interface DroppedFile {
  readonly name: string;
  readonly path: string;
  readonly status: FileStat;
}

export interface Refused {
  readonly name: string;
  readonly reason: string;
}

/** Subdirectory of files that were read. */
const PROCESSED = 'processed';
/** Number of checks of a file that is still being written before it waits for the next poll. */
const MAX_CHECKS = 2;
/** Number of stored digits of a SHA-256: a cursor may contain thousands of digests. */
const DIGITS = 24;

/** Lists, checks, moves and deletes the files of one directory, and caches their status. */
export class FolderReader {
  readonly #folder: string;
  readonly #after: 'keep' | 'move' | 'delete';
  readonly #clock: Clock;
  readonly #stable: number;
  #checks = new Map<string, FileStat>();
  /** Digests by status of the file, so that files that stay in the directory are not read in every poll. */
  #digests = new Map<string, { readonly status: FileStat; readonly digest: string }>();
  #reported = new Map<string, string>();

  constructor(folder: string, after: 'keep' | 'move' | 'delete', clock: Clock, stable: number) {
    this.#folder = folder;
    this.#after = after;
    this.#clock = clock;
    this.#stable = stable;
  }

  /** Lists the files to read, oldest first, and refused files that were not reported before. Throws SourceError. */
  async list(
    signal: AbortSignal,
  ): Promise<{ readonly files: readonly DroppedFile[]; readonly refused: readonly Refused[] }> {
    let listed = await this.#scan();
    for (let checks = 1; listed.isBusy && checks < MAX_CHECKS; checks++) {
      await this.#clock.sleep(this.#stable, signal);
      listed = await this.#scan();
    }
    this.#digests = new Map([...this.#digests].filter(([name]) => this.#checks.has(name)));
    const refused = listed.refused.filter(({ name, reason }) => this.#reported.get(name) !== reason);
    this.#reported = new Map(listed.refused.map(({ name, reason }) => [name, reason]));
    return { files: listed.files.toSorted(byAge), refused };
  }

  async #scan() {
    const files: DroppedFile[] = [];
    const refused: Refused[] = [];
    const checks = new Map<string, FileStat>();
    let isBusy = false;
    for (const name of await this.#names()) {
      const path = join(this.#folder, name);
      const inspected = await this.#inspect(path);
      if (typeof inspected === 'string') {
        refused.push({ name, reason: inspected });
      }
      if (inspected === null || typeof inspected === 'string') {
        continue;
      }
      const { size, mtimeMs: mtime, ino: inode } = inspected;
      const status = readFileStat(this.#checks.get(name), { size, mtime, inode }, this.#clock.now());
      checks.set(name, status);
      if (isSettled(status, this.#clock.now(), this.#stable)) {
        files.push({ name, path, status });
      } else {
        isBusy = true;
      }
    }
    this.#checks = checks;
    return { files, refused, isBusy };
  }

  async #names(): Promise<string[]> {
    try {
      const names = await readdir(this.#folder);
      const own = (name: string) => name === PROCESSED || isRejectFile(name) || isTemporaryName(name);
      return names.filter((name) => !own(name)).toSorted();
    } catch (error) {
      throw new SourceError(`cannot read the folder ${this.#folder}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Returns the status of a file, or the reason why it is refused; null if it no longer exists. */
  async #inspect(path: string): Promise<Stats | string | null> {
    try {
      let stats = await lstat(path);
      if (stats.isSymbolicLink()) {
        const [to, folder] = await Promise.all([realpath(path).catch(() => null), realpath(this.#folder)]);
        if (to === null || !to.startsWith(folder + sep)) {
          return 'is a symbolic link that is broken or leads out of the folder';
        }
        stats = await stat(path);
      }
      if (!stats.isFile()) {
        return stats.isDirectory()
          ? 'is a directory; only files directly in the folder are read'
          : 'is not a regular file';
      }
      await access(path, constants.R_OK);
      return stats;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'ENOENT') {
        // Node replaces what it cannot decode, and then does not find the file.
        return path.includes('\uFFFD') ? 'has a name that is not UTF-8; rename the file' : null;
      }
      return `cannot be read (${code ?? 'error'})`;
    }
  }

  /**
   * Returns the digest of a file's content and modification time: a later file with the same content is a different file,
   * and is read again. Throws SourceError.
   */
  async digest({ name, path, status }: DroppedFile, signal: AbortSignal): Promise<string> {
    const known = this.#digests.get(name);
    if (known !== undefined && isSameStatus(known.status, status)) {
      return known.digest;
    }
    const hash = createHash('sha256').update(`${status.mtime}\n`);
    try {
      for await (const piece of fileInput(path, signal).open()) {
        hash.update(piece);
      }
    } catch (error) {
      throw new SourceError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
    }
    const digest = hash.digest('hex').slice(0, DIGITS);
    this.#digests.set(name, { status, digest });
    return digest;
  }

  /** Reports whether the file did not change since it was listed. */
  async isAsListed({ path, status }: DroppedFile): Promise<boolean> {
    const stats = await stat(path).catch(() => null);
    return stats !== null && isSameStatus(status, { size: stats.size, mtime: stats.mtimeMs, inode: stats.ino });
  }

  /** Moves or deletes a completely read file. Returns false if it stays. Throws SourceError. */
  async moveOrDelete(file: DroppedFile): Promise<boolean> {
    if (this.#after === 'keep' || !(await this.isAsListed(file))) {
      return false;
    }
    try {
      if (this.#after === 'delete') {
        await rm(file.path, { force: true });
      } else {
        await this.#move(file);
      }
      return true;
    } catch (error) {
      throw new SourceError(`cannot ${this.#after} ${file.path}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Moves a file. If the name exists, a number is added; nothing is overwritten. */
  async #move({ name, path }: DroppedFile): Promise<void> {
    const folder = join(dirname(path), PROCESSED);
    makeDirectory(folder);
    const target = (copy: number) => join(folder, copy === 1 ? name : `${copy}-${name}`);
    await rename(path, target(await firstFree(async (copy) => (await lstat(target(copy)).catch(() => null)) === null)));
  }
}

/**
 * Finds a free number by exponential and binary search: there may be thousands of copies of a file that is dropped
 * hourly.
 */
async function firstFree(isFree: (number: number) => Promise<boolean>): Promise<number> {
  let taken = 0;
  let free = 1;
  while (!(await isFree(free))) {
    taken = free;
    free *= 2;
  }
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2);
    if (await isFree(middle)) {
      free = middle;
    } else {
      taken = middle;
    }
  }
  return free;
}

const naturally = new Intl.Collator('en', { numeric: true });

/** Orders files by modification time; with the same time, `2.eml` comes before `10.eml`. */
function byAge(a: DroppedFile, b: DroppedFile): number {
  return a.status.mtime - b.status.mtime || naturally.compare(a.name, b.name) || (a.name < b.name ? -1 : 1);
}

function isSameStatus(a: Omit<FileStat, 'since'>, b: Omit<FileStat, 'since'>): boolean {
  return a.size === b.size && a.mtime === b.mtime && a.inode === b.inode;
}
