import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NotThePlatformError } from '../../src/core/errors.ts';
import { findExceededLimit, parseBounded } from '../../src/core/json.ts';

const MILLION = 1_000_000;

test.each([
  ['nested arrays', '['.repeat(501) + ']'.repeat(501), 'it is nested more than 500 levels deep, and is not read'],
  ['nested objects', `${'{"a":'.repeat(501)}0${'}'.repeat(501)}`, 'it is nested more than 500 levels deep'],
  ['10 MB of nested arrays', '['.repeat(5_000_000) + ']'.repeat(5_000_000), 'it is nested more than 500 levels'],
  ['empty arrays', `[${'[],'.repeat(MILLION)}0]`, 'it has more than 1000000 values, and is not read'],
  ['numbers', `[${'0,'.repeat(MILLION + 1)}0]`, 'it has more than 1000000 values'],
  ['members', `{${'"":0,'.repeat(MILLION + 1)}"":0}`, 'it has more than 1000000 values'],
])('%s beyond the limits are not parsed', (_, text, message) => {
  const before = process.memoryUsage().heapUsed;
  expect(() => parseBounded(text, 'it')).toThrow(message);
  expect(() => parseBounded(text, 'it')).toThrow(NotThePlatformError);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20e6);
});

test('what is within the limits is parsed as JSON.parse does', () => {
  const brackets = '[{,'.repeat(MILLION);
  for (const value of [brackets, { [brackets]: [`"${brackets}\\`, '\\', `\\"${brackets}`] }]) {
    expect(parseBounded(JSON.stringify(value), 'it')).toEqual(value);
  }
  const deep = '['.repeat(500) + ']'.repeat(500);
  expect(JSON.stringify(parseBounded(deep, 'it'))).toBe(deep);
  const values = `[${'0,'.repeat(MILLION - 1)}0]`;
  expect(parseBounded(values, 'it')).toHaveLength(MILLION);
  expect(() => parseBounded(`"${'\\'.repeat(1001)}"`, 'it')).toThrow(SyntaxError);
  expect(() => parseBounded(`[${'"'.repeat(1001)}`, 'it')).toThrow(SyntaxError);
});

/** Counts as the limit does, by the parsed value. */
function depthOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
}

test('strings never change the depth', () => {
  const syntax = fc.string({ unit: fc.constantFrom('[', '{', ']', '}', '"', '\\', ',', 'a'), maxLength: 20 });
  const value = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, syntax, fc.array(tie('value')), fc.dictionary(syntax, tie('value'))),
  })).value;
  fc.assert(
    fc.property(value, (some) => {
      // Wraps the value so far that exactly one more level is too much.
      const room = 500 - depthOf(some);
      const wrap = (levels: number) => '['.repeat(levels) + JSON.stringify(some) + ']'.repeat(levels);
      expect(findExceededLimit(wrap(room))).toBeNull();
      expect(findExceededLimit(wrap(room + 1))).toBe('is nested more than 500 levels deep');
    }),
  );
});
