/** Authors of plans of a source without commits. */
import { PlanAuthors } from '../../src/reconcile/approvals.ts';
import { openMemoryStore } from '../../src/store/memory.ts';

export function noAuthors(): PlanAuthors {
  return new PlanAuthors(openMemoryStore().note('applied'), { applied: null, authors: async () => null });
}
