// Defines the states of a rate limit, and the events that change them.

/** State without a remaining count. `limit` is null until a 429 reported it. */
interface Uncounted {
  readonly kind: 'unknown' | 'unlimited';
  readonly limit: number | null;
}

/** State with a remaining count. Times are monotonic milliseconds. */
export interface Counted {
  readonly kind: 'window' | 'bucket';
  limit: number;
  /** Requests remaining after the last response. */
  remaining: number;
  /** Time of the last response. */
  answeredAt: number;
}

/**
 * State of a rate limit. A cooldown after a 429 comes on top of every state.
 *
 * | state | known | next request |
 * |---|---|---|
 * | `unknown` | nothing, or no more than the limit and the reset of a 429 | a probe |
 * | `unlimited` | responses have no rate-limit headers | sent; after a 429, a probe |
 * | `window` | limit, and the count that remains until the window ends | paced over the window; a probe once it is over |
 * | `bucket` | limit, remaining count and refill rate of a token bucket | paced by the refill; a probe once the reset passed |
 *
 * | from | event | to |
 * |---|---|---|
 * | `unknown` | response without headers, before any reset was seen | `unlimited` |
 * | `unknown`, `unlimited` | response with headers that starts a window or answers a probe | `window` or `bucket` |
 * | `unlimited` | any other response with headers | `unknown` |
 * | `window` | reset that moved before it was reached, several times in a row | `bucket` |
 * | `window`, `bucket` | 429 with a reset and without requests remaining | `unknown` |
 * | any | state restored from another process | `window` or `bucket` |
 */
export type LimitState = Uncounted | Counted;

/** Returns true if the state has a remaining count. */
export function isCounted(state: LimitState): state is Counted {
  return state.kind === 'window' || state.kind === 'bucket';
}
