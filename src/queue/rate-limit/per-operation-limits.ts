import type { RateHeaders } from '../model/rate-headers.ts';

/** Contradictions that must come together before a class is taken for several budgets. */
const PROOF = 3;
/** Nodes of one platform may count a little apart, and a bucket fills by itself: at least so many, and this share. */
const SLACK = 2;
const SLACK_SHARE = 0.1;

interface Sight {
  readonly limit: number | null;
  readonly remaining: number;
  readonly reset: number | null;
  readonly receivedAt: number;
  /** Each answer contradicts one other at most. */
  isUsed: boolean;
}

/**
 * Finds out whether the operations of a class draw on different budgets: when an answer says what cannot be true of a
 * budget that another operation was told of just before, while each operation by itself is told nothing like that.
 */
export class PerOperationLimits {
  readonly #last = new Map<string, Sight>();
  #proof = 0;

  /** An answer to this operation. True when it completes the proof. Times are monotonic milliseconds. */
  observe(operation: string, headers: RateHeaders, sentAt: number, receivedAt: number): boolean {
    const { limit, remaining, reset } = headers;
    if (remaining === null) {
      return false;
    }
    const own = this.#last.get(operation);
    const seen: Sight = { limit, remaining, reset, receivedAt, isUsed: false };
    this.#last.set(operation, seen);
    if (own !== undefined && sentAt >= own.receivedAt && (own.limit !== limit || hasRisen(own, seen))) {
      // The limit was changed, or the platform's nodes disagree: neither is about operations.
      this.#proof = 0;
      return false;
    }
    if (own !== undefined && this.#contradicts(operation, own, seen, sentAt)) {
      this.#proof += 1;
    }
    return this.#proof >= PROOF;
  }

  /** Whether another operation was told, since this one was last, what does not go with both of its answers. */
  #contradicts(operation: string, own: Sight, seen: Sight, sentAt: number): boolean {
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

/** Inside a window what is left only falls. */
function rises(before: Sight, after: Sight): boolean {
  const slack = Math.max(SLACK, SLACK_SHARE * (after.limit ?? 0));
  return before.limit === after.limit && before.reset === after.reset && after.remaining > before.remaining + slack;
}

/** The same operation was told more than before. */
function hasRisen(own: Sight, seen: Sight): boolean {
  return own.reset === seen.reset && seen.remaining > own.remaining;
}
