/** Circuit breaker of the queue. */
import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleType } from 'cockatiel';
import { TransientError } from '../core/errors.ts';

/** Consecutive failures after which the circuit breaker opens. */
const FAILURE_THRESHOLD = 10;
const MIN_PAUSE = 5000;
const MAX_PAUSE = 60_000;

/** Circuit breaker: stops sending after repeated failures, except for one trial request after each pause. */
export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/**
 * Creates a circuit breaker. `now` is monotonic milliseconds. The first pause is 5 s, doubled after each failed trial
 * up to 60 s. Pauses use the injected clock; the library only counts failures and keeps the state.
 */
export function createCircuitBreaker(now: () => number, onChange: (state: 'closed' | 'open') => void) {
  const consecutive = new ConsecutiveBreaker(FAILURE_THRESHOLD);
  const policy = circuitBreaker(handleType(TransientError), { halfOpenAfter: 0, breaker: consecutive });
  let openings = 0;
  let reopensAt = Number.NEGATIVE_INFINITY;
  let isTrialInFlight = false;
  policy.onBreak(() => {
    openings += 1;
    reopensAt = now() + Math.min(MAX_PAUSE, MIN_PAUSE * 2 ** (openings - 1));
    onChange('open');
  });
  policy.onReset(() => {
    openings = 0;
    onChange('closed');
  });
  return {
    get state(): 'closed' | 'open' | 'half-open' {
      return policy.state === CircuitState.Closed ? 'closed' : isTrialInFlight ? 'half-open' : 'open';
    },
    /** Returns the monotonic time from which a request may be sent; Infinity while a trial is in flight. */
    nextAttemptAt(): number {
      if (policy.state === CircuitState.Closed) {
        return Number.NEGATIVE_INFINITY;
      }
      return isTrialInFlight ? Number.POSITIVE_INFINITY : reopensAt;
    },
    /** Makes an attempt and records its result. Rejects with the error of the attempt. */
    async run<T>(attempt: () => Promise<T>): Promise<T> {
      if (policy.state !== CircuitState.Closed) {
        isTrialInFlight = true;
        try {
          return await policy.execute(attempt);
        } finally {
          isTrialInFlight = false;
        }
      }
      try {
        const value = await attempt();
        consecutive.success();
        return value;
      } catch (error) {
        // Only failures go through the policy: it takes as much time as all else that the queue does for a request.
        return policy.state === CircuitState.Closed
          ? policy.execute(() => Promise.reject(error))
          : Promise.reject(error);
      }
    },
  };
}
