/** Main-thread side of a worker thread, which answers one question after the other. */
import type { Worker } from 'node:worker_threads';
import { type Clock, SLEEP_ENDED } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';

/** The thread ended while it worked. */
export class ThreadLostError extends Error {
  override readonly name: string = 'ThreadLostError';
}

/** The thread was ended because it took too long for one question. */
export class ThreadTimeoutError extends ThreadLostError {
  override readonly name = 'ThreadTimeoutError';
}

/** The thread never ran: the system allows no more threads, for example. */
export class ThreadStartError extends Error {
  override readonly name = 'ThreadStartError';
}

/** Message of the thread: once that it runs, then an answer to each question. */
export type ThreadMessage<Answer> = { readonly ready: true } | { readonly answer: Answer };

/** One thread. It answers in the order of the questions. */
export class ThreadHandle<Question, Answer> {
  readonly #worker: Worker | null;
  readonly #pending: PromiseWithResolvers<Answer>[] = [];
  readonly #clock: Clock;
  readonly #limit: number;
  /** Ends the time limit of the first pending question. */
  #timer = new AbortController();
  #isReady = false;
  #error: Error | null = null;

  /** `limit`: milliseconds for one question. */
  constructor(start: () => Worker, clock: Clock, limit: number) {
    this.#clock = clock;
    this.#limit = limit;
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
    worker.on('message', (message: ThreadMessage<Answer>) => {
      this.#isReady = true;
      if ('answer' in message) {
        this.#pending.shift()?.resolve(message.answer);
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

  /** Number of questions without an answer. */
  get pending(): number {
    return this.#pending.length;
  }

  /**
   * Throws ThreadLostError if the thread ends or exceeds the time limit before it returns, and ThreadStartError if it
   * could not start.
   */
  ask(question: Question): Promise<Answer> {
    if (this.#error !== null) {
      return Promise.reject(this.#error);
    }
    const pending = Promise.withResolvers<Answer>();
    this.#worker?.postMessage(question);
    this.#pending.push(pending);
    this.#keepProcess();
    if (this.#pending.length === 1) {
      this.#limitTime();
    }
    return pending.promise;
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  /** Keeps the process alive while answers are awaited, and only then. */
  #keepProcess(): void {
    this.#worker?.[this.#pending.length > 0 ? 'ref' : 'unref']();
  }

  /** Starts the time limit of the first pending question, and ends that of the one before. */
  #limitTime(): void {
    this.#timer.abort(SLEEP_ENDED);
    if (this.#pending.length === 0) {
      return;
    }
    this.#timer = new AbortController();
    this.#clock.sleep(this.#limit, this.#timer.signal).then(
      () => {
        this.#error ??= new ThreadTimeoutError(`it took longer than ${this.#limit / 1000} s`);
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
      ? new ThreadLostError(`the thread has ended: ${reason}`)
      : new ThreadStartError(`the thread did not start: ${reason}`);
    for (const { reject } of this.#pending.splice(0)) {
      reject(this.#error);
    }
  }
}
