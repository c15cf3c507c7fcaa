import { TransientError } from '../../core/errors.ts';

/**
 * Error of a request that got no response in time. Retrying it costs more of the retry quota than other network errors.
 * See docs/rate-limiting.md#retries.
 */
export class TimeoutError extends TransientError {
  override readonly code: string = 'timeout';
}
