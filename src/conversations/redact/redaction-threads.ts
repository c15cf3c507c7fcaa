/** Redacts tickets on worker threads, so that no text keeps the main thread busy. */
import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import PQueue from 'p-queue';
import { type Clock, SLEEP_ENDED } from '../../core/clock.ts';
import { CancelledError } from '../../core/errors.ts';
import { ThreadHandle, ThreadLostError, ThreadStartError, ThreadTimeoutError } from '../model/thread-handle.ts';
import type { Ticket } from '../model/ticket.ts';
import type { RedactionResult } from './redaction-work.ts';
import type { RedactionOptions } from './redactor.ts';

export interface RedactionThreadsOptions {
  readonly redaction: RedactionOptions;
  readonly threads: number;
  readonly clock: Clock;
  /** Called when a thread cannot start. The next one is tried after a minute. */
  readonly onUnavailable?: (failure: { readonly reason: string }) => void;
  readonly start?: StartThread;
}

/** However many cores there are, no more than three: each takes up to 70 MB while it redacts. */
export const THREADS = Math.min(availableParallelism(), 3);

/** Text of one message, in UTF-16 units: about 10 ms of work. */
const CHUNK = 32 * 1024;
/** Messages to a thread at a time: the next one waits while one is redacted, as the main thread is often busy for 10 ms. */
const MESSAGES = 4;
/** Longest ticket for one of several threads, in UTF-16 units: they have little memory. */
const MAX_SIZE = 1024 * 1024;
/** Text that waits for redaction, in UTF-16 units, from which nothing more is accepted that can be sent again later. */
const MAX_WAITING = 16 * 1024 * 1024;
/** Milliseconds without work after which threads end: starting one for a conversation takes 0.6 s of CPU time. */
const IDLE = 60_000;
/** Milliseconds after which a thread is tried again that could not start. */
const RETRY = 60_000;

const STOPPED = 'redaction was stopped';

/** Location of the thread: bundled in an installed package, source code in a checkout. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './redaction-thread.ts' : './redaction-thread.cjs',
  import.meta.url,
);
/**
 * Heap limits of a thread, in megabytes. A large heap would be used in full before garbage is collected. They do not
 * protect the process: Node.js may abort it when a thread exceeds them by much at once. Large tickets get a thread with a
 * larger heap: each character of the densest texts takes 60 bytes.
 */
const HEAP = 64;
const LARGE_HEAP = 1024;
const YOUNG_HEAP = 12;
/** Time limit for one message, in milliseconds: the densest ticket of 16 MB takes about 40 s on an idle machine. */
const MAX_TIME = 180_000;
/**
 * Size of a semi-space in megabytes; a young generation has three. A smaller one is collected while most of what a
 * ticket needs is alive: a tenth more CPU time for 5 MB. V8 never shrinks it below this minimum.
 */
const SEMI_SPACE = 4;

type RedactionThread = ThreadHandle<readonly Ticket[], readonly RedactionResult[]>;

/** Starts a thread with its own heap. Replaced in tests. */
export type StartThread = (options: RedactionOptions, isForLarge: boolean) => Worker;

export const startThread: StartThread = (options, isForLarge) => {
  // Affects only threads that start after this; those of the server have lower limits.
  setFlagsFromString(`--min-semi-space-size=${SEMI_SPACE}`);
  const resourceLimits = {
    maxOldGenerationSizeMb: isForLarge ? LARGE_HEAP : HEAP,
    maxYoungGenerationSizeMb: YOUNG_HEAP,
  };
  return new Worker(THREAD, { workerData: options, resourceLimits, name: 'redaction' });
};

/** Threads that start with the first ticket, and end when there was none for a while. */
export class RedactionThreads {
  readonly #options: RedactionThreadsOptions;
  /** Messages to the threads, and tickets that have a thread of their own, one after the other. */
  readonly #shared: PQueue;
  readonly #alone = new PQueue({ concurrency: 1 });
  readonly #threads = new Set<RedactionThread>();
  #large: RedactionThread | null = null;
  /** Calls without all results, and the length of their text, in UTF-16 units. */
  #calls = 0;
  #waiting = 0;
  #idle = new AbortController();
  #isClosed = false;
  /** Time on the monotonic clock until which no thread is started. */
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(options: RedactionThreadsOptions) {
    this.#options = options;
    this.#shared = new PQueue({ concurrency: options.threads * MESSAGES });
  }

  /** Reports whether so much text waits that a sender should try again later. */
  get isFull(): boolean {
    return this.#waiting >= MAX_WAITING;
  }

  /**
   * Redacts the tickets; the results have the same order. Returns null if the main thread has to redact them: for a
   * minute after a thread could not start. Throws CancelledError after `close`.
   */
  async redact(tickets: readonly Ticket[]): Promise<readonly RedactionResult[] | null> {
    if (tickets.length === 0 || this.#options.clock.monotonic() < this.#retryAt) {
      return null;
    }
    this.#idle.abort(SLEEP_ENDED);
    this.#calls += 1;
    const ending = new AbortController();
    try {
      const chunks = chunksOf(tickets).map((chunk) => this.#redactChunk(chunk, ending.signal));
      const results = (await Promise.all(chunks)).flat();
      // A ticket whose thread was ended has not failed.
      this.#throwIfClosed();
      return results;
    } catch (error) {
      if (error instanceof ThreadStartError && !this.#isClosed) {
        this.#disable(error);
        return null;
      }
      throw this.#isClosed ? new CancelledError(STOPPED) : error;
    } finally {
      ending.abort();
      this.#calls -= 1;
      this.#endWhenIdle();
    }
  }

  /** Ends the threads. What they are redacting fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#idle.abort(SLEEP_ENDED);
    await this.#end();
  }

  /** Several calls may fail by the same thread. */
  #disable({ message: reason }: ThreadStartError): void {
    const { clock, onUnavailable } = this.#options;
    if (clock.monotonic() >= this.#retryAt) {
      this.#retryAt = clock.monotonic() + RETRY;
      onUnavailable?.({ reason });
    }
  }

  /** `signal`: the call has failed, and the rest of it is not needed. */
  async #redactChunk({ tickets, length }: Chunk, signal: AbortSignal): Promise<readonly RedactionResult[]> {
    this.#waiting += length;
    try {
      if (length > MAX_SIZE) {
        return await this.#redactAlone(tickets, signal);
      }
      return await this.#shared.add(() => {
        signal.throwIfAborted();
        return this.#sharedThread().ask(tickets);
      });
    } catch (error) {
      if (!(error instanceof ThreadLostError) || this.#isClosed) {
        throw error;
      }
      return await this.#redactAlone(tickets, signal);
    } finally {
      this.#waiting -= length;
    }
  }

  /**
   * Redacts each ticket alone, with a large heap: large tickets, and all of a message after one of them has ended a
   * thread, so that only that one fails.
   */
  #redactAlone(tickets: readonly Ticket[], signal: AbortSignal): Promise<readonly RedactionResult[]> {
    return this.#alone.add(async () => {
      const results: RedactionResult[] = [];
      try {
        for (const ticket of tickets) {
          signal.throwIfAborted();
          if (this.#large === null || this.#large.hasEnded) {
            this.#large = this.#start(true);
          }
          results.push(await redactOne(this.#large, ticket));
        }
      } finally {
        await this.#large?.close();
        this.#large = null;
      }
      return results;
    });
  }

  /** Returns the thread with the fewest messages. Another one starts only if all have as many as they may have. */
  #sharedThread(): RedactionThread {
    for (const thread of [...this.#threads].filter(({ hasEnded }) => hasEnded)) {
      this.#threads.delete(thread);
    }
    const [first] = [...this.#threads].toSorted((a, b) => a.pending - b.pending);
    if (first !== undefined && first.pending < MESSAGES) {
      return first;
    }
    const started = this.#start(false);
    this.#threads.add(started);
    return started;
  }

  #start(isForLarge: boolean): RedactionThread {
    this.#throwIfClosed();
    const { start = startThread, redaction, clock } = this.#options;
    return new ThreadHandle(() => start(redaction, isForLarge), clock, MAX_TIME);
  }

  #throwIfClosed(): void {
    if (this.#isClosed) {
      throw new CancelledError(STOPPED);
    }
  }

  #endWhenIdle(): void {
    if (this.#calls > 0 || this.#isClosed) {
      return;
    }
    this.#idle = new AbortController();
    this.#options.clock.sleep(IDLE, this.#idle.signal).then(
      () => this.#end(),
      () => {
        // There was more work.
      },
    );
  }

  async #end(): Promise<void> {
    const threads = [...this.#threads, this.#large].filter((thread) => thread !== null);
    this.#threads.clear();
    await Promise.all(threads.map((thread) => thread.close()));
  }
}

async function redactOne(thread: RedactionThread, ticket: Ticket): Promise<RedactionResult> {
  try {
    const [result] = await thread.ask([ticket]);
    return result ?? { failure: 'error' };
  } catch (error) {
    if (error instanceof ThreadTimeoutError) {
      return { failure: `it takes longer than ${MAX_TIME / 60_000} minutes` };
    }
    if (error instanceof ThreadLostError) {
      return { failure: 'its thread ended, probably for lack of memory' };
    }
    throw error;
  }
}

/** Tickets of one message, and the length of their text in UTF-16 units. */
interface Chunk {
  readonly tickets: readonly Ticket[];
  readonly length: number;
}

/** Splits tickets into messages, in their order. A ticket for a thread of its own is one. */
function chunksOf(tickets: readonly Ticket[]): readonly Chunk[] {
  const chunks: { tickets: Ticket[]; length: number }[] = [];
  for (const ticket of tickets) {
    const length = lengthOf(ticket);
    const last = chunks.at(-1);
    if (last === undefined || last.length >= CHUNK || length > MAX_SIZE) {
      chunks.push({ tickets: [ticket], length });
    } else {
      last.tickets.push(ticket);
      last.length += length;
    }
  }
  return chunks;
}

/** Returns the length of everything in a ticket that is redacted, and of its people, in UTF-16 units. */
function lengthOf({ key, subject, parts, attributes, url, people }: Ticket): number {
  const texts = [key, subject, url ?? '', ...Object.entries(attributes).flat(), ...people.flatMap(textsOf)];
  const rest = texts.reduce((sum, text) => sum + text.length, 0);
  return parts.reduce((sum, { body }) => sum + body.length, rest);
}

function textsOf({ names, emails }: Ticket['people'][number]): readonly string[] {
  return [...names, ...emails];
}
