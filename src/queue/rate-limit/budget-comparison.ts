import type { Budget } from './budget.ts';

/**
 * Two budgets look like one when limit and reset agree, one fell by more than its own calls, and it stands about
 * where the other does.
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
  // Inside a window what is left only falls, so that a later answer cannot show more than an earlier one.
  if (own.remaining > other.remaining + slack) {
    return 'different';
  }
  return own.unexplained >= 1 && own.remaining >= other.remaining - slack ? 'same' : 'none';
}
