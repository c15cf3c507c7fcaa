import { TransientError } from '../core/errors.ts';

/** No answer within the time allowed. Costs more of the retry quota than other network trouble (queue policy). */
export class TimeoutError extends TransientError {
  override readonly code: string = 'timeout';
}
