import { expect, test } from 'vitest';
import { ListProgress } from '../../src/platform/http/answers.ts';

/** Adds pages until one is refused. Returns their number and the reason. */
function readOn(items: (page: number) => number, next: (page: number) => string) {
  const progress = new ListProgress('listSpaces');
  for (let page = 1; page <= 20_000; page += 1) {
    try {
      progress.add(items(page), next(page));
    } catch (error) {
      return [page, (error as Error).message.replace('listSpaces: the list does not end: ', '')];
    }
  }
  return null;
}

const cursor = (page: number) => `c${page}`;

test.each([
  ['ever new cursors', () => 1, cursor, 10_000, 'it has more than 10000 pages or 1000000 items'],
  ['empty pages', () => 0, cursor, 3, '3 empty pages in a row name a next page'],
  ['a long cursor', () => 1, () => 'c'.repeat(8193), 1, 'the cursor of a page has more than 8192 characters'],
])('a list with %s ends', (_, items, next, page, reason) => {
  expect(readOn(items, next)).toEqual([page, reason]);
});

test('a list of 9,999 pages and 999,000 items is read, also with empty pages', () => {
  const progress = new ListProgress('listSpaces');
  for (let page = 1; page < 9999; page += 1) {
    progress.add(page % 3 === 0 ? 100 : 0, cursor(page));
  }
  progress.add(1000, null);
  progress.add(1000, undefined);
  progress.add(1000, '');
});
