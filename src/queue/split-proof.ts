import type { RateHeaders } from './rate-headers.ts';

/** Contradictions that must come together before a class is taken for several budgets. */
const PROOF = 3;
/** Nodes of one platform may count a little apart. */
const SLACK = 2;

interface Sight {
  readonly limit: number | null;
  readonly remaining: number;
  readonly reset: number | null;
  readonly receivedAt: number;
}

/**
 * Finds out whether the operations of a class draw on different budgets: when an answer says what cannot be true of a
 * budget that another operation was told of just before, while each operation by itself is told nothing like that.
 */
export class SplitProof {
  readonly #last = new Map<string, Sight>();
  #proof = 0;

  /** An answer to this operation. True when it completes the proof. Times are monotonic milliseconds. */
  observe(operation: string, headers: RateHeaders, sentAt: number, receivedAt: number): boolean {
    const { limit, remaining, reset } = headers;
    if (remaining === null) {
      return false;
    }
    const own = this.#last.get(operation);
    const seen: Sight = { limit, remaining, reset, receivedAt };
    this.#last.set(operation, seen);
    if (own !== undefined && sentAt >= own.receivedAt && (own.limit !== limit || rises(own, seen))) {
      // The limit was changed, or the platform's nodes disagree: neither is about operations.
      this.#proof = 0;
      return false;
    }
    if (own !== undefined && this.#contradicts(operation, own, seen, sentAt)) {
      this.#proof += 1;
    }
    return this.#proof >= PROOF;
  }

  #contradicts(operation: string, own: Sight, seen: Sight, sentAt: number): boolean {
    for (const [name, other] of this.#last) {
      const between = name !== operation && other.receivedAt <= sentAt;
      if (between && ((other.limit !== seen.limit && other.receivedAt > own.receivedAt) || rises(other, seen))) {
        return true;
      }
    }
    return false;
  }
}

/** Inside a window what is left only falls. */
function rises(before: Sight, after: Sight): boolean {
  return before.limit === after.limit && before.reset === after.reset && after.remaining > before.remaining + SLACK;
}
