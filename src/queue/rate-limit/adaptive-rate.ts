// Paces requests under a limit that no window explains: slower after each 429, then faster again.
import { AFTER_RESPONSE, type Decision, SEND } from './pacing.ts';

/** Factors of the rate after a 429, and at the start: learning has cost time. */
const DECREASE = 0.9;
const START = 1.5;
/**
 * Growth of the rate while as many requests are accepted as before the first 429: until the next 429 shows the maximum,
 * and afterwards.
 */
const FAST_GROWTH = 4;
const GROWTH = 1;
/** Factor of the requests in flight after a 429, and growth with as many responses as requests in flight. */
const CAP_DECREASE = 0.75;
const CAP_GROWTH = 0.03;
/** Requests that may catch up after a wait. */
const BURST = 2;
/** Maximum pause after a 429, in milliseconds. */
const MAX_PAUSE = 60_000;

/** Own traffic when a 429 arrived. The round trip is in milliseconds. */
interface Traffic {
  readonly rtt: number;
  readonly inFlight: number;
}

/** Request rate that adapts to 429s. Times are monotonic milliseconds. */
export class AdaptiveRate {
  /** Requests per millisecond. */
  #rate: number;
  readonly #firstCount: number;
  #growth = FAST_GROWTH;
  #maxInFlight = Number.POSITIVE_INFINITY;
  #nextAt = Number.NEGATIVE_INFINITY;
  #closedUntil = Number.NEGATIVE_INFINITY;
  /** True if requests are sent as fast as the rate permits. A rate that holds nothing up must not grow. */
  #isUsed = true;
  /** Consecutive 429s. */
  #refusals = 0;

  /** `rate`: requests accepted per millisecond so far; `firstCount`: requests accepted before the first 429. */
  constructor(rate: number, firstCount: number) {
    this.#rate = rate * START;
    this.#firstCount = firstCount;
  }

  decide(now: number, inFlight: number, isUrgent: boolean): Decision {
    if (inFlight + 1 > this.#maxInFlight) {
      return AFTER_RESPONSE;
    }
    const until = isUrgent ? this.#closedUntil : Math.max(this.#closedUntil, this.#nextAt);
    const why = 'refused by the platform (429), which does not report its rate limit';
    return now < until ? { kind: 'wait', until, why } : SEND;
  }

  onSent(now: number): void {
    const earliest = now - BURST / this.#rate;
    this.#isUsed = this.#nextAt > earliest;
    this.#nextAt = Math.max(this.#nextAt, earliest) + 1 / this.#rate;
  }

  onAccepted(): void {
    this.#refusals = 0;
    this.#rate *= this.#isUsed ? 1 + this.#growth / this.#firstCount : 1;
    this.#maxInFlight += CAP_GROWTH / this.#maxInFlight;
  }

  /** Records a 429 to a request that was sent after the last 429 arrived. */
  onRefused(receivedAt: number, { rtt, inFlight }: Traffic): void {
    this.#growth = GROWTH;
    this.#rate *= DECREASE;
    this.#maxInFlight = Math.max(1, CAP_DECREASE * Math.min(this.#maxInFlight, inFlight + 1));
    const pause = Math.max(rtt, 1 / this.#rate) * 2 ** this.#refusals;
    this.#closedUntil = receivedAt + Math.min(MAX_PAUSE, pause);
    this.#refusals += 1;
  }
}
