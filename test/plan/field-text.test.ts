import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { sameJson } from '../../src/core/json.ts';
import { differingTexts, fieldLines, valueText, withEmoji } from '../../src/plan/render/field-text.ts';
import { codePoint } from '../support/code-points.ts';

const x = (count: number) => 'x'.repeat(count);

describe('a value', () => {
  test.each([
    ['one line\n', '"one line\\u000a"'],
    ['one\r\n', '"one\\u000d\\u000a"'],
    ['one\ntwo\n', '"one…" (2 lines)'],
    ['one\ntwo', '"one…" (2 lines)'],
    ['a\n\nb', '"a…" (3 lines)'],
  ])('%j is shown as %s', (value, text) => {
    expect(valueText(value)).toBe(text);
  });
});

test('an emoji is shown instead of its code points, but no other character takes effect', () => {
  expect(withEmoji('emoji', '1f469-200d-1f4bb')).toBe('👩‍💻');
  expect(withEmoji('title', '1f4d8')).toBe('1f4d8');
  expect(withEmoji('emoji', '202e-0007-d83d')).toBe('\\u202e\\u0007\\ud83d');
  expect(withEmoji('emoji', Array.from({ length: 200_000 }, () => '1f4d8').join('-'))).toHaveLength(400_000);
});

describe('a changed field', () => {
  test.each<[string, Json | null, Json | null, readonly string[]]>([
    ['short values in full', 'Writers', 'Docs writers', ['"Writers" → "Docs writers"']],
    [
      'the part around the first difference of long values',
      `${x(100)} old ${x(100)}`,
      `${x(100)} new ${x(100)}`,
      [`"…${x(19)} old ${x(47)}…" → "…${x(19)} new ${x(47)}…"`],
    ],
    ['a text that only grows, at its end', x(200), `${x(200)}, and more`, [`"…${x(20)}" → "…${x(20)}, and more"`]],
    [
      'the changed lines of a text',
      'same\nold\nsame too\n',
      'same\nnew\nadded\nsame too\n',
      ['line 2', '- "old"', '+ "new"', '+ "added"'],
    ],
    ['a line break that is added at the end', 'one\ntwo', 'one\ntwo\n', ['line 3', '+ ""']],
    ['kinds of spaces', 'a b', 'a\u00a0b', ['"a b" → "a\\u00a0b"']],
    ['an escape and the character that it stands for', 'a\u200bb', 'a\\u200bb', ['"a\\u200bb" → "a\\\\u200bb"']],
    ['spaces that follow each other', 'a b', 'a  b', ['"a b" → "a\\u0020\\u0020b"']],
    ['another order of a list', ['a', 'b'], ['b', 'a'], ['["a","b"] → ["b","a"]']],
    ['a member that becomes null', { a: 1 }, { a: null }, ['1 → none']],
  ])('shows %s', (_, from, to, lines) => {
    expect(fieldLines({ path: 'title', from, to }).map(({ text }) => text)).toEqual(lines);
  });

  test('limits the lines of a text, and shows how many more there are', () => {
    const text = (word: string) => Array.from({ length: 9 }, (_, at) => `${word} ${at}`).join('\n');
    const lines = fieldLines({ path: 'instructions', from: text('old'), to: text('new') }).map((line) => line.text);
    expect(lines).toHaveLength(15);
    expect(lines).toContain('- and 3 more lines');
    expect(lines).toContain('+ and 3 more lines');
    const whole = fieldLines({ path: 'condition', from: text('old'), to: text('new') }, true);
    expect(whole).toHaveLength(19);
  });

  test('is written out in full where it decides about access', () => {
    const [line] = fieldLines({ path: 'condition', from: `${x(300)} == 1`, to: `${x(300)} == 2` }, true);
    expect(line?.text).toBe(`"${x(300)} == 1" → "${x(300)} == 2"`);
  });

  // Long common beginnings, look-alikes, escapes and line breaks: cases in which both sides of an arrow were equal.
  const piece = fc.oneof(
    fc.constantFrom('a', ' ', '  ', '\u00a0', '\u200b', '\\u200b', 'é', 'e\u0301', 'ﬁ', 'fi', '"', "'", '…', x(80)),
    fc.string({ unit: codePoint, maxLength: 3 }),
  );
  const text = fc.array(piece, { maxLength: 6 }).map((parts) => parts.join(''));
  const value: fc.Arbitrary<Json> = fc.oneof(
    text,
    text.map((start) => `${x(90)}${start}`),
    fc.constantFrom(null, true, 1, 'none', '1', 'true', [], {}),
    fc.array(text, { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b'), text),
  );
  /** Text as a reader sees it. */
  const seen = (shown: string) => shown.normalize('NFKC').replace(/\s+/g, ' ');

  test('never has the same text on both sides, whatever the values are', () => {
    fc.assert(
      fc.property(value, value, fc.boolean(), (from, to, whole) => {
        fc.pre(!sameJson(from, to));
        const [before, after] = differingTexts(from, to, whole);
        expect(seen(before)).not.toBe(seen(after));
      }),
      { numRuns: 3000 },
    );
  });

  test('has at least one line, none of them empty, whatever the values are', () => {
    const lines = fc.array(text, { maxLength: 4 }).map((parts) => parts.join('\n'));
    fc.assert(
      fc.property(fc.oneof(value, lines), fc.oneof(value, lines), (from, to) => {
        fc.pre(!sameJson(from, to));
        const shown = fieldLines({ path: 'title', from, to });
        expect(shown.filter((line) => line.text === '')).toEqual([]);
        expect(shown.length).toBeGreaterThan(0);
        // Values without their quotes look different, too.
        for (const { from: before, to: after } of shown) {
          expect(before === undefined || after === undefined || seen(before).trim() !== seen(after).trim()).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

test.each(['members', 'permissions.teams', 'permissions.members'])('the roles in %s are inert', (path) => {
  const roles = fieldLines({ path, from: { a: 'edit\u001b[31m', b: 'read' }, to: { a: 'read', c: 'edit' } });
  expect(roles.map(({ text }) => text)).toEqual(['~ a (edit\\u001b[31m → read)  - b  + c (edit)']);
});
