import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleType } from 'cockatiel';
import { TransientError } from '../../core/errors.ts';

/** Failures in a row that count as lasting. */
const LASTING = 10;
const FIRST_PAUSE = 5000;
const LONGEST_PAUSE = 60_000;

/** Stops sending to a platform that fails lastingly, but for one trial after each pause. */
export interface CircuitBreaker {
  readonly state: 'closed' | 'open' | 'half-open';
  /** The monotonic time from which a request may be sent; Infinity while a trial is out. */
  admits(): number;
  /** Makes an attempt and learns from how it ends. Rejects as the attempt does. */
  run<T>(attempt: () => Promise<T>): Promise<T>;
}

/**
 * `now` is monotonic milliseconds. Pauses are 5 s, doubled each time a trial fails, 60 s at most. They are kept here,
 * by our clock: the library only counts and remembers the state.
 */
export function createCircuitBreaker(now: () => number, onChange: (state: 'closed' | 'open') => void): CircuitBreaker {
  const policy = circuitBreaker(handleType(TransientError), {
    halfOpenAfter: 0,
    breaker: new ConsecutiveBreaker(LASTING),
  });
  let openings = 0;
  let reopensAt = Number.NEGATIVE_INFINITY;
  let onTrial = false;
  policy.onBreak(() => {
    openings += 1;
    reopensAt = now() + Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (openings - 1));
    onChange('open');
  });
  policy.onReset(() => {
    openings = 0;
    onChange('closed');
  });
  return {
    get state() {
      return policy.state === CircuitState.Closed ? 'closed' : onTrial ? 'half-open' : 'open';
    },
    admits() {
      if (policy.state === CircuitState.Closed) {
        return Number.NEGATIVE_INFINITY;
      }
      return onTrial ? Number.POSITIVE_INFINITY : reopensAt;
    },
    async run(attempt) {
      const trial = policy.state !== CircuitState.Closed;
      onTrial ||= trial;
      try {
        return await policy.execute(attempt);
      } finally {
        if (trial) {
          onTrial = false;
        }
      }
    },
  };
}
