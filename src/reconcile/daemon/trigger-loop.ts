import type { Trigger } from './pass.ts';

/** Runs one pass at a time. Triggers that arrive during a pass are coalesced into one more pass. */
export class TriggerLoop {
  readonly #run: (trigger: Trigger) => Promise<void>;
  readonly #signal: AbortSignal;
  #next: Trigger | null = null;
  #running: Promise<void> | null = null;

  /** @param signal starts no pass after it aborts */
  constructor(run: (trigger: Trigger) => Promise<void>, signal: AbortSignal) {
    this.#run = run;
    this.#signal = signal;
  }

  /** Requests a pass. Resolves when no pass is running. */
  trigger(trigger: Trigger): Promise<void> {
    this.#next = trigger;
    this.#running ??= this.#loop();
    return this.#running;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Resolves when no pass is running. */
  idle(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  async #loop(): Promise<void> {
    try {
      while (this.#next !== null && !this.#signal.aborted) {
        const trigger = this.#next;
        this.#next = null;
        await this.#run(trigger);
      }
    } finally {
      this.#running = null;
    }
  }
}

/** Milliseconds before the first retry of a pass; each later delay is twice as long. */
const FIRST_DELAY = 2000;
const MAX_DELAY = 300_000;

/** Exponential backoff between retries of a pass that failed, or that waits for the platform. */
export class Backoff {
  #delay = FIRST_DELAY;

  /** Returns the delay of the next retry, in milliseconds. */
  next(): number {
    const delay = this.#delay;
    this.#delay = Math.min(delay * 2, MAX_DELAY);
    return delay;
  }

  reset(): void {
    this.#delay = FIRST_DELAY;
  }
}
