import { type AppError, CancelledError, messageOf, TransientError } from '../../core/errors.ts';
import type { QueueEvent } from '../../queue/model/snapshot.ts';
import type { Terminal } from './terminal.ts';

/**
 * A command whose platform never answered at all ends soon and says why, where a daemon goes on trying. Once there was
 * an answer, an outage is waited for, and only told of.
 */
export class ConnectivityMonitor {
  readonly #given = new AbortController();
  readonly #origin: string;
  readonly #terminal: Terminal;
  #answered = false;
  #openings = 0;
  #last: unknown = null;

  constructor(origin: string, terminal: Terminal) {
    this.#origin = origin;
    this.#terminal = terminal;
  }

  /** Aborts when the platform is given up. */
  get signal(): AbortSignal {
    return this.#given.signal;
  }

  readonly onEvent = (event: QueueEvent): void => {
    if (event.kind === 'attempt') {
      this.#answered ||= ['answered', 'rejected', 'refused'].includes(event.outcome);
    } else if (event.kind === 'breaker' && event.state === 'open') {
      this.#failing();
    }
  };

  /** Remembers why an attempt failed. */
  failed(reason: unknown): void {
    this.#last = reason;
  }

  /** What to end with instead of an error that only says that it was given up. */
  explain(error: unknown): unknown {
    return this.#given.signal.aborted && error instanceof CancelledError ? this.#reason() : error;
  }

  #failing(): void {
    this.#openings += 1;
    if (this.#answered || this.#openings === 1) {
      this.#terminal.err(`${this.#why()}; retrying\n`);
    } else {
      this.#given.abort();
    }
  }

  #why(): string {
    return this.#last === null ? `${this.#origin} does not respond` : messageOf(this.#last);
  }

  #reason(): AppError {
    return new TransientError(`${this.#why()}; gave up after several attempts`, false, { cause: this.#last });
  }
}
