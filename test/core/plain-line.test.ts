import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainLine } from '../../src/core/text/plain-line.ts';
import { SEED } from '../support/campaign.ts';
import { codePoint } from '../support/code-points.ts';

test.each([
  ['two\r\nlines\u2028and\tmore', 'two lines and more'],
  ['\u001b[31mred\u0007', '[31mred'],
  ['\u202egpj.exe', 'gpj.exe'],
  ['ze\u200bro wi\u2060dth so\u00adft \ufeffmark \u{e0041}tag', 'zero width soft mark tag'],
  ['half \ud83d of a pair', 'half \ufffd of a pair'],
  ['👩‍👩‍👧 نامه‌ای ❤️', '👩‍👩‍👧 نامه‌ای ❤️'],
  ['  spaces   around  ', 'spaces around'],
  ['<b> & *c* @d', '<b> & *c* @d'],
  ['', ''],
])('converts %j to %j', (text, expected) => {
  expect(plainLine(text, 100)).toBe(expected);
});

test('cuts between code points, and counts the ellipsis', () => {
  expect(plainLine('a'.repeat(10), 10)).toBe('a'.repeat(10));
  expect(plainLine('a'.repeat(11), 10)).toBe(`${'a'.repeat(9)}…`);
  expect(plainLine('😀'.repeat(10), 10)).toBe('😀'.repeat(10));
  expect(plainLine('😀'.repeat(11), 10)).toBe(`${'😀'.repeat(9)}…`);
});

test('every result is one well-formed, visible line within its limit, and stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), fc.integer({ min: 1, max: 30 }), (text, most) => {
      const line = plainLine(text, most);
      expect(line.isWellFormed()).toBe(true);
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060\ufeff]|^\s|\s$|\s\s/u);
      expect([...line].length).toBeLessThanOrEqual(most);
      expect(plainLine(line, most)).toBe(line);
    }),
    { seed: SEED, numRuns: 500 },
  );
});
