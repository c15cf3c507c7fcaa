import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toDocument } from '../../src/platform/rich-text/from-markdown.ts';
import { normalizeMarkdown, toMarkdown } from '../../src/platform/rich-text/to-markdown.ts';

/** Fragments of Markdown in unusual combinations. */
const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b c', ' ', '\n', '\n\n', '  \n', '\\\n') },
  { weight: 3, arbitrary: fc.constantFrom('*', '**', '_', '~~', '`', '```\n', '~~~js\n', '[x](y)', '![i](j)', '<b>') },
  { weight: 3, arbitrary: fc.constantFrom('- ', '1. ', '7) ', '- [ ] ', '- [x] ', '  ', '    ', '> ', '# ', '#### ') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('---\n', '===\n', '| a | b |\n|---|---|\n| c | d |\n', '<!-- c -->', '<div>\n'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('&amp;', '\\*', 'https://x.example/?a=b', 'www.x.example', '[^1]', '[^1]: n'),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 4 }) },
);
const markdown = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''));

describe('normalizeMarkdown', () => {
  test('is idempotent', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const once = normalizeMarkdown(text);
        expect(normalizeMarkdown(once)).toBe(once);
      }),
      { numRuns: 1000, examples: [['0@.A'], ['a 0@.A b'], ['<a@b.c>'], ['[x](mailto:0@.A)']] },
    );
  });

  test('keeps the meaning of a document', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const normal = normalizeMarkdown(text);
        expect(toMarkdown(toDocument(normal))).toBe(normal);
      }),
      { numRuns: 200 },
    );
  });
});

test.each([
  ['# One\n\n#### Four', '# One\n\n### Four\n'],
  ['* a\n* b\n    1. c', '- a\n- b\n  1. c\n'],
  ['- [ ] a\n- [x] **b**', '- [ ] a\n- [x] **b**\n'],
  ['*a* __b__ `c` ~~d~~ ***e***', '_a_ **b** `c` ~~d~~ **_e_**\n'],
  ['a  \nb\nc', 'a\\\nb c\n'],
  ['```ts\nlet a;\n\nb\n```', '```ts\nlet a;\n\nb\n```\n'],
  ['> a\n\n***', '> a\n\n---\n'],
  ['![Alt](https://x.example/i.png)', '[Alt](https://x.example/i.png)\n'],
  ['| A | B |\n|---|---|\n| **c** | d |', '- A: **c**; B: d\n'],
  ['<b>bold</b> <!-- no -->', '\\<b>bold\\</b>\n'],
  ['[a][1]\n\n[1]: https://x.example', '[a](https://x.example)\n'],
])('%j is written as %j', (from, to) => {
  expect(normalizeMarkdown(from)).toBe(to);
});

describe('content that Markdown cannot express', () => {
  const text = (value: string) => ({ object: 'text', leaves: [{ object: 'leaf', text: value, marks: [] }] });
  const paragraph = (...nodes: unknown[]) => ({ object: 'block', type: 'paragraph', nodes });

  test.each([
    [
      'a hint',
      { object: 'block', type: 'hint', data: { style: 'info' }, nodes: [paragraph(text('Mind'))] },
      '> Mind\n',
    ],
    [
      'steps',
      { object: 'block', type: 'stepper', nodes: [{ object: 'block', type: 'step', nodes: [paragraph(text('Go'))] }] },
      'Go\n',
    ],
    ['an embed', { object: 'block', type: 'embed', isVoid: true, data: { url: 'https://x.example' } }, 'x.example'],
    [
      'a formula',
      paragraph(text('so '), { object: 'inline', type: 'inline-math', data: { formula: 'E=m' } }),
      'so E=m\n',
    ],
    [
      'an unknown mark',
      paragraph({
        object: 'text',
        leaves: [{ object: 'leaf', text: 'x', marks: [{ object: 'mark', type: 'color' }] }],
      }),
      'x\n',
    ],
    ['nothing', { object: 'block', type: 'new-thing' }, ''],
  ])('keeps %s readable', (_, node, expected) => {
    expect(toMarkdown({ object: 'document', data: {}, nodes: [node] })).toContain(expected);
  });

  test('is readable even if it is not a document', () => {
    expect(toMarkdown('text')).toBe('');
  });
});
