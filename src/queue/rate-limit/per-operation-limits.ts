// Detects limits that the platform counts per operation instead of per class.
import type { RateHeaders } from '../model/rate-headers.ts';

/** Contradictions after which the operations of a class are treated as having separate limits. */
const REQUIRED_EVIDENCE = 3;
/** Tolerated rise of the remaining count (requests, and share of the limit): nodes may differ, and buckets refill. */
const SLACK = 2;
const SLACK_SHARE = 0.1;

interface Observation {
  readonly limit: number | null;
  readonly remaining: number;
  readonly reset: number | null;
  readonly receivedAt: number;
  /** Each response is used as evidence once at most. */
  isUsed: boolean;
}

/**
 * Detects whether the operations of a class have separate limits. The evidence is a response that contradicts a
 * response to another operation just before, while the responses to each operation agree with each other.
 */
export class PerOperationLimits {
  readonly #last = new Map<string, Observation>();
  #evidence = 0;

  /** Records a response to an operation. Returns true once the evidence suffices. Times are monotonic milliseconds. */
  observe(operation: string, headers: RateHeaders, sentAt: number, receivedAt: number): boolean {
    const { limit, remaining, reset } = headers;
    if (remaining === null) {
      return false;
    }
    const own = this.#last.get(operation);
    const seen: Observation = { limit, remaining, reset, receivedAt, isUsed: false };
    this.#last.set(operation, seen);
    if (own !== undefined && sentAt >= own.receivedAt && (own.limit !== limit || hasRisen(own, seen))) {
      // The limit was changed, or the platform's nodes disagree. Neither depends on the operation.
      this.#evidence = 0;
      return false;
    }
    if (own !== undefined && this.#contradicts(operation, own, seen, sentAt)) {
      this.#evidence += 1;
    }
    return this.#evidence >= REQUIRED_EVIDENCE;
  }

  /** Returns true if a response to another operation, between two responses to this one, contradicts them. */
  #contradicts(operation: string, own: Observation, seen: Observation, sentAt: number): boolean {
    for (const [name, other] of this.#last) {
      const isBetween =
        name !== operation && !other.isUsed && other.receivedAt > own.receivedAt && other.receivedAt <= sentAt;
      if (isBetween && (other.limit !== seen.limit || (own.reset === other.reset && rises(other, seen)))) {
        other.isUsed = true;
        return true;
      }
    }
    return false;
  }
}

/** Returns true if the remaining count rose within a window, which cannot happen with one budget. */
function rises(before: Observation, after: Observation): boolean {
  const slack = Math.max(SLACK, SLACK_SHARE * (after.limit ?? 0));
  return before.limit === after.limit && before.reset === after.reset && after.remaining > before.remaining + slack;
}

/** Returns true if the remaining count of the same operation rose within a window. */
function hasRisen(own: Observation, seen: Observation): boolean {
  return own.reset === seen.reset && seen.remaining > own.remaining;
}
