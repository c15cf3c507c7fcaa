import { watch } from 'chokidar';
import type { Clock } from '../../core/clock.ts';
import { messageOf, SourceError } from '../../core/errors.ts';
import type { Batch, PollingSource, PollOptions } from '../source.ts';
import type { Found } from '../ticket.ts';
import { type Dropped, FolderReader } from './folder-reader.ts';
import { fileInput } from './input.ts';
import { cursorOf, type Ledger, ledgerOf, toTheEnd, upTo } from './ledger.ts';
import { readTickets } from './read-tickets.ts';
import { type FileRecord, type ReadOptions, rejected } from './record.ts';
import { appendRejects, rejectFileOf } from './reject-file.ts';
import { isUnfinishedName } from './settled.ts';

export interface DropFolderOptions {
  /** As configured; keys carry it. */
  readonly name: string;
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
 * told once. A file is moved or deleted in the poll that comes with a cursor that says it is done, not before: only
 * then is all of it durable.
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
  let ledger = ledgerOf(poll.cursor);
  const { files, refused } = await reader.list(poll.signal);
  if (refused.length > 0) {
    const found = refused.map(({ name, reason }) => rejected(name, 1, reason));
    yield { found, cursor: cursorOf(ledger) };
  }
  for (const file of files) {
    poll.signal.throwIfAborted();
    const sha256 = await reader.digest(file);
    if (ledger.done.includes(sha256)) {
      await reader.putAway(file);
      continue;
    }
    for await (const step of batchesOf(options, ledger, file, sha256, poll.signal)) {
      ledger = step.ledger;
      yield { found: step.found, cursor: cursorOf(ledger) };
    }
    if (await reader.isAsListed(file)) {
      ledger = toTheEnd(ledger, sha256);
      yield { found: [], cursor: cursorOf(ledger) };
    }
  }
}

async function* batchesOf(
  options: DropFolderOptions,
  start: Ledger,
  file: Dropped,
  sha256: string,
  signal: AbortSignal,
): AsyncGenerator<{ readonly found: readonly Found[]; readonly ledger: Ledger }> {
  const from = start.file?.sha256 === sha256 ? start.file.index : 0;
  const most = options.batch ?? BATCH;
  let records: FileRecord[] = [];
  const flush = async (next: number) => {
    const found = records.map((record) => record.found);
    await keepRejects(options, file, records);
    records = [];
    return { found, ledger: upTo(start, sha256, next) };
  };
  for await (const record of readTickets(fileInput(file.path), { ...options.read, account: options.name })) {
    signal.throwIfAborted();
    if (record.index >= from) {
      records.push(record);
    }
    if (records.length >= most) {
      yield await flush(record.index + 1);
    }
  }
  const last = records.at(-1);
  if (last !== undefined) {
    yield await flush(last.index + 1);
  }
}

async function keepRejects(options: DropFolderOptions, file: Dropped, records: readonly FileRecord[]): Promise<void> {
  const path = rejectFileOf(file.path, options.rejects);
  try {
    await appendRejects(path, records);
  } catch (error) {
    throw new SourceError(`${options.name}: cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
}

function watchFolder(options: DropFolderOptions, onNew: () => void): () => Promise<void> {
  const watcher = watch(options.folder, {
    depth: 0,
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (path) => path !== options.folder && isUnfinishedName(path.slice(options.folder.length + 1)),
  });
  watcher.on('add', onNew).on('change', onNew);
  // The next poll tells what is wrong with the folder.
  watcher.on('error', () => {});
  return () => watcher.close();
}
