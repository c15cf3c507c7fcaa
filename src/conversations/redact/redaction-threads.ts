import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import { CancelledError } from '../../core/errors.ts';
import type { Redactor } from '../model/conversation.ts';
import type { Ticket } from '../model/ticket.ts';
import { type RedactionResult, redactOrFail } from './redaction-result.ts';
import type { RedactionOptions } from './redactor.ts';
import { type StartThread, startThread, ThreadHandle, ThreadLostError, ThreadStartError } from './thread-handle.ts';

export interface RedactionThreadsOptions {
  readonly redaction: RedactionOptions;
  /** Redacts in this thread. */
  readonly redactor: Redactor;
  /** Threads in addition to this one; 0: none. */
  readonly threads: number;
  readonly clock: Clock;
  /** Called once, when a thread cannot start; no other one is tried. */
  readonly onUnavailable?: (failure: { readonly reason: string }) => void;
  readonly start?: StartThread;
}

/** Threads in addition to the main thread, however many cores there are: reading and storing take the rest. */
export const MAX_THREADS = 3;

/** Text after which threads are started, in UTF-16 units: starting one takes as long as redacting about half of it. */
const START_AFTER = 256 * 1024;
/** Text of one message to a thread, in UTF-16 units: about 10 ms of work. */
const CHUNK = 32 * 1024;
/** Largest ticket for a thread, in UTF-16 units: threads have little memory. */
const MAX_SIZE = 1024 * 1024;
/** Messages to a thread at a time: one waits while the other is redacted. */
const MESSAGES = 2;
/** Milliseconds without work after which threads end, and after which a new input counts from zero. */
const IDLE = 10_000;
/** Milliseconds of work after which the event loop gets a turn. */
const MAX_TURN = 10;

/** Tickets of one call, which this thread and the others take in turn. */
interface Work {
  readonly tickets: readonly Ticket[];
  readonly results: RedactionResult[];
  next: number;
}

/** Part of the work: `tickets` begin at index `from`. */
interface Chunk {
  readonly from: number;
  readonly tickets: readonly Ticket[];
}

/** Redacts tickets on this thread and, if there is much to do, on worker threads. */
export class RedactionThreads {
  readonly #options: RedactionThreadsOptions;
  readonly #handles: (ThreadHandle | null)[];
  /** All threads that run, including those for tickets that are tried alone. */
  readonly #running = new Set<ThreadHandle>();
  /** Text of the current input, and the time of its last tickets on the monotonic clock. */
  #seen = 0;
  #seenAt = Number.NEGATIVE_INFINITY;
  /** Calls that use the threads now. */
  #calls = 0;
  #idle = new AbortController();
  #isClosed = false;
  #canStart = true;
  /** Tickets that are tried alone, one after the other. */
  #alone: Promise<unknown> = Promise.resolve();

  constructor(options: RedactionThreadsOptions) {
    this.#options = options;
    this.#handles = Array.from({ length: options.threads }, () => null);
  }

  /**
   * Redacts the tickets; the results have the same order. Returns null if this thread has to redact them: while threads
   * are not worth their start, for a ticket that is too large for them, and where they cannot start. Throws
   * CancelledError after `close`.
   */
  async redact(tickets: readonly Ticket[]): Promise<readonly RedactionResult[] | null> {
    if (!this.#isWorthIt(tickets)) {
      return null;
    }
    this.#idle.abort();
    this.#calls += 1;
    const work: Work = { tickets, results: [], next: 0 };
    const lanes = this.#handles.flatMap((_, index) =>
      Array.from({ length: MESSAGES }, () => this.#redactIn(index, work)),
    );
    try {
      await Promise.all([...lanes, this.#redactHere(work)]);
      return work.results;
    } catch (error) {
      if (error instanceof ThreadStartError && !this.#isClosed) {
        this.#disable(error);
        return null;
      }
      throw this.#isClosed ? new CancelledError('redaction was stopped') : error;
    } finally {
      // A lane that failed ends the others.
      work.next = tickets.length;
      await Promise.allSettled(lanes);
      this.#calls -= 1;
      this.#endWhenIdle();
    }
  }

  /** Ends the threads. What they are redacting fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#idle.abort();
    await this.#end();
  }

  #disable({ message: reason }: ThreadStartError): void {
    if (this.#canStart) {
      this.#canStart = false;
      this.#options.onUnavailable?.({ reason });
    }
  }

  #isWorthIt(tickets: readonly Ticket[]): boolean {
    const now = this.#options.clock.monotonic();
    const lengths = tickets.map(lengthOf);
    this.#seen = lengths.reduce((sum, length) => sum + length, now - this.#seenAt > IDLE ? 0 : this.#seen);
    this.#seenAt = now;
    const isMuch = this.#seen >= START_AFTER && tickets.length > 1;
    return this.#canStart && this.#handles.length > 0 && isMuch && lengths.every((length) => length <= MAX_SIZE);
  }

  async #redactIn(index: number, work: Work): Promise<void> {
    for (let chunk = takeChunk(work); chunk !== null; chunk = takeChunk(work)) {
      try {
        store(work, chunk, await this.#handle(index).redact(chunk.tickets));
      } catch (error) {
        if (!(error instanceof ThreadLostError) || this.#isClosed) {
          // The other lanes and this thread take nothing more.
          work.next = work.tickets.length;
          throw error;
        }
        store(work, chunk, await this.#redactAlone(chunk.tickets));
      }
    }
  }

  async #redactHere(work: Work): Promise<void> {
    const { redactor, clock } = this.#options;
    let turnStartedAt = clock.monotonic();
    // The threads get their work first.
    await yieldToOthers();
    for (let chunk = takeChunk(work); chunk !== null; chunk = takeChunk(work)) {
      for (const [offset, ticket] of chunk.tickets.entries()) {
        work.results[chunk.from + offset] = redactOrFail(redactor, ticket);
        if (clock.monotonic() - turnStartedAt > MAX_TURN) {
          await yieldToOthers();
          turnStartedAt = clock.monotonic();
        }
      }
    }
  }

  /** Redacts each ticket alone after one of them has ended a thread, so that only that one fails. */
  #redactAlone(tickets: readonly Ticket[]): Promise<readonly RedactionResult[]> {
    const done = this.#alone.then(async () => {
      const results: RedactionResult[] = [];
      let handle = this.#start();
      try {
        for (const ticket of tickets) {
          handle = handle.hasEnded ? this.#start() : handle;
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

  #handle(index: number): ThreadHandle {
    const handle = this.#handles[index];
    if (handle !== null && handle !== undefined && !handle.hasEnded) {
      return handle;
    }
    const started = this.#start();
    this.#handles[index] = started;
    return started;
  }

  #start(): ThreadHandle {
    if (this.#isClosed) {
      throw new CancelledError('redaction was stopped');
    }
    const { start = startThread, redaction } = this.#options;
    for (const ended of [...this.#running].filter(({ hasEnded }) => hasEnded)) {
      this.#running.delete(ended);
    }
    const handle = new ThreadHandle(() => start(redaction));
    this.#running.add(handle);
    return handle;
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
    const running = [...this.#running];
    this.#running.clear();
    this.#handles.fill(null);
    await Promise.all(running.map((handle) => handle.close()));
  }
}

async function redactOne(handle: ThreadHandle, ticket: Ticket): Promise<RedactionResult> {
  try {
    const [result] = await handle.redact([ticket]);
    return result ?? { failure: 'error' };
  } catch (error) {
    if (error instanceof ThreadLostError) {
      return { failure: error.name };
    }
    throw error;
  }
}

function store({ results }: Work, { from }: Chunk, redacted: readonly RedactionResult[]): void {
  for (const [offset, result] of redacted.entries()) {
    results[from + offset] = result;
  }
}

function takeChunk(work: Work): Chunk | null {
  const from = work.next;
  for (let size = 0; work.next < work.tickets.length && size < CHUNK; work.next += 1) {
    size += lengthOf(work.tickets[work.next] as Ticket);
  }
  return from === work.next ? null : { from, tickets: work.tickets.slice(from, work.next) };
}

/** Returns the length of a ticket's text, in UTF-16 units. */
function lengthOf({ parts }: Ticket): number {
  return parts.reduce((sum, { body }) => sum + body.length, 0);
}
