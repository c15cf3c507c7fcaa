// Lists the rate limits that were inferred from 429s, for the cost of a plan.
import type { InferredRate } from '../../core/change.ts';
import type { BudgetSnapshot } from '../model/snapshot.ts';

/** Returns the inferred limits among these budgets. */
export function inferredLimits(budgets: readonly BudgetSnapshot[]): InferredRate[] {
  return budgets.flatMap(({ limit, window, inferredAge }) =>
    limit === null || window === null || inferredAge === undefined ? [] : [{ limit, window, age: inferredAge }],
  );
}
