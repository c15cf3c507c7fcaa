import { type RateHeaders, readRateHeaders } from '../../../queue/model/rate-headers.ts';

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Minimum wait after a refusal that names no wait or reset, in milliseconds. Source: docs/helpdesk-notes.md#github */
export const LEAST_WAIT = 60_000;

/**
 * Reads GitHub's rate-limit headers. `retryAfter` applies if the response is a refusal: without `Retry-After` and with
 * requests left, a secondary limit was exceeded that no header describes and no reset ends.
 */
export function readGithubRate(headers: HeaderRecord): RateHeaders {
  const read = readRateHeaders(headers);
  const endsAtReset = read.remaining === 0 && read.reset !== null;
  return { ...read, retryAfter: read.retryAfter ?? (endsAtReset ? null : LEAST_WAIT) };
}

/** Reports whether an answer is a refusal: GitHub also uses 403 for it. Source: docs/helpdesk-notes.md#github */
export function isGithubRefusal(status: number, headers: HeaderRecord): boolean {
  const { remaining, retryAfter } = readRateHeaders(headers);
  return status === 403 && (remaining === 0 || retryAfter !== null);
}
