// Pool of worker threads that redact, so that long texts do not block the main thread.

import { availableParallelism } from 'node:os';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { type Clock, SLEEP_ENDED } from '../../core/clock.ts';
import { CancelledError } from '../../core/errors.ts';
import { ThreadHandle, ThreadLostError, ThreadStartError } from '../model/thread-handle.ts';
import type { Redactor, Ticket } from '../model/ticket.ts';
import { type Chunk, lengthOf, RedactionCall, type RedactionResult, redactOrFail } from './redaction-work.ts';
import type { RedactionOptions } from './redactor.ts';

export interface RedactionThreadsOptions {
  readonly redaction: RedactionOptions;
  /** Redacts in this thread. */
  readonly redactor: Redactor;
  /** Threads in addition to this one; 0: none. */
  readonly threads: number;
  readonly clock: Clock;
  /** Called when a thread cannot start. The next one is tried after a minute. */
  readonly onUnavailable?: (failure: { readonly reason: string }) => void;
  readonly start?: StartThread;
  /** Longest ticket that this thread redacts, in UTF-16 units; by default short, because it blocks everything else. */
  readonly longestHere?: number;
}

/**
 * Threads in addition to the main thread: at least one, for long tickets, and however many cores there are, no more than
 * three, because reading and storing take the rest.
 */
export const THREADS = Math.min(Math.max(1, availableParallelism() - 1), 3);

/** Text after which threads are started, in UTF-16 units: starting one takes as long as redacting about half of it. */
const START_AFTER = 256 * 1024;
/** Default of `longestHere`. */
const MAX_HERE = 16 * 1024;
/** Longest ticket for one of several threads, in UTF-16 units: they have little memory. */
const MAX_SIZE = 1024 * 1024;
/** Text that waits for redaction, in UTF-16 units, from which nothing more is accepted that can be sent again later. */
const MAX_WAITING = 16 * 1024 * 1024;
/** Messages to a thread at a time: the others wait while one is redacted, as this thread is often busy for 10 ms. */
const MESSAGES = 4;
/**
 * Text of several calls that is left to each thread, in UTF-16 units, and share that is left to all of them if there is
 * less text. Several calls mean that this thread also reads, stores and sends, and the others would wait for it if it took
 * more.
 */
const RESERVE = 768 * 1024;
const RESERVED_SHARE = 3 / 4;
/** Milliseconds without work after which threads end, and after which a new input counts from zero. */
const IDLE = 10_000;
/** Milliseconds after which a thread is tried again that could not start. */
const RETRY = 60_000;
/** Milliseconds of work after which the event loop gets a turn. */
const MAX_TURN = 10;

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

/** Redacts tickets on this thread and, if there is much to do, on worker threads. */
export class RedactionThreads {
  readonly #options: RedactionThreadsOptions;
  readonly #handles: (RedactionThread | null)[];
  /** All threads that run, including those for tickets that are tried alone. */
  readonly #running = new Set<RedactionThread>();
  /** Text of the current input, and the time of its last tickets on the monotonic clock. */
  #seen = 0;
  #seenAt = Number.NEGATIVE_INFINITY;
  /** Calls without all results, the oldest first. */
  #calls: RedactionCall[] = [];
  /** Messages to each thread without an answer. */
  readonly #posted: number[];
  readonly #longestHere: number;
  #isRedactingHere = false;
  #idle = new AbortController();
  #isClosed = false;
  /** Time on the monotonic clock until which no thread is started. */
  #retryAt = Number.NEGATIVE_INFINITY;
  /** Tickets that are tried alone, one after the other. */
  #alone: Promise<unknown> = Promise.resolve();

  constructor(options: RedactionThreadsOptions) {
    this.#options = options;
    this.#longestHere = options.longestHere ?? MAX_HERE;
    this.#handles = Array.from({ length: options.threads }, () => null);
    this.#posted = this.#handles.map(() => 0);
  }

  /** Reports whether so much text waits that a sender should try again later. */
  get isFull(): boolean {
    return this.#calls.reduce((sum, { missingLength }) => sum + missingLength, 0) >= MAX_WAITING;
  }

  /**
   * Redacts the tickets; the results have the same order. Returns null if this thread has to redact them: while threads
   * are not worth their start and no ticket is long, and for a minute after one could not start. Throws CancelledError after `close`.
   */
  async redact(tickets: readonly Ticket[]): Promise<readonly RedactionResult[] | null> {
    if (!this.#isWorthIt(tickets)) {
      return null;
    }
    this.#idle.abort(SLEEP_ENDED);
    const call = new RedactionCall(tickets);
    this.#calls.push(call);
    this.#feed();
    void this.#redactHere();
    try {
      return await call.done;
    } catch (error) {
      if (error instanceof ThreadStartError && !this.#isClosed) {
        this.#disable(error);
        return null;
      }
      throw this.#isClosed ? new CancelledError('redaction was stopped') : error;
    } finally {
      this.#calls = this.#calls.filter((other) => other !== call);
      this.#endWhenIdle();
    }
  }

  /** Ends the threads. What they are redacting fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#idle.abort(SLEEP_ENDED);
    for (const call of this.#calls) {
      call.fail(new CancelledError('redaction was stopped'));
    }
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

  #isWorthIt(tickets: readonly Ticket[]): boolean {
    const now = this.#options.clock.monotonic();
    const lengths = tickets.map(lengthOf);
    this.#seen = lengths.reduce((sum, length) => sum + length, now - this.#seenAt > IDLE ? 0 : this.#seen);
    this.#seenAt = now;
    const isMuch = this.#seen >= START_AFTER && tickets.length > 1;
    const isLong = lengths.some((length) => length > this.#longestHere);
    return now >= this.#retryAt && this.#handles.length > 0 && (isMuch || isLong);
  }

  /** Gives every thread its messages. */
  #feed(): void {
    for (let waiting = 0; waiting < MESSAGES; waiting += 1) {
      for (const index of this.#handles.keys()) {
        const chunk = (this.#posted[index] ?? 0) > waiting ? null : this.#take();
        if (chunk !== null) {
          void this.#post(index, chunk);
        }
      }
    }
  }

  #take(longest?: number): Chunk | null {
    for (const call of this.#calls) {
      const chunk = call.take(longest);
      if (chunk !== null) {
        return chunk;
      }
    }
    return null;
  }

  async #post(index: number, { call, ...chunk }: Chunk): Promise<void> {
    this.#posted[index] = (this.#posted[index] ?? 0) + 1;
    try {
      call.store({ call, ...chunk }, await this.#redactIn(index, chunk.tickets));
    } catch (error) {
      call.fail(error);
    }
    this.#posted[index] -= 1;
    this.#feed();
  }

  async #redactIn(index: number, tickets: readonly Ticket[]): Promise<readonly RedactionResult[]> {
    if (tickets.some((ticket) => lengthOf(ticket) > MAX_SIZE)) {
      return this.#redactAlone(tickets);
    }
    try {
      return await this.#handle(index).ask(tickets);
    } catch (error) {
      if (!(error instanceof ThreadLostError) || this.#isClosed) {
        throw error;
      }
      return this.#redactAlone(tickets);
    }
  }

  /** Redacts in this thread while the others have enough to do. */
  async #redactHere(): Promise<void> {
    if (this.#isRedactingHere) {
      return;
    }
    this.#isRedactingHere = true;
    const { redactor, clock } = this.#options;
    await yieldToOthers();
    let turnStartedAt = clock.monotonic();
    for (let chunk = this.#takeHere(); chunk !== null; chunk = this.#takeHere()) {
      const results: RedactionResult[] = [];
      for (const ticket of chunk.tickets) {
        results.push(redactOrFail(redactor, ticket));
        if (clock.monotonic() - turnStartedAt > MAX_TURN) {
          await yieldToOthers();
          turnStartedAt = clock.monotonic();
        }
      }
      chunk.call.store(chunk, results);
    }
    this.#isRedactingHere = false;
  }

  #takeHere(): Chunk | null {
    if (this.#calls.length < 2) {
      return this.#take(this.#longestHere);
    }
    const total = this.#calls.reduce((sum, { length }) => sum + length, 0);
    const left = this.#calls.reduce((sum, { missingLength }) => sum + missingLength, 0);
    return left > Math.min(RESERVED_SHARE * total, RESERVE * this.#handles.length)
      ? this.#take(this.#longestHere)
      : null;
  }

  /**
   * Redacts each ticket alone, with a large heap: large tickets, and all of a message after one of them has ended a
   * thread, so that only that one fails.
   */
  #redactAlone(tickets: readonly Ticket[]): Promise<readonly RedactionResult[]> {
    const done = this.#alone.then(async () => {
      const results: RedactionResult[] = [];
      let handle = this.#start(true);
      try {
        for (const ticket of tickets) {
          handle = handle.hasEnded ? this.#start(true) : handle;
          results.push(await redactOne(handle, ticket));
        }
      } finally {
        await handle.close();
      }
      return results;
    });
    this.#alone = done.catch(() => {});
    return done;
  }

  #handle(index: number): RedactionThread {
    const handle = this.#handles[index];
    if (handle !== null && handle !== undefined && !handle.hasEnded) {
      return handle;
    }
    const started = this.#start(false);
    this.#handles[index] = started;
    return started;
  }

  #start(isForLarge: boolean): RedactionThread {
    if (this.#isClosed) {
      throw new CancelledError('redaction was stopped');
    }
    const { start = startThread, redaction } = this.#options;
    for (const ended of [...this.#running].filter(({ hasEnded }) => hasEnded)) {
      this.#running.delete(ended);
    }
    const handle: RedactionThread = new ThreadHandle(() => start(redaction, isForLarge), this.#options.clock, MAX_TIME);
    this.#running.add(handle);
    return handle;
  }

  #endWhenIdle(): void {
    if (this.#calls.length > 0 || this.#isClosed) {
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
    const running = [...this.#running];
    this.#running.clear();
    this.#handles.fill(null);
    await Promise.all(running.map((handle) => handle.close()));
  }
}

async function redactOne(handle: RedactionThread, ticket: Ticket): Promise<RedactionResult> {
  try {
    const [result] = await handle.ask([ticket]);
    return result ?? { failure: 'error' };
  } catch (error) {
    if (error instanceof ThreadLostError) {
      return { failure: error.name };
    }
    throw error;
  }
}
