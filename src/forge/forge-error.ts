import { AuthError, RateLimitedError, RejectedError, TransientError } from '../core/errors.ts';

/** What a forge answered instead of what was asked for. */
export interface Refusal {
  /** What was tried, in words: `update the comment`. */
  readonly tried: string;
  /** `GitHub`. */
  readonly label: string;
  readonly status: number;
  /** Reads a header of the answer; null where it is not there. */
  readonly header: (name: string) => string | null;
}

/**
 * An answer that is an error, named by what happens next. What the forge said is left out: its text may quote what was
 * sent, and the status says enough.
 */
export function refusalError({ tried, label, status, header }: Refusal, cause: unknown): Error {
  const message = `${label} answers with ${status} when asked to ${tried}`;
  const retryAfter = Number(header('retry-after') ?? Number.NaN);
  // GitHub says 403 too where a limit is used up.
  if (status === 429 || (status === 403 && (Number.isFinite(retryAfter) || header('x-ratelimit-remaining') === '0'))) {
    return new RateLimitedError(message, Number.isFinite(retryAfter) ? retryAfter * 1000 : null, { cause });
  }
  if (status === 401 || status === 403) {
    return new AuthError(message, status, { cause });
  }
  if (status === 408 || status >= 500) {
    return new TransientError(message, true, { cause });
  }
  return new RejectedError(message, status, { cause });
}

/** No answer at all: it may have been done. */
export function silenceError(label: string, tried: string, cause: unknown): Error {
  return new TransientError(`${label} does not answer when asked to ${tried}`, true, { cause });
}

/** Passes over that something is not there any more. */
export function unlessGone(error: unknown): void {
  if (!(error instanceof RejectedError && error.status === 404)) {
    throw error;
  }
}
