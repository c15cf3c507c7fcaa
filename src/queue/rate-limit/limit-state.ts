// Defines the states of a rate limit, and the events that change them.
import type { AdaptiveRate } from './adaptive-rate.ts';
import type { InferredLimit } from './limit-inference.ts';
import type { WindowCandidates } from './window-candidates.ts';

/** State without a remaining count. `limit` is null until a 429 reported it. */
interface Unknown {
  readonly kind: 'unknown';
  readonly limit: number | null;
}

/** State without rate-limit headers and without a 429. Times are monotonic milliseconds. */
interface Unlimited {
  readonly kind: 'unlimited';
  readonly limit: number | null;
  /** Counts of the requests that were accepted. */
  readonly candidates: WindowCandidates;
}

/** State without rate-limit headers, and with 429s that no window explains. */
interface Unpredictable {
  readonly kind: 'unpredictable';
  readonly limit: null;
  /** Null if 429s have a `Retry-After`. */
  readonly pace: AdaptiveRate | null;
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
 * | `unlimited` | responses have no rate-limit headers | sent |
 * | `inferred` | limit and window of a platform without headers, inferred from 429s | paced over the window; now and then one more, to notice a higher limit; a probe once it is over |
 * | `exhausted` | the same; a request was refused in this window | a probe once a new window is expected |
 * | `unpredictable` | the same, but 429s fit no window | sent at a steady rate; after a 429 with `Retry-After`, a probe |
 * | `window` | limit, and the count that remains until the window ends | paced over the window; a probe once it is over |
 * | `bucket` | limit, remaining count and refill rate of a token bucket | paced by the refill; a probe once the reset passed |
 *
 * | from | event | to |
 * |---|---|---|
 * | `unknown` | response without headers, before any reset was seen | `unlimited` |
 * | `unknown`, `unlimited` | response with headers that starts a window or answers a probe | `window` or `bucket` |
 * | `unlimited`, `unpredictable` | any other response with headers | `unknown` |
 * | `unknown`, `unlimited`, `inferred` | 429 without headers, before any reset was seen | `exhausted` |
 * | `exhausted` | request that is accepted | `inferred` |
 * | `inferred`, `exhausted` | response with headers | `window` or `bucket` |
 * | `inferred` | more and more requests accepted, window after window | `unlimited` |
 * | `inferred` | windows in a row with fewer requests accepted than predicted | `unpredictable` |
 * | `window` | reset that moved before it was reached, several times in a row | `bucket` |
 * | `window`, `bucket` | 429 with a reset and without requests remaining | `unknown` |
 * | any | state restored from another process | `window` or `bucket` |
 */
export type LimitState = Unknown | Unlimited | Unpredictable | Counted | InferredLimit;

/** Returns true if the state has a remaining count. */
export function isCounted(state: LimitState): state is Counted {
  return state.kind === 'window' || state.kind === 'bucket';
}

/** Returns true if the limit is inferred from 429s. */
export function isInferred(state: LimitState): state is InferredLimit {
  return state.kind === 'inferred' || state.kind === 'exhausted';
}

/** Returns true if the limit is known, as far as it is, from 429s only. */
export function isHeaderless(state: LimitState): state is InferredLimit | Unpredictable {
  return isInferred(state) || state.kind === 'unpredictable';
}
