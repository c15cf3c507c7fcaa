import { expect, test } from 'vitest';
import { nextLink } from '../../src/conversations/sources/provider.ts';
import { append, largest, smallest } from '../../src/core/lists.ts';
import { withoutTrailingSlashes } from '../../src/core/url.ts';
import { codeSpan, fenced } from '../../src/plan/render/markdown.ts';

const MANY = 500_000;

test('appends and compares lists longer than the call stack', () => {
  const numbers = Array.from({ length: MANY }, (_, index) => index);
  const list: number[] = [];
  append(list, numbers);
  expect([list.length, largest(list), smallest(list)]).toEqual([MANY, MANY - 1, 0]);
  expect([largest([], 3), smallest([], 3)]).toEqual([3, 3]);
});

test('quotes a title of only backticks as code', () => {
  expect(codeSpan('`a'.repeat(MANY)).startsWith('`` `a')).toBe(true);
  expect(fenced('`a'.repeat(MANY)).startsWith('```text\n')).toBe(true);
});

test('removes only trailing slashes', () => {
  expect(withoutTrailingSlashes('//a//b///')).toBe('//a//b');
  expect(withoutTrailingSlashes('///')).toBe('');
  expect(withoutTrailingSlashes(`${'/'.repeat(MANY)}a`)).toHaveLength(MANY + 1);
});

test.each([
  ['<https://a.example/2>; rel="next"', 'https://a.example/2'],
  ['<https://a.example/1>; rel="prev", <https://a.example/2>; rel=next', 'https://a.example/2'],
  ['<https://a.example/2>; title="x, y"; rel="last next"', 'https://a.example/2'],
  ['<https://a.example/2>; rel="nextpage"', null],
  [`${'<'.repeat(MANY)}>; rel="next"`, null],
])('finds the next page in the Link header %s', (link, next) => {
  expect(nextLink(link)).toBe(next);
});
