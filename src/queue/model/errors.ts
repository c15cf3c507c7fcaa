import { TransientError } from '../../core/errors.ts';

/**
 * No answer within the allowed time. A retry of it costs more of the retry quota than other network errors.
 * See docs/rate-limiting.md#retries.
 */
export class TimeoutError extends TransientError {
  override readonly code: string = 'timeout';
}
