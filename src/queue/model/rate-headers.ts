/** What one answer says about the budget; null where it says nothing. */
export interface RateHeaders {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** As sent: seconds since the epoch, or seconds from now where it is less than 1e9. May have a fraction. */
  readonly reset: number | null;
  /** Milliseconds to wait. */
  readonly retryAfter: number | null;
  /** The server's clock, milliseconds since the epoch, cut to whole seconds. */
  readonly date: number | null;
}

/** An answer that says nothing, or no answer. */
export const NO_RATE_HEADERS: RateHeaders = { limit: null, remaining: null, reset: null, retryAfter: null, date: null };

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Reads `X-RateLimit-*`, `Retry-After` and `Date`. Names must be in lower case. A value that cannot be read counts as
 * absent. Source: docs/platform-notes.md#rate-limits
 */
export function readRateHeaders(headers: HeaderRecord): RateHeaders {
  const date = dateOf(single(headers.date));
  return {
    limit: amountOf(single(headers['x-ratelimit-limit'])),
    remaining: amountOf(single(headers['x-ratelimit-remaining'])),
    reset: amountOf(single(headers['x-ratelimit-reset'])),
    retryAfter: retryAfterOf(single(headers['retry-after']), date),
    date,
  };
}

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value[0];
}

function amountOf(value: string | undefined): number | null {
  if (value === undefined || value.trim() === '') {
    return null;
  }
  const amount = Number(value);
  return Number.isFinite(amount) && amount >= 0 ? amount : null;
}

function dateOf(value: string | undefined): number | null {
  const date = value === undefined ? Number.NaN : Date.parse(value);
  return Number.isNaN(date) ? null : date;
}

/** Seconds, or a date: then the wait is counted from the server's own clock. */
function retryAfterOf(value: string | undefined, date: number | null): number | null {
  const seconds = amountOf(value);
  if (seconds !== null) {
    return seconds * 1000;
  }
  const until = dateOf(value);
  return until === null || date === null ? null : Math.max(0, until - date);
}
