/** Source that reads files dropped into a directory. */
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { access, constants, lstat, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { watch } from 'chokidar';
import { z } from 'zod';
import type { Clock } from '../../../core/clock.ts';
import { SourceError } from '../../../core/errors.ts';
import { makeDirectory } from '../../../core/files/disk.ts';
import type { Json } from '../../../core/json.ts';
import type { Batch, PollingSource, PollOptions } from '../../model/source.ts';
import type { SourceRecord } from '../../model/ticket.ts';
import {
  fileInput,
  MAX_BATCH_SIZE,
  orSourceError,
  type ReadOptions,
  rejected,
  rejectionOf,
  sizeOf,
  type TicketRecord,
} from './input.ts';
import { TicketFileReader } from './read-tickets.ts';
import { appendRejects, isRejectFile, noteRefusal, rejectFileOf } from './reject-file.ts';

export interface DropFolderOptions {
  /** As configured. */
  readonly name: string;
  /** Account in keys; default: the name. */
  readonly account?: string | undefined;
  readonly folder: string;
  /** Action for a file whose records are all durable; `move` puts it into `processed/`. */
  readonly after: 'keep' | 'move' | 'delete';
  /** Directory of reject files; null: next to the files that they describe. */
  readonly rejects?: string | null;
  /** Records in one batch. */
  readonly batch?: number;
  readonly read?: Omit<ReadOptions, 'account'>;
  readonly clock: Clock;
}

/** A directory into which files with tickets are dropped. */
interface DropFolder extends PollingSource {
  /** Calls `onNew` when files change; the returned function stops it. */
  watch(onNew: () => void): () => Promise<void>;
}

/** Milliseconds without a change after which a file is read. */
const STABLE = 2000;
const BATCH = 100;

/**
 * Opens a drop folder. A poll reads every completely written file. A file that is rejected as a whole is reported once.
 * A file is moved or deleted by the first poll that receives its digest as processed: before that, its records may not
 * be durable. The work of a poll is linear in the number of files.
 */
export function openDropFolder(options: DropFolderOptions): DropFolder {
  const reader = new FolderReader(options);
  return {
    name: options.name,
    poll: (poll) => pollFolder(options, reader, poll),
    fetch: () => Promise.reject(new SourceError(`${options.name}: a drop folder has no single tickets to fetch`)),
    watch: (onNew) => watchFolder(options, onNew),
    close: async () => {},
  };
}

async function* pollFolder(options: DropFolderOptions, reader: FolderReader, poll: PollOptions): AsyncGenerator<Batch> {
  const { processed = new Set() } = poll;
  const batch = new BatchBuilder(options, ledgerOf(poll.cursor));
  await using content = new TicketFileReader(options.clock);
  const { files, refused } = await reader.list(poll.signal);
  for (const each of refused) {
    await batch.refuse(each);
  }
  /** Digests of the files that stay in the folder. */
  const present = new Set<string>();
  for (const file of files) {
    poll.signal.throwIfAborted();
    const digest = await reader.digest(file, poll.signal);
    if (processed.has(digest)) {
      if (!(await reader.moveOrDelete(file))) {
        present.add(digest);
      }
      continue;
    }
    if (present.has(digest)) {
      continue;
    }
    present.add(digest);
    const from = batch.ledger.file?.digest === digest ? batch.ledger.file.index : 0;
    const read = { ...options.read, account: options.account ?? options.name };
    for await (const record of content.read({ path: file.path, size: file.status.size }, read, poll.signal)) {
      poll.signal.throwIfAborted();
      if (record.index >= from && batch.put(digest, record)) {
        await batch.keepRejects(file.path);
        yield batch.flush();
      }
    }
    // A file that changed in the meantime counts as a different file, which the next poll reads.
    if (await reader.isAsListed(file)) {
      batch.finish(digest);
    }
    await batch.keepRejects(file.path);
  }
  const gone = [...processed].filter((digest) => !present.has(digest));
  if (batch.hasProgress || gone.length > 0) {
    yield batch.flush(gone);
  }
}

/** Collects the next batch: records of one large file or of many small ones. */
class BatchBuilder {
  ledger: Ledger;
  readonly #options: DropFolderOptions;
  #found: SourceRecord[] = [];
  #finished: string[] = [];
  #rejects: TicketRecord[] = [];
  #size = 0;

  constructor(options: DropFolderOptions, ledger: Ledger) {
    this.#options = options;
    this.ledger = ledger;
  }

  /** Returns true when the batch is full. */
  put(digest: string, record: TicketRecord): boolean {
    this.#found.push(record.found);
    if (rejectionOf(record) !== null) {
      this.#rejects.push(record);
    }
    this.ledger = { file: { digest, index: record.index + 1 } };
    this.#size += sizeOf(record.found);
    return this.#found.length >= (this.#options.batch ?? BATCH) || this.#size >= MAX_BATCH_SIZE;
  }

  /** Marks a file as read to its end. */
  finish(digest: string): void {
    this.#finished.push(digest);
    this.ledger = { file: null };
  }

  /** Writes a reject file for a file that is refused as a whole. Throws SourceError. */
  async refuse({ name, reason }: Refused): Promise<void> {
    await this.#write(join(this.#options.folder, name), (path) => noteRefusal(path, reason));
    this.#found.push(rejected(name, 1, reason));
  }

  get hasProgress(): boolean {
    return this.#found.length + this.#finished.length > 0;
  }

  /** Returns the batch. Reject files must be durable before it is. `gone`: digests of files that left the folder. */
  flush(gone: readonly string[] = []): Batch {
    const batch = { found: this.#found, cursor: this.ledger, processed: { add: this.#finished, remove: gone } };
    this.#found = [];
    this.#finished = [];
    this.#size = 0;
    return batch;
  }

  /** Writes the rejected records of the file at `path` to its reject file. Throws SourceError. */
  async keepRejects(path: string): Promise<void> {
    if (this.#rejects.length > 0) {
      await this.#write(path, (rejects) => appendRejects(rejects, this.#rejects));
      this.#rejects = [];
    }
  }

  #write(path: string, write: (rejects: string) => Promise<unknown>): Promise<unknown> {
    const rejects = rejectFileOf(path, this.#options.rejects);
    return orSourceError(`${this.#options.name}: cannot write ${rejects}`, write(rejects));
  }
}

function watchFolder(options: DropFolderOptions, onNew: () => void): () => Promise<void> {
  const folder = resolve(options.folder);
  const watcher = watch(folder, {
    depth: 0,
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (path) => resolve(path) !== folder && isTemporaryName(basename(path)),
  });
  // Files that were added between the first poll and now cause no event.
  watcher.on('add', onNew).on('change', onNew).on('ready', onNew);
  // The next poll reports the error of the directory.
  watcher.on('error', () => {});
  return () => watcher.close();
}

/** Progress within one file. Files are identified by a digest of their content, not by name. */
const ledgerSchema = z.object({
  /** The file that is partly read, and the number of its durable records, or null. */
  file: z.object({ digest: z.string(), index: z.number() }).nullable(),
});
type Ledger = z.output<typeof ledgerSchema>;

/** Parses a cursor. Returns an empty ledger if the cursor is null or belongs to another source. */
function ledgerOf(cursor: Json): Ledger {
  return ledgerSchema.safeParse(cursor).data ?? { file: null };
}

/** A completely written file in a drop folder. */
export interface DroppedFile {
  readonly name: string;
  readonly path: string;
  readonly status: FileStat;
}

interface Refused {
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
  readonly #options: Pick<DropFolderOptions, 'folder' | 'after' | 'clock'>;
  #checks = new Map<string, FileStat>();
  #reported = new Map<string, string>();

  constructor(options: Pick<DropFolderOptions, 'folder' | 'after' | 'clock'>) {
    this.#options = options;
  }

  /** Lists the files to read, oldest first, and refused files that were not reported before. Throws SourceError. */
  async list(
    signal: AbortSignal,
  ): Promise<{ readonly files: readonly DroppedFile[]; readonly refused: readonly Refused[] }> {
    let listed = await this.#scan();
    for (let checks = 1; listed.isBusy && checks < MAX_CHECKS; checks++) {
      await this.#options.clock.sleep(STABLE, signal);
      listed = await this.#scan();
    }
    const refused = listed.refused.filter(({ name, reason }) => this.#reported.get(name) !== reason);
    this.#reported = new Map(listed.refused.map(({ name, reason }) => [name, reason]));
    return { files: listed.files.toSorted(byAge), refused };
  }

  async #scan() {
    const { folder, clock } = this.#options;
    const files: DroppedFile[] = [];
    const refused: Refused[] = [];
    const checks = new Map<string, FileStat>();
    let isBusy = false;
    for (const name of await this.#names()) {
      const path = join(folder, name);
      const inspected = await this.#inspect(path);
      if (typeof inspected === 'string') {
        refused.push({ name, reason: inspected });
      } else if (inspected !== null) {
        const status = readFileStat(this.#checks.get(name), inspected, clock.now());
        checks.set(name, status);
        if (isSettled(status, clock.now())) {
          files.push({ name, path, status });
        } else {
          isBusy = true;
        }
      }
    }
    this.#checks = checks;
    return { files, refused, isBusy };
  }

  async #names(): Promise<string[]> {
    const { folder } = this.#options;
    const names = await orSourceError(`cannot read the folder ${folder}`, readdir(folder));
    const isOwn = (name: string) => name === PROCESSED || isRejectFile(name) || isTemporaryName(name);
    return names.filter((name) => !isOwn(name)).toSorted();
  }

  /** Returns the status of a file, or the reason why it is refused; null if it no longer exists. */
  async #inspect(path: string): Promise<Stats | string | null> {
    try {
      let stats = await lstat(path);
      if (stats.isSymbolicLink()) {
        const [to, folder] = await Promise.all([realpath(path).catch(() => null), realpath(this.#options.folder)]);
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
  async digest({ path, status }: DroppedFile, signal: AbortSignal): Promise<string> {
    status.digest ??= await orSourceError(`cannot read ${path}`, digestOf(path, status, signal));
    return status.digest;
  }

  /** Reports whether the file did not change since it was listed. */
  async isAsListed({ path, status }: DroppedFile): Promise<boolean> {
    const stats = await stat(path).catch(() => null);
    return stats !== null && isSameStatus(status, stats);
  }

  /** Moves or deletes a completely read file. Returns false if it stays. Throws SourceError. */
  async moveOrDelete(file: DroppedFile): Promise<boolean> {
    const { after } = this.#options;
    if (after === 'keep' || !(await this.isAsListed(file))) {
      return false;
    }
    const work = after === 'delete' ? rm(file.path, { force: true }) : this.#move(file);
    await orSourceError(`cannot ${after} ${file.path}`, work);
    return true;
  }

  /** Moves a file. If the name exists, a number is added; nothing is overwritten. */
  async #move({ name, path }: DroppedFile): Promise<void> {
    const folder = join(dirname(path), PROCESSED);
    makeDirectory(folder);
    const target = (copy: number) => join(folder, copy === 1 ? name : `${copy}-${name}`);
    await rename(path, target(await firstFree(async (copy) => (await lstat(target(copy)).catch(() => null)) === null)));
  }
}

async function digestOf(path: string, { mtimeMs }: FileStat, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256').update(`${mtimeMs}\n`);
  for await (const piece of fileInput(path, signal).open()) {
    hash.update(piece);
  }
  return hash.digest('hex').slice(0, DIGITS);
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
  return a.status.mtimeMs - b.status.mtimeMs || naturally.compare(a.name, b.name) || (a.name < b.name ? -1 : 1);
}

/** Members that change while a file is written, and that identify it. */
type FileVersion = Pick<Stats, 'size' | 'mtimeMs' | 'ino'>;

function isSameStatus(a: FileVersion, b: FileVersion): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino;
}

/** Status of a file when it was last checked. */
interface FileStat extends FileVersion {
  /** Time of the first check with this status, in milliseconds since the epoch. */
  readonly since: number;
  /** Digest, once the file was read: files that stay in the directory are not read in every poll. */
  digest?: string;
}

/** Returns the current status of a file, or the last one if nothing has changed. */
export function readFileStat(last: FileStat | undefined, stats: FileVersion, now: number): FileStat {
  const { size, mtimeMs, ino } = stats;
  return last !== undefined && isSameStatus(last, stats) ? last : { size, mtimeMs, ino, since: now };
}

/**
 * Reports whether a file is completely written: it has not changed for `STABLE` milliseconds, by its modification time
 * or by the checks. A file that is moved into the directory keeps its modification time, and is read at once. A file
 * that changes later is read again, and its unchanged records are not sent again.
 */
export function isSettled(status: FileStat, now: number): boolean {
  return now - Math.min(status.since, status.mtimeMs) >= STABLE;
}

/** Reports whether a name in a drop folder is that of a temporary or hidden file. */
function isTemporaryName(name: string): boolean {
  return (
    name.startsWith('.') ||
    name.startsWith('~') ||
    /\.(?:tmp|part|partial|crdownload|swp|filepart)$/i.test(name) ||
    name.endsWith('~')
  );
}
