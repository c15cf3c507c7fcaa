/** Samples of the budgets over time. */
export {
  type BudgetSample,
  BudgetSamples,
  budgetName,
  SAMPLED_PERIOD,
  sampleInterval,
} from './model/budget-samples.ts';
