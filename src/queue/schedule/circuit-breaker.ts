/** Consecutive failures after which the circuit breaker opens. */
const FAILURE_THRESHOLD = 10;
const MIN_PAUSE = 5000;
const MAX_PAUSE = 60_000;

/**
 * Circuit breaker: stops sending after repeated failures, except for one trial request after each pause. The first pause
 * is 5 s, doubled after each failed trial up to 60 s.
 */
export class CircuitBreaker {
  readonly #now: () => number;
  readonly #onChange: (state: 'closed' | 'open') => void;
  /** `half-open` while a trial request is in flight. */
  #state: 'closed' | 'open' | 'half-open' = 'closed';
  /** Consecutive failures while closed. */
  #failures = 0;
  /** Consecutive times that it opened. */
  #openings = 0;
  #reopensAt = Number.NEGATIVE_INFINITY;

  /** `now` returns monotonic milliseconds. */
  constructor(now: () => number, onChange: (state: 'closed' | 'open') => void) {
    this.#now = now;
    this.#onChange = onChange;
  }

  get state(): 'closed' | 'open' | 'half-open' {
    return this.#state;
  }

  /** Returns the monotonic time from which a request may be sent; Infinity while a trial is in flight. */
  nextAttemptAt(): number {
    if (this.#state === 'closed') {
      return Number.NEGATIVE_INFINITY;
    }
    return this.#state === 'half-open' ? Number.POSITIVE_INFINITY : this.#reopensAt;
  }

  /** Records that a request is sent. Returns true if it is a trial request; pass that on with its result. */
  onSent(): boolean {
    const isTrial = this.#state !== 'closed';
    if (isTrial) {
      this.#state = 'half-open';
    }
    return isTrial;
  }

  /** Records that the platform works. A late response from before it opened does not close it. */
  onSuccess(isTrial: boolean): void {
    this.#failures = 0;
    if (isTrial) {
      this.#openings = 0;
      this.#state = 'closed';
      this.#onChange('closed');
    }
  }

  /** Records a temporary failure. */
  onFailure(isTrial: boolean): void {
    this.#failures += 1;
    if (isTrial || (this.#state === 'closed' && this.#failures >= FAILURE_THRESHOLD)) {
      this.#openings += 1;
      this.#reopensAt = this.#now() + Math.min(MAX_PAUSE, MIN_PAUSE * 2 ** (this.#openings - 1));
      this.#state = 'open';
      this.#onChange('open');
    }
  }
}
