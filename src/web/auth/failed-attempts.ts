/** Limit for wrong tokens, by address: guesses must not be cheap. */
import type { Clock } from '../../core/clock.ts';
import { PageError } from '../page-error.ts';

/** Number of wrong tokens from one address in a period, in milliseconds. */
const MAX_ATTEMPTS = 10;
const PERIOD = 60_000;
/** Maximum number of addresses that are remembered. */
const MAX_PEERS = 10_000;

interface Attempts {
  readonly since: number;
  readonly count: number;
}

export class FailedAttempts {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #peers = new Map<string, Attempts>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Throws PageError (429) if there were too many wrong tokens from this address. */
  check(peer: string): void {
    const known = this.#recent(peer);
    if (known !== null && known.count >= MAX_ATTEMPTS) {
      const seconds = Math.ceil((known.since + PERIOD - this.#clock.monotonic()) / 1000);
      throw new PageError(429, `Too many wrong tokens. Try again in ${seconds} seconds.`, {
        'retry-after': String(seconds),
      });
    }
  }

  add(peer: string): void {
    const { since, count } = this.#recent(peer) ?? { since: this.#clock.monotonic(), count: 0 };
    this.#peers.delete(peer);
    this.#peers.set(peer, { since, count: count + 1 });
    const [oldest] = this.#peers.keys();
    if (this.#peers.size > MAX_PEERS && oldest !== undefined) {
      this.#peers.delete(oldest);
    }
  }

  #recent(peer: string): Attempts | null {
    const known = this.#peers.get(peer);
    return known !== undefined && this.#clock.monotonic() - known.since < PERIOD ? known : null;
  }
}
