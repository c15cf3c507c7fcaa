import { type RateHeaders, readRateHeaders } from '../../../queue/request.ts';

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Minimum wait after a rate limit without a wait or reset in the response, in milliseconds. Source:
 * docs/helpdesk-notes.md#github
 */
export const MIN_WAIT = 60_000;

/**
 * Reads GitHub's rate-limit headers. `retryAfter` applies if the request was rate limited: without `Retry-After` and
 * with requests left, a secondary limit was exceeded, which has no headers and no reset.
 */
export function readGithubRate(headers: HeaderRecord): RateHeaders {
  const read = readRateHeaders(headers);
  const endsAtReset = read.remaining === 0 && read.reset !== null;
  return { ...read, retryAfter: read.retryAfter ?? (endsAtReset ? null : MIN_WAIT) };
}

/**
 * Reports whether a response is due to a rate limit: GitHub also uses 403 for it. Source: docs/helpdesk-notes.md#github
 */
export function isGithubRefusal(status: number, headers: HeaderRecord): boolean {
  const { remaining, retryAfter } = readRateHeaders(headers);
  return status === 403 && (remaining === 0 || retryAfter !== null);
}
