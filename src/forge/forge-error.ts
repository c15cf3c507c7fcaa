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
  /** Whether a limit is used up, where only the text of the answer says so. */
  readonly isLimit?: boolean;
}

/**
 * An answer that is an error, named by what happens next. What the forge said is left out: its text may quote what was
 * sent, and the status says enough.
 */
export function refusalError({ tried, label, status, header, isLimit }: Refusal, cause: unknown): Error {
  const message = `${label} answers with ${status} when asked to ${tried}`;
  const after = waitOf(header);
  // GitHub says 403 too where a limit is used up.
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

/**
 * Milliseconds until it may be asked again: as the answer says, or until the limit that is used up begins anew, by the
 * forge's own clock (GitHub REST API, rate limits). Null where it says neither.
 */
function waitOf(header: Refusal['header']): number | null {
  const [retryAfter, remaining, reset] = ['retry-after', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) =>
    Number(header(name) ?? Number.NaN),
  ) as [number, number, number];
  if (Number.isFinite(retryAfter)) {
    return retryAfter * 1000;
  }
  const wait = reset * 1000 - Date.parse(header('date') ?? '');
  return remaining === 0 && Number.isFinite(wait) ? Math.max(wait, 1000) : null;
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
