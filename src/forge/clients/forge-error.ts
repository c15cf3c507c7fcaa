import { AuthError, NotThePlatformError, RateLimitedError, RejectedError, TransientError } from '../../core/errors.ts';
import { UnusableResponseError } from './bounded-fetch.ts';

/** Error response of a forge. */
export interface Refusal {
  /** Description of the action: `update the comment`. */
  readonly action: string;
  /** `GitHub`. */
  readonly label: string;
  readonly status: number;
  /** Reads a header of the response; null if it is absent. */
  readonly header: (name: string) => string | null;
  /** True if a rate limit was exceeded that the headers do not show. */
  readonly isLimit?: boolean;
}

/**
 * Classifies an error answer by what happens next. The forge's message is omitted: it may quote what was
 * sent, and the status is enough.
 */
export function refusalError({ action, label, status, header, isLimit }: Refusal, cause: unknown): Error {
  const message = `${label} answers with ${status} when asked to ${action}`;
  const after = retryDelay(header);
  // GitHub also answers 403 when a rate limit is exceeded.
  const isUsedUp = after !== null || header('x-ratelimit-remaining') === '0';
  if (isLimit === true || status === 429 || (status === 403 && isUsedUp)) {
    return new RateLimitedError(message, after, { cause });
  }
  if (status === 401 || status === 403) {
    return new AuthError(message, status, { cause });
  }
  if (status === 408 || status >= 500) {
    return new TransientError(message, true, { cause });
  }
  return new RejectedError(message, status, { cause });
}

/** Shortest and longest time that a forge can ask to wait, in milliseconds. Limits are per hour at most. */
const MIN_WAIT = 1000;
const MAX_WAIT = 3_600_000;

/**
 * Milliseconds until the request may be repeated, from the answer or from the reset of the exceeded limit, by the
 * forge's own clock (GitHub REST API, rate limits). Null if the answer has neither.
 */
function retryDelay(header: Refusal['header']): number | null {
  const seconds = (name: string) => Number((header(name) ?? '').trim() || Number.NaN);
  const now = Date.parse(header('date') ?? '');
  const reset = seconds('x-ratelimit-remaining') === 0 ? seconds('x-ratelimit-reset') * 1000 - now : Number.NaN;
  const until = Date.parse(header('retry-after') ?? '') - now;
  const wait = [seconds('retry-after') * 1000, until, reset].find((each) => !Number.isNaN(each));
  return wait === undefined ? null : Math.min(Math.max(wait, MIN_WAIT), MAX_WAIT);
}

/** Creates the error for a request without a complete response: it may have taken effect. */
export function noAnswerError(label: string, action: string, cause: unknown): Error {
  const unusable = [cause, cause instanceof Error ? cause.cause : null].find(
    (each) => each instanceof UnusableResponseError,
  );
  if (unusable instanceof UnusableResponseError) {
    const why = `${unusable.message}; check the address of the forge`;
    return new NotThePlatformError(`${label} was asked to ${action}: ${why}`, { cause });
  }
  return new TransientError(`${label} does not answer when asked to ${action}`, true, { cause });
}

/** Ignores 404 errors; throws others. */
export function ignoreNotFound(error: unknown): void {
  if (!(error instanceof RejectedError && error.status === 404)) {
    throw error;
  }
}
