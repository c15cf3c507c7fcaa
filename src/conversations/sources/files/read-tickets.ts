/** Reads a file with tickets in any format, a large one on a worker thread. */
import { basename, extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../core/clock.ts';
import { messageOf, SourceError } from '../../../core/errors.ts';
import { isLfsPointer, LFS_POINTER } from '../../../core/files/file-tree.ts';
import { ThreadHandle, ThreadLostError, ThreadStartError } from '../../model/thread-handle.ts';
import type { SourceRecord } from '../../model/ticket.ts';
import { readCsv } from './csv.ts';
import {
  asUtf8,
  type FileInput,
  fileInput,
  firstBytes,
  NOT_REGULAR,
  type ReadOptions,
  rejected,
  type TicketRecord,
} from './input.ts';
import { readJson, readNdjson } from './json.ts';
import { readEml, readMbox } from './mailbox.ts';

/** Number of bytes that are read to detect the format of a file. */
const HEAD_SIZE = 1024 * 1024;
type Format = 'json' | 'ndjson' | 'csv' | 'eml' | 'mbox';
const READERS: Readonly<Record<Format, (input: FileInput, options: ReadOptions) => AsyncGenerator<SourceRecord>>> = {
  json: readJson,
  ndjson: readNdjson,
  csv: readCsv,
  eml: readEml,
  mbox: readMbox,
};
const EXTENSIONS: Readonly<Record<string, Format>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.csv': 'csv',
  '.tsv': 'csv',
  '.eml': 'eml',
  '.mbox': 'mbox',
};

/**
 * Reads the tickets of a file of any size one by one. An invalid record is yielded as rejected, with its line, and
 * reading continues after it. An unreadable file is one rejected record. Throws SourceError if reading fails in the
 * middle.
 */
export async function* readTickets(source: string | FileInput, options: ReadOptions): AsyncGenerator<TicketRecord> {
  const input = typeof source === 'string' ? fileInput(source) : source;
  let index = 0;
  const format = await firstBytes(input, HEAD_SIZE).then(
    (head) => formatOf(input.name, head),
    (error: unknown) => ({ problem: `cannot be read: ${codeOf(error)}` }),
  );
  if (typeof format === 'object') {
    yield { index, found: rejected(input.name, 1, format.problem) };
    return;
  }
  try {
    for await (const found of READERS[format](input, options)) {
      yield { index, found };
      index += 1;
    }
    if (index === 0) {
      yield { index, found: rejected(input.name, 1, 'has no record') };
    }
  } catch (error) {
    throw isOfDisk(error)
      ? new SourceError(`${input.name}: cannot be read: ${messageOf(error)}`, { cause: error })
      : error;
  }
}

function isOfDisk(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string' && 'syscall' in error;
}

function codeOf(error: unknown): string {
  const code = isOfDisk(error) ? error.code : undefined;
  const known: Readonly<Record<string, string>> = {
    EACCES: 'no permission (EACCES)',
    EPERM: 'no permission (EPERM)',
    EISDIR: 'it is a directory',
    [NOT_REGULAR]: 'it is not a regular file',
    ENOENT: 'file not found',
  };
  return known[code ?? ''] ?? code ?? 'the disk failed';
}

/** Returns the format of a file, by its extension or by its first bytes. */
async function formatOf(name: string, head: Buffer): Promise<Format | { problem: string }> {
  if (head.length === 0) {
    return { problem: 'the file is empty' };
  }
  if (isLfsPointer(head.toString('latin1', 0, 64))) {
    return { problem: LFS_POINTER };
  }
  const extension = EXTENSIONS[extname(name).toLowerCase()];
  const isMail = extension === 'eml' || extension === 'mbox';
  const text = (await textOfHead(head))?.replace(/\r\n?/g, '\n') ?? null;
  if (text === null && !isMail) {
    return { problem: 'is not text; it looks like an archive or another binary file' };
  }
  return extension ?? formatOfText(text ?? '') ?? { problem: 'is not JSON, NDJSON, CSV, eml or mbox' };
}

/** Decodes the first bytes of a file; null if they are not text. */
async function textOfHead(head: Buffer): Promise<string | null> {
  const bytes = Buffer.concat(await Array.fromAsync(asUtf8([head])));
  return bytes.subarray(0, 64 * 1024).includes(0) ? null : bytes.toString('utf8');
}

function formatOfText(text: string): Format | null {
  const start = text.trimStart();
  if (start.startsWith('[') || start.startsWith('{')) {
    return isLineByLine(start) ? 'ndjson' : 'json';
  }
  if (/^From \S/.test(start)) {
    return 'mbox';
  }
  if (/^[!-9;-~]+:[ \t]/.test(start) && /^(?:from|message-id|received|return-path|date):/im.test(start)) {
    return 'eml';
  }
  const line = start.slice(0, Math.max(0, start.indexOf('\n')));
  return /[,;\t]/.test(line) ? 'csv' : null;
}

/** Reports whether JSON has one record per line, as exports named `.json` often have. */
function isLineByLine(text: string): boolean {
  const [first = '', ...rest] = text.split('\n', 1000).map((line) => line.trim());
  if (!first.startsWith('{') || /^\{\s*"(?:tickets|conversations)"\s*:/.test(first)) {
    return false;
  }
  return isJson(first) ? rest.some((line) => line.startsWith('{')) : /[^[{,:]$/.test(first) && rest[0]?.[0] === '{';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Size in bytes up to which a file is read on the main thread. The slowest text, empty lines of a mail, takes 200 ms. */
const MAX_HERE = 16 * 1024;
/** Time limit for the next records of a file, in milliseconds. */
const MAX_TIME = 180_000;
/** Heap limit of the thread, in megabytes. */
const HEAP = 1024;
/** Location of the thread: bundled in an installed package, source code in a checkout. */
const THREAD = new URL(import.meta.url.endsWith('.ts') ? './file-thread.ts' : './file-thread.cjs', import.meta.url);

/** Question to the thread: the first records of a file, or the next ones. */
export type FileQuestion = { readonly path: string; readonly options: ReadOptions } | 'next';

export interface FileAnswer {
  readonly records: readonly TicketRecord[];
  readonly isDone: boolean;
  /** Reason that reading failed after these records; null if it did not. */
  readonly failure: string | null;
}

/** Reader for the files of one poll, one after the other. Disposing it ends its thread. */
export class TicketFileReader {
  readonly #clock: Clock;
  #thread: ThreadHandle<FileQuestion, FileAnswer> | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Reads a file like `readTickets`. A file that its thread cannot read is rejected. Throws SourceError. */
  async *read(
    { path, size }: { readonly path: string; readonly size: number },
    options: ReadOptions,
    signal: AbortSignal,
  ): AsyncGenerator<TicketRecord> {
    if (size <= MAX_HERE) {
      yield* readTickets(fileInput(path, signal), options);
      return;
    }
    let index = 0;
    try {
      let answer = await this.#ask({ path, options });
      yield* answer.records;
      for (index = answer.records.length; !answer.isDone; index += answer.records.length) {
        signal.throwIfAborted();
        answer = await this.#ask('next');
        yield* answer.records;
      }
      if (answer.failure !== null) {
        throw new SourceError(answer.failure);
      }
    } catch (error) {
      if (error instanceof ThreadStartError) {
        yield* readTickets(fileInput(path, signal), options);
      } else if (error instanceof ThreadLostError) {
        const reason = `cannot be read in ${MAX_TIME / 1000} s and ${HEAP} MB of memory; split the file`;
        yield { index, found: rejected(basename(path), 1, reason) };
      } else {
        throw error;
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.close();
  }

  #ask(question: FileQuestion): Promise<FileAnswer> {
    if (this.#thread === null || this.#thread.hasEnded) {
      this.#thread = new ThreadHandle(startThread, this.#clock, MAX_TIME);
    }
    return this.#thread.ask(question);
  }
}

function startThread(): Worker {
  return new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: HEAP }, name: 'files' });
}
