/** A damaged note of the last applied commit. What an intact one does: test/web/author-approval.test.ts. */
import { expect, test } from 'vitest';
import type { CommitRange } from '../../src/git/commits.ts';
import { PlanAuthors } from '../../src/reconcile/approvals.ts';

test.each([[null], ['b'], [{}], [{ commit: 7 }]])(
  'a note that is not a commit (%j) is replaced by the ref',
  async (value) => {
    const ranges: CommitRange[] = [];
    const source = {
      authors: async (range: CommitRange) => {
        ranges.push(range);
        return { emails: new Set<string>(), isComplete: true };
      },
      applied: { read: async () => ({ commit: 'ref' }) as never, move: async () => {} },
    };
    await new PlanAuthors({ read: async () => value as never, write: async () => {} }, source).read('c');
    expect(ranges).toEqual([{ from: 'ref', to: 'c' }]);
  },
);
