// Lists in messages.
import { expect, test } from 'vitest';
import { enumerated } from '../../src/core/lists.ts';

test('a long list names ten items and counts the rest, without a thousands separator', () => {
  const items = Array.from({ length: 2000 }, (_, index) => `t${index}`);
  expect(enumerated(items)).toBe('t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 1990 more');
  expect(enumerated(items.slice(0, 2))).toBe('t0, t1');
});
