import { basename, join, resolve } from 'node:path';
import { watch } from 'chokidar';
import { z } from 'zod';
import type { Clock } from '../../../core/clock.ts';
import { messageOf, SourceError } from '../../../core/errors.ts';
import type { Json } from '../../../core/json.ts';
import type { Batch, PollingSource, PollOptions } from '../../model/source.ts';
import type { SourceRecord } from '../../model/ticket.ts';
import { type DroppedFile, FolderReader, type Refused } from './folder-reader.ts';
import {
  MAX_BATCH_SIZE,
  type ReadOptions,
  rejected,
  rejectionOf,
  sizeOf,
  type TicketRecord,
} from './formats/record.ts';
import { appendRejects, noteRefusal, rejectFileOf } from './reject-file.ts';
import { isTemporaryName } from './settled.ts';
import { TicketFileReader } from './ticket-file-reader.ts';

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
  /** Milliseconds without a change after which a file is read. */
  readonly stable?: number;
  /** Records in one batch. */
  readonly batch?: number;
  readonly read?: Omit<ReadOptions, 'account'>;
  readonly clock: Clock;
}

/** A directory into which files with tickets are dropped. */
export interface DropFolder extends PollingSource {
  /** Calls `onNew` when files change; the returned function stops it. */
  watch(onNew: () => void): () => Promise<void>;
}

const STABLE = 2000;
const BATCH = 100;

/**
 * Opens a drop folder. A poll reads every completely written file. A file that is rejected as a whole is reported once.
 * A file is moved or deleted by the first poll that receives its digest as processed: before that, its records may not
 * be durable. The work of a poll is linear in the number of files.
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
      if (record.index >= from && batch.put(file, digest, record)) {
        yield await batch.flush();
      }
    }
    // A file that changed in the meantime counts as a different file, which the next poll reads.
    if (await reader.isAsListed(file)) {
      batch.finish(digest);
    }
    await batch.keepRejects();
  }
  batch.forget([...processed].filter((digest) => !present.has(digest)));
  if (batch.hasProgress()) {
    yield await batch.flush();
  }
}

/** Collects the next batch: records of one large file or of many small ones. */
class BatchBuilder {
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
  put(file: DroppedFile, digest: string, record: TicketRecord): boolean {
    this.#path = file.path;
    this.found.push(record.found);
    if (rejectionOf(record) !== null) {
      this.#rejects.push(record);
    }
    this.ledger = { file: { digest, index: record.index + 1 } };
    this.#size += sizeOf(record.found);
    return this.found.length >= (this.#options.batch ?? BATCH) || this.#size >= MAX_BATCH_SIZE;
  }

  /** Marks a file as read to its end. */
  finish(digest: string): void {
    this.#finished.push(digest);
    this.ledger = { file: null };
  }

  /** Removes the digests of files that are no longer in the folder. */
  forget(digests: readonly string[]): void {
    this.#forgotten = digests;
  }

  /** Writes a reject file for a file that is refused as a whole. Throws SourceError. */
  async refuse({ name, reason }: Refused): Promise<void> {
    const path = rejectFileOf(join(this.#options.folder, name), this.#options.rejects);
    await this.#writing(path, noteRefusal(path, reason));
    this.found.push(rejected(name, 1, reason));
  }

  hasProgress(): boolean {
    const isMoved = this.ledger.file !== this.#given.file;
    return this.found.length > 0 || isMoved || this.#finished.length > 0 || this.#forgotten.length > 0;
  }

  /** Returns the batch. Reject files are durable before the cursor. Throws SourceError. */
  async flush(): Promise<Batch> {
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
    ignored: (path) => resolve(path) !== folder && isTemporaryName(basename(path)),
  });
  // Files that were added between the first poll and now cause no event.
  watcher.on('add', onNew).on('change', onNew).on('ready', onNew);
  // The next poll reports the error of the directory.
  watcher.on('error', () => {});
  return () => watcher.close();
}

/** Progress within one file. Files are identified by a digest of their content, not by name. */
interface Ledger {
  /** The file that is partly read, and the number of its durable records, or null. */
  readonly file: { readonly digest: string; readonly index: number } | null;
}

const schema = z.object({ file: z.object({ digest: z.string(), index: z.number() }).nullable() });

/** Parses a cursor. Returns an empty ledger if the cursor is null or belongs to another source. */
function ledgerOf(cursor: Json): Ledger {
  const parsed = schema.safeParse(cursor);
  return parsed.success ? parsed.data : { file: null };
}

function cursorOf({ file }: Ledger): Json {
  return { file };
}
