/** Status of an outbox for regular readers, such as metrics: an outbox in which nothing happens is rarely read. */
import type { Clock } from '../../core/clock.ts';
import type { Outbox, OutboxStatus } from './outbox.ts';

/** Milliseconds after which the outbox is read again in any case: another replica may have stored a webhook request. */
const MAX_AGE = 55_000;

interface Reading {
  readonly status: Promise<OutboxStatus>;
  /** Number of changes before the outbox was read. */
  readonly changes: number;
  /** On the monotonic clock. */
  readonly at: number;
}

/** Reads the status again after `markChanged`, and otherwise once a minute. */
export class RecentStatus {
  readonly #outbox: Pick<Outbox, 'status'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #changes = 0;
  #last: Reading | null = null;

  constructor(outbox: Pick<Outbox, 'status'>, clock: Pick<Clock, 'monotonic'>) {
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** Records that the outbox may have changed. Call it after the change. */
  markChanged(): void {
    this.#changes += 1;
  }

  /** Returns the status since the last change. Throws StoreError. */
  async read(): Promise<OutboxStatus> {
    const at = this.#clock.monotonic();
    if (this.#last === null || this.#last.changes !== this.#changes || at - this.#last.at >= MAX_AGE) {
      this.#last = { status: this.#outbox.status(), changes: this.#changes, at };
    }
    const reading = this.#last;
    try {
      return await reading.status;
    } catch (error) {
      if (this.#last === reading) {
        this.#last = null;
      }
      throw error;
    }
  }
}
