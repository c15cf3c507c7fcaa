/** What may happen with the next request of a class. `until` is monotonic; Infinity: until an answer comes in. */
export type Decision =
  | { readonly kind: 'send' }
  | { readonly kind: 'probe' }
  | { readonly kind: 'wait'; readonly until: number; readonly why: string };

export const SEND: Decision = { kind: 'send' };
export const PROBE: Decision = { kind: 'probe' };

const WHY = 'the rate limit is released bit by bit';

/** What is released waits for an answer to what was sent before. */
export const AFTER_ANSWER: Decision = { kind: 'wait', until: Number.POSITIVE_INFINITY, why: WHY };

/** Share of a window, at its end, in which nothing is reserved. See docs/rate-limiting.md#sending. */
const FREE_SHARE = 0.1;
/** The share of a bucket that is kept for what is urgent. */
const BUCKET_RESERVE = 0.2;
/** Milliseconds after which one call shows what is left of a bucket that others may draw on. */
const LOOK_EVERY = 2000;

/** A window as far as it matters here: monotonic milliseconds. */
interface Span {
  readonly end: number;
  readonly length: number;
}

/** Near a window's end, where nothing is held back, neither here nor by others of our kind. */
export function isFree(now: number, { end, length }: Span): boolean {
  return now >= end - length * FREE_SHARE;
}

/** Linear release: in the course of a window ever less is kept back for urgent requests and for others. */
export function releaseInWindow(now: number, raw: number, limit: number, { end, length }: Span): Decision {
  const share = length > 0 ? (end - now) / length : 0;
  const reserve = Math.max(0, (limit * (share - FREE_SHARE)) / (1 - FREE_SHARE));
  if (raw - reserve >= 1) {
    return SEND;
  }
  const left = length * (FREE_SHARE + ((1 - FREE_SHARE) * (raw - 1)) / limit);
  return { kind: 'wait', until: Math.max(end - left, now + 1), why: WHY };
}

/** A bucket as far as it matters here. */
interface Bucket {
  readonly limit: number;
  /** Calls per second. */
  readonly refill: number;
  /** When an answer last told what is left, monotonic; null while another is on its way. */
  readonly seenAt: number | null;
  /** When it will be full; monotonic. */
  readonly end: number;
}

/**
 * A bucket has no end at which something would be lost, so that always the same is kept for urgent requests. That
 * others draw on it shows in what is left alone, so that this is looked at from time to time.
 */
export function releaseInBucket(now: number, raw: number, { limit, refill, seenAt, end }: Bucket): Decision {
  const missing = limit * BUCKET_RESERVE + 1 - raw;
  const lookAt = seenAt === null ? Number.POSITIVE_INFINITY : seenAt + LOOK_EVERY;
  if (missing <= 0 || now >= lookAt) {
    return SEND;
  }
  const filled = refill > 0 ? now + (missing * 1000) / refill : Number.POSITIVE_INFINITY;
  return { kind: 'wait', until: Math.max(now + 1, Math.min(filled, lookAt, end)), why: WHY };
}
