// Parses the rate-limit headers of a response.

/** Rate-limit headers of one response; null for each header that is absent. */
export interface RateHeaders {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** As sent: seconds since the epoch, or seconds from now if less than 1e9. May have a fraction. */
  readonly reset: number | null;
  /** Time to wait, in milliseconds. */
  readonly retryAfter: number | null;
  /** Server time in milliseconds since the epoch, rounded down to whole seconds. */
  readonly date: number | null;
}

/** Headers of a response without rate-limit headers, or of a missing response. */
export const NO_RATE_HEADERS: RateHeaders = { limit: null, remaining: null, reset: null, retryAfter: null, date: null };

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Reads `X-RateLimit-*`, `Retry-After` and `Date`. Names must be in lower case. A value that cannot be parsed is
 * treated as absent. Source: docs/platform-notes.md#rate-limits
 */
export function readRateHeaders(headers: HeaderRecord): RateHeaders {
  const date = parseDate(single(headers.date));
  return {
    limit: parseAmount(single(headers['x-ratelimit-limit'])),
    remaining: parseAmount(single(headers['x-ratelimit-remaining'])),
    reset: parseAmount(single(headers['x-ratelimit-reset'])),
    retryAfter: parseRetryAfter(single(headers['retry-after']), date),
    date,
  };
}

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value[0];
}

function parseAmount(value: string | undefined): number | null {
  if (value === undefined || value.trim() === '') {
    return null;
  }
  const amount = Number(value);
  return Number.isFinite(amount) && amount >= 0 ? amount : null;
}

function parseDate(value: string | undefined): number | null {
  const date = value === undefined ? Number.NaN : Date.parse(value);
  return Number.isNaN(date) ? null : date;
}

/** Parses seconds or a date. A date is compared with the server's own clock. */
function parseRetryAfter(value: string | undefined, date: number | null): number | null {
  const seconds = parseAmount(value);
  if (seconds !== null) {
    return seconds * 1000;
  }
  const until = parseDate(value);
  return until === null || date === null ? null : Math.max(0, until - date);
}
