import { type RateHeaders, readRateHeaders } from '../../queue/rate-headers.ts';

/** Freshdesk counts by the minute, and does not say when one ends: a minute from now is never too early. In seconds. */
const WINDOW = 60;

/** Reads `X-RateLimit-Total`, `X-RateLimit-Remaining` and `Retry-After`. The account's other users count as well. */
export function readFreshdeskRate(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): RateHeaders {
  const total = headers['x-ratelimit-total'];
  const read = readRateHeaders({ ...headers, 'x-ratelimit-limit': total });
  return { ...read, reset: read.remaining === null ? null : WINDOW };
}
