// Main-thread side of one redaction thread.
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { type Clock, SLEEP_ENDED } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Ticket } from '../model/ticket.ts';
import type { RedactionResult } from './redaction-result.ts';
import type { RedactionOptions } from './redactor.ts';

/** The thread ended while it redacted. */
export class ThreadLostError extends Error {
  override readonly name: string = 'ThreadLostError';
}

/** The thread was ended because it took too long for one message. */
class ThreadTimeoutError extends ThreadLostError {
  override readonly name = 'ThreadTimeoutError';
}

/** The thread never ran: the system allows no more threads, for example. */
export class ThreadStartError extends Error {
  override readonly name = 'ThreadStartError';
}

/** Tickets that the thread has not returned yet. */
interface Pending {
  readonly resolve: (results: readonly RedactionResult[]) => void;
  readonly reject: (error: Error) => void;
}

type Message = { readonly ready: true } | { readonly results: readonly RedactionResult[] };

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

/** One redaction thread. It returns results in the order of the requests. */
export class ThreadHandle {
  readonly #worker: Worker | null;
  readonly #pending: Pending[] = [];
  readonly #clock: Clock;
  /** Ends the time limit of the first pending message. */
  #timer = new AbortController();
  #isReady = false;
  #error: Error | null = null;

  constructor(start: () => Worker, clock: Clock) {
    this.#clock = clock;
    this.#worker = this.#open(start);
  }

  #open(start: () => Worker): Worker | null {
    let worker: Worker;
    try {
      worker = start();
    } catch (error) {
      this.#fail(messageOf(error));
      return null;
    }
    worker.unref();
    worker.on('message', (message: Message) => {
      this.#isReady = true;
      if ('results' in message) {
        this.#pending.shift()?.resolve(message.results);
        this.#keepProcess();
        this.#limitTime();
      }
    });
    worker.on('error', (error) => this.#fail(messageOf(error)));
    worker.on('messageerror', (error) => this.#fail(messageOf(error)));
    worker.on('exit', () => this.#fail('it has ended'));
    return worker;
  }

  get hasEnded(): boolean {
    return this.#error !== null;
  }

  /**
   * Throws ThreadLostError if the thread ends or exceeds the time limit before it returns, and ThreadStartError if it
   * could not start.
   */
  redact(tickets: readonly Ticket[]): Promise<readonly RedactionResult[]> {
    if (this.#error !== null) {
      return Promise.reject(this.#error);
    }
    return new Promise((resolve, reject) => {
      this.#worker?.postMessage(tickets);
      this.#pending.push({ resolve, reject });
      this.#keepProcess();
      if (this.#pending.length === 1) {
        this.#limitTime();
      }
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  /** Keeps the process alive while results are awaited, and only then. */
  #keepProcess(): void {
    this.#worker?.[this.#pending.length > 0 ? 'ref' : 'unref']();
  }

  /** Starts the time limit of the first pending message, and ends that of the one before. */
  #limitTime(): void {
    this.#timer.abort(SLEEP_ENDED);
    if (this.#pending.length === 0) {
      return;
    }
    this.#timer = new AbortController();
    this.#clock.sleep(MAX_TIME, this.#timer.signal).then(
      () => {
        this.#error ??= new ThreadTimeoutError(`redaction took longer than ${MAX_TIME / 1000} s`);
        this.#fail('time limit');
        void this.close();
      },
      () => {
        // It returned in time.
      },
    );
  }

  #fail(reason: string): void {
    this.#timer.abort(SLEEP_ENDED);
    this.#error ??= this.#isReady
      ? new ThreadLostError(`the redaction thread has ended: ${reason}`)
      : new ThreadStartError(`the redaction thread did not start: ${reason}`);
    for (const { reject } of this.#pending.splice(0)) {
      reject(this.#error);
    }
  }
}
