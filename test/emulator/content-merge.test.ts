import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeContent } from '../../src/emulator/change-requests/merge.ts';
import type { Content, PageRecord } from '../../src/emulator/content/records.ts';

/* Merges of two versions of content. */

const page = (id: number, title: string, path = `p${id}`): PageRecord => ({
  ...{ id: `page_${id}`, seq: id, space: 'spc', title, path, body: '' },
  ...{ createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' },
});

const content = (pages: readonly PageRecord[], variables: Record<string, string> = {}): Content => ({
  ...{ pages, variables, files: [], reusableContents: [] },
});

const titles = (merged: { content: Content }) => merged.content.pages.map(({ title }) => title);

describe('merging one page with a conflict', () => {
  const base = content([page(1, 'as it was')]);
  const own = content([page(1, 'own')]);
  const others = content([page(1, 'others')]);
  const none = content([]);

  test.each([
    ['prefers the own change of two', own, others, ['own']],
    ['keeps an own change of a page that others deleted', own, none, ['own']],
    ['keeps an own deletion of a page that others changed', none, others, []],
    [
      'keeps the own one of two new pages at the same position',
      content([page(1, 'as it was'), page(2, 'b', 'new')]),
      content([page(1, 'as it was'), page(3, 'c', 'new')]),
      ['as it was', 'b'],
    ],
  ])('%s', (_, mine, theirs, expected) => {
    const merged = mergeContent(base, mine, theirs);
    expect(titles(merged)).toEqual(expected);
    expect(merged.hasConflicts).toBe(true);
  });
});

test('ignores differences of only the modification time', () => {
  const base = content([page(1, 'a')]);
  const touched = content([{ ...page(1, 'b'), updatedAt: '2026-02-02T00:00:00.000Z', emoji: undefined }]);
  expect(mergeContent(base, touched, content([page(1, 'b')])).hasConflicts).toBe(false);
});

test('merges variables individually', () => {
  const base = content([], { a: '1', b: '1' });
  const merged = mergeContent(base, content([], { a: '2', b: '1' }), content([], { a: '1', c: '1' }));
  expect(merged).toMatchObject({ content: { variables: { a: '2', c: '1' } }, hasConflicts: false });
  expect(mergeContent(base, content([], { a: '2', b: '1' }), content([], { a: '3', b: '1' })).hasConflicts).toBe(true);
});

const some = fc
  .dictionary(fc.integer({ min: 1, max: 6 }).map(String), fc.constantFrom('x', 'y', 'z'))
  .map((pages) => content(Object.entries(pages).map(([id, title]) => page(Number(id), title))));

test('returns the other side if one side is unchanged', () => {
  fc.assert(
    fc.property(some, some, (base, changed) => {
      expect(mergeContent(base, changed, base)).toEqual({ content: changed, hasConflicts: false });
      expect(mergeContent(base, base, changed)).toEqual({ content: changed, hasConflicts: false });
      expect(mergeContent(base, changed, changed)).toEqual({ content: changed, hasConflicts: false });
    }),
  );
});

test('finds the same conflicts from both sides, and keeps every own change', () => {
  fc.assert(
    fc.property(some, some, some, (base, own, others) => {
      const merged = mergeContent(base, own, others);
      expect(mergeContent(base, others, own).hasConflicts).toBe(merged.hasConflicts);
      const titleIn = (side: Content, id: string) => side.pages.find((one) => one.id === id)?.title;
      for (const { id } of [...base.pages, ...own.pages, ...others.pages]) {
        const isOwn = titleIn(own, id) !== titleIn(base, id);
        expect(titleIn(merged.content, id)).toBe(titleIn(isOwn ? own : others, id));
      }
    }),
  );
});
