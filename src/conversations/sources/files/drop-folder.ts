import { basename, join, resolve } from 'node:path';
import { watch } from 'chokidar';
import type { Clock } from '../../../core/clock.ts';
import { messageOf, SourceError } from '../../../core/errors.ts';
import type { Batch, PollingSource, PollOptions } from '../../model/source.ts';
import type { SourceRecord } from '../../model/ticket.ts';
import { type Dropped, FolderReader, type Refused } from './folder-reader.ts';
import { fileInput } from './formats/input.ts';
import { LARGEST_BATCH, type ReadOptions, rejected, rejectionOf, sizeOf, type TicketRecord } from './formats/record.ts';
import { cursorOf, type Ledger, ledgerOf } from './ledger.ts';
import { readTickets } from './read-tickets.ts';
import { appendRejects, noteRefusal, rejectFileOf } from './reject-file.ts';
import { isUnfinishedName } from './settled.ts';

export interface DropFolderOptions {
  /** As configured. */
  readonly name: string;
  /** Keys carry it; the name, where nothing is said. */
  readonly account?: string | undefined;
  readonly folder: string;
  /** What becomes of a file whose records are all durable; `move` puts it into `processed/`. */
  readonly after: 'keep' | 'move' | 'delete';
  /** Where reject files go; null: beside what they are of. */
  readonly rejects?: string | null;
  /** Milliseconds for which a file must not change before it is read. */
  readonly stable?: number;
  /** Records in one batch. */
  readonly batch?: number;
  readonly read?: Omit<ReadOptions, 'account'>;
  readonly clock: Clock;
}

/** A folder that files of tickets are put into. */
export interface DropFolder extends PollingSource {
  /** Tells when there is something new, until what it answers is called. */
  watch(onNew: () => void): () => Promise<void>;
}

const STABLE = 2000;
const BATCH = 100;

/**
 * Opens a drop folder. A poll reads every file that nobody is writing any more, by name. What is refused as a whole is
 * told once. A file is moved or deleted by the first poll that is given its digest as processed, not before: only then
 * are all of its records durable. The work of a poll is linear in the number of files.
 */
export function openDropFolder(options: DropFolderOptions): DropFolder {
  const reader = new FolderReader(options.folder, options.after, options.clock, options.stable ?? STABLE);
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
  const tray = new Tray(options, ledgerOf(poll.cursor));
  const { files, refused } = await reader.list(poll.signal);
  for (const each of refused) {
    await tray.refuse(each);
  }
  /** Digests of the files that stay in the folder. */
  const present = new Set<string>();
  for (const file of files) {
    poll.signal.throwIfAborted();
    const digest = await reader.digest(file, poll.signal);
    if (processed.has(digest)) {
      if (!(await reader.putAway(file))) {
        present.add(digest);
      }
      continue;
    }
    if (present.has(digest)) {
      continue;
    }
    present.add(digest);
    const from = tray.ledger.file?.digest === digest ? tray.ledger.file.index : 0;
    const input = fileInput(file.path, poll.signal);
    for await (const record of readTickets(input, { ...options.read, account: options.account ?? options.name })) {
      poll.signal.throwIfAborted();
      if (record.index >= from && tray.put(file, digest, record)) {
        yield await tray.empty();
      }
    }
    // A file that was written to meanwhile is a different file, which the next poll reads.
    if (await reader.isAsListed(file)) {
      tray.finish(digest);
    }
    await tray.keepRejects();
  }
  tray.forget([...processed].filter((digest) => !present.has(digest)));
  if (tray.isWorthIt()) {
    yield await tray.empty();
  }
}

/** The next batch: records of one large file or of many small ones. */
class Tray {
  ledger: Ledger;
  found: SourceRecord[] = [];
  readonly #options: DropFolderOptions;
  #given: Ledger;
  #finished: string[] = [];
  #forgotten: readonly string[] = [];
  #rejects: TicketRecord[] = [];
  #path = '';
  #size = 0;

  constructor(options: DropFolderOptions, ledger: Ledger) {
    this.#options = options;
    this.ledger = ledger;
    this.#given = ledger;
  }

  /** Returns true when the batch is full. */
  put(file: Dropped, digest: string, record: TicketRecord): boolean {
    this.#path = file.path;
    this.found.push(record.found);
    if (rejectionOf(record) !== null) {
      this.#rejects.push(record);
    }
    this.ledger = { file: { digest, index: record.index + 1 } };
    this.#size += sizeOf(record.found);
    return this.found.length >= (this.#options.batch ?? BATCH) || this.#size >= LARGEST_BATCH;
  }

  /** Marks a file as read to its end. */
  finish(digest: string): void {
    this.#finished.push(digest);
    this.ledger = { file: null };
  }

  /** Drops the digests of files that are no longer in the folder. */
  forget(digests: readonly string[]): void {
    this.#forgotten = digests;
  }

  /** What is not read at all has a reject file too. Throws SourceError. */
  async refuse({ name, reason }: Refused): Promise<void> {
    const path = rejectFileOf(join(this.#options.folder, name), this.#options.rejects);
    await this.#writing(path, noteRefusal(path, reason));
    this.found.push(rejected(name, 1, reason));
  }

  isWorthIt(): boolean {
    const isMoved = this.ledger.file !== this.#given.file;
    return this.found.length > 0 || isMoved || this.#finished.length > 0 || this.#forgotten.length > 0;
  }

  /** Reasons are durable before a cursor says so. Throws SourceError. */
  async empty(): Promise<Batch> {
    await this.keepRejects();
    const processed = { add: this.#finished, remove: this.#forgotten };
    const { found } = this;
    this.found = [];
    this.#finished = [];
    this.#forgotten = [];
    this.#size = 0;
    this.#given = this.ledger;
    return { found, cursor: cursorOf(this.ledger), processed };
  }

  async keepRejects(): Promise<void> {
    if (this.#rejects.length > 0) {
      const path = rejectFileOf(this.#path, this.#options.rejects);
      await this.#writing(path, appendRejects(path, this.#rejects));
      this.#rejects = [];
    }
  }

  async #writing(path: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      throw new SourceError(`${this.#options.name}: cannot write ${path}: ${messageOf(error)}`, { cause: error });
    }
  }
}

function watchFolder(options: DropFolderOptions, onNew: () => void): () => Promise<void> {
  const folder = resolve(options.folder);
  const watcher = watch(folder, {
    depth: 0,
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (path) => resolve(path) !== folder && isUnfinishedName(basename(path)),
  });
  // What was dropped between the first poll and now shows nowhere else.
  watcher.on('add', onNew).on('change', onNew).on('ready', onNew);
  // The next poll tells what is wrong with the folder.
  watcher.on('error', () => {});
  return () => watcher.close();
}
