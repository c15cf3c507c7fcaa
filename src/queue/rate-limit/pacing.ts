// Decides whether the next request is sent, probes or waits, and paces requests over a window or a token bucket.
import type { OtherClients } from './other-clients.ts';
import type { RateWindow } from './rate-window.ts';
import type { RefillRate } from './refill-rate.ts';

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
/** Share of a window by which its end may be uncertain for requests to be paced to its earliest end. */
const MAX_UNCERTAIN_SHARE = 0.6;
/** Share of a token bucket that is reserved for urgent requests. */
const BUCKET_RESERVE = 0.2;
/** Interval at which one request checks the remaining count of a token bucket that others may share, in ms. */
const CHECK_INTERVAL = 2000;

/** Window to pace requests over. Times are monotonic milliseconds. */
interface PacingSpan {
  readonly end: number;
  readonly length: number;
}

/** Returns true near the end of a window, where neither this queue nor another Octavo reserves anything. */
export function isUnreserved(now: number, { end, length }: PacingSpan): boolean {
  return now >= end - length * UNRESERVED_SHARE;
}

/** Limit to pace requests over. `answeredAt` is the time of the last response, monotonic milliseconds. */
export interface Pacing {
  readonly limit: number;
  readonly answeredAt: number;
  readonly window: RateWindow;
  readonly otherClients: OtherClients;
  readonly refillRate: RefillRate;
}

/** Paces a request that is not urgent. `raw`: requests that may still be sent, if nothing is reserved. */
export function release(
  now: number,
  raw: number,
  { inFlight, rtt }: { readonly inFlight: number; readonly rtt: number },
  pacing: Pacing,
): Decision {
  const { limit, answeredAt, window, refillRate } = pacing;
  const refill = refillRate.minRefill;
  if (refill !== null) {
    const seenAt = inFlight === 0 ? answeredAt : null;
    return releaseInBucket(now, raw, { limit, refill, seenAt, end: window.end });
  }
  // After a silence, one request first checks what other clients have left.
  const isStale = inFlight > 0 && now - answeredAt > 2 * rtt;
  return releaseInWindow(now, raw, limit, isStale ? window : earliestSpan(pacing));
}

/**
 * Returns the part of the window to pace over. What is left when it ends is lost, so it ends at the earliest possible
 * time, unless that is too uncertain, other clients use what is left, or the limit may be a token bucket.
 */
function earliestSpan({ window: { length, end, earliestEnd }, otherClients, refillRate }: Pacing): PacingSpan {
  const isUncertain = end - earliestEnd > length * MAX_UNCERTAIN_SHARE;
  const keepsEnd = isUncertain || otherClients.areSeen || refillRate.doResetsMove;
  return { length, end: keepsEnd ? end : earliestEnd };
}

/** Paces requests over a window. The reserve for urgent requests and other clients falls linearly. */
export function releaseInWindow(now: number, raw: number, limit: number, { end, length }: PacingSpan): Decision {
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
