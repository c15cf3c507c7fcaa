import { type RateHeaders, readRateHeaders } from '../../../queue/request.ts';

/**
 * Length of a window, in seconds. Freshdesk does not report when a window ends, so a whole minute is assumed, which is
 * never too short. Source: docs/helpdesk-notes.md#freshdesk
 */
const WINDOW = 60;

/** Reads `X-RateLimit-Total`, `X-RateLimit-Remaining` and `Retry-After`, which count for the whole account. */
export function readFreshdeskRate(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): RateHeaders {
  const total = headers['x-ratelimit-total'];
  const read = readRateHeaders({ ...headers, 'x-ratelimit-limit': total });
  return { ...read, reset: read.remaining === null ? null : WINDOW };
}
