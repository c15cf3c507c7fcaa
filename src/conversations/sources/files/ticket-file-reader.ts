/** Reads files with tickets so that no file keeps the main thread busy or takes its memory. */
import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../core/clock.ts';
import { SourceError } from '../../../core/errors.ts';
import { ThreadHandle, ThreadLostError, ThreadStartError } from '../../model/thread-handle.ts';
import type { FileAnswer, FileQuestion } from './file-thread.ts';
import { fileInput } from './formats/input.ts';
import { type ReadOptions, rejected, type TicketRecord } from './formats/record.ts';
import { readTickets } from './read-tickets.ts';

/** Size in bytes up to which a file is read on the main thread. The slowest text, empty lines of a mail, takes 200 ms. */
const MAX_HERE = 16 * 1024;
/** Time limit for the next records of a file, in milliseconds. */
const MAX_TIME = 180_000;
/** Heap limit of the thread, in megabytes. */
const HEAP = 1024;
/** Location of the thread: bundled in an installed package, source code in a checkout. */
const THREAD = new URL(import.meta.url.endsWith('.ts') ? './file-thread.ts' : './file-thread.cjs', import.meta.url);

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
