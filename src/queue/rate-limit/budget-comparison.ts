// Detects whether two budgets are the same limit.
import type { Budget } from './budget.ts';

/**
 * Compares two budgets. They appear to be the same when limit and reset agree, both have about the same count
 * remaining, and `own` dropped by more than its own requests. `none`: there is no evidence either way.
 */
export function compareBudgets(own: Budget, other: Budget): 'same' | 'different' | 'none' {
  if (own.remaining === null || other.remaining === null) {
    return 'none';
  }
  if (own.limit !== other.limit) {
    return 'different';
  }
  if (own.resetAt !== other.resetAt) {
    return 'none';
  }
  const slack = own.inFlight + other.inFlight + 2;
  // Within a window the remaining count only falls, so a later response cannot show more than an earlier one.
  if (own.remaining > other.remaining + slack) {
    return 'different';
  }
  return own.unexplained >= 1 && own.remaining >= other.remaining - slack ? 'same' : 'none';
}
