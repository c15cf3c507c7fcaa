// Decides whether the next request is sent, probes or waits, and paces requests over a window or a token bucket.

/** Decision about the next request of a class. `until` is monotonic; Infinity: until a response arrives. */
export type Decision =
  | { readonly kind: 'send' }
  | { readonly kind: 'probe' }
  | { readonly kind: 'wait'; readonly until: number; readonly why: string };

export const SEND: Decision = { kind: 'send' };
export const PROBE: Decision = { kind: 'probe' };

const WHY = 'requests are paced over the rate limit';

/** Waits for a response to the requests in flight. */
export const AFTER_RESPONSE: Decision = { kind: 'wait', until: Number.POSITIVE_INFINITY, why: WHY };

/** Share at the end of a window in which nothing is reserved. See docs/rate-limiting.md#request-pacing. */
const UNRESERVED_SHARE = 0.1;
/** Share of a token bucket that is reserved for urgent requests. */
const BUCKET_RESERVE = 0.2;
/** Interval at which one request checks the remaining count of a token bucket that others may share, in ms. */
const CHECK_INTERVAL = 2000;

/** Window to pace requests over. Times are monotonic milliseconds. */
interface Span {
  readonly end: number;
  readonly length: number;
}

/** Returns true near the end of a window, where neither this queue nor another Octavo reserves anything. */
export function isUnreserved(now: number, { end, length }: Span): boolean {
  return now >= end - length * UNRESERVED_SHARE;
}

/** Paces requests over a window. The reserve for urgent requests and other clients falls linearly. */
export function releaseInWindow(now: number, raw: number, limit: number, { end, length }: Span): Decision {
  const share = length > 0 ? (end - now) / length : 0;
  const reserve = Math.max(0, (limit * (share - UNRESERVED_SHARE)) / (1 - UNRESERVED_SHARE));
  if (raw - reserve >= 1) {
    return SEND;
  }
  const left = length * (UNRESERVED_SHARE + ((1 - UNRESERVED_SHARE) * (raw - 1)) / limit);
  return { kind: 'wait', until: Math.max(end - left, now + 1), why: WHY };
}

/** Token bucket to pace requests over. */
interface Bucket {
  readonly limit: number;
  /** Requests per second. */
  readonly refill: number;
  /** Time of the last response, monotonic; null while a request is in flight. */
  readonly seenAt: number | null;
  /** Time at which the bucket will be full, monotonic. */
  readonly end: number;
}

/**
 * Paces requests over a token bucket. The reserve for urgent requests is constant, because unused tokens do not expire
 * at the end of a window. Usage by other clients only shows in the remaining count, so one request checks it regularly.
 */
export function releaseInBucket(now: number, raw: number, { limit, refill, seenAt, end }: Bucket): Decision {
  const missing = limit * BUCKET_RESERVE + 1 - raw;
  const checkAt = seenAt === null ? Number.POSITIVE_INFINITY : seenAt + CHECK_INTERVAL;
  if (missing <= 0 || now >= checkAt) {
    return SEND;
  }
  const filled = refill > 0 ? now + (missing * 1000) / refill : Number.POSITIVE_INFINITY;
  return { kind: 'wait', until: Math.max(now + 1, Math.min(filled, checkAt, end)), why: WHY };
}
