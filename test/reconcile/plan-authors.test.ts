import { expect, test } from 'vitest';
import type { CommitRange } from '../../src/git/commits.ts';
import { PlanAuthors } from '../../src/reconcile/approvals.ts';

/** Authors of one process; `note` stays over a restart. */
function start(note: { value: unknown }, appliedRef: string | null = null) {
  const ranges: CommitRange[] = [];
  const authors = new PlanAuthors(
    {
      read: async () => note.value as never,
      write: async (value) => {
        note.value = value;
      },
    },
    {
      authors: async (range) => {
        ranges.push(range);
        return { emails: new Set(), isComplete: true };
      },
      applied: {
        read: async () => (appliedRef === null ? null : { commit: appliedRef }) as never,
        move: async () => {},
      },
    },
  );
  return { authors, ranges };
}

test('after a restart, the authors are those since the last commit that was applied', async () => {
  const note = { value: null };
  const before = start(note, 'ref');
  await before.authors.read('b');
  await before.authors.recordApplied('b');
  const after = start(note, 'ref');
  await after.authors.read('c');
  expect([...before.ranges, ...after.ranges]).toEqual([
    { from: 'ref', to: 'b' },
    { from: 'b', to: 'c' },
  ]);
});

test.each([[null], ['b'], [{}], [{ commit: 7 }]])(
  'a note that is not a commit (%j) is replaced by the ref',
  async (value) => {
    const { authors, ranges } = start({ value }, 'ref');
    await authors.read('c');
    expect(ranges).toEqual([{ from: 'ref', to: 'c' }]);
  },
);
