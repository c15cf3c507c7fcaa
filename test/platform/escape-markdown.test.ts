import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeMarkdown } from '../../src/platform/escape-markdown.ts';
import { toDocument } from '../../src/platform/rich-document.ts';
import { textIn, violationsOf } from '../support/rich-document-check.ts';

/** One paragraph with one text in one leaf without marks: nothing in it means anything. */
const plain = (text: string) => ({
  object: 'document',
  data: {},
  nodes: [
    {
      object: 'block',
      type: 'paragraph',
      nodes: [{ object: 'text', leaves: [{ object: 'leaf', text, marks: [] }] }],
    },
  ],
});

/** A text as a page shows it on one line, by other means than the code's. */
function folded(text: string): string {
  const pieces = text.toWellFormed().split(/(\s+)/u);
  const spaces = pieces.map((piece) => (/^\s+$/u.test(piece) && /[\n\r\t\v\f\u2028\u2029]/.test(piece) ? ' ' : piece));
  return spaces.join('').trim();
}

describe('a hostile text stays text', () => {
  test.each([
    '**bold** _it_ ~~no~~ `code`',
    '[click](javascript:alert(1))',
    '![x](https://evil.example/pixel.png)',
    '<script>alert(1)</script> <img src=x onerror=y> <!-- gone -->',
    'https://evil.example/?a=b www.evil.example mail@evil.example mailto:a@b.example xmpp:a@b.example',
    '<https://evil.example>',
    '@team/admins #12 :smile:',
    '# heading #',
    '- item',
    '+ item',
    '12. item',
    '3) item',
    '- [x] task',
    '> quote',
    '---',
    '***',
    '===',
    '| a | b |',
    'a \\ b \\\\ c \\| d \\',
    '&amp; &lt; &#124; &copy; &',
    '```js',
    '~~~',
    '[^1] and [ref] and [ref][] ',
    '[ref]: https://evil.example',
    '{{label}} {label} %s',
    '$x$ $$y$$',
    'tail  ',
    'ends in a backslash\\',
    'שלום **עולם** مرحبا',
    '👩‍👩‍👧‍👦 family: 🏳️‍🌈 é à',
    '\u202eright to left',
  ])('%j', (text) => {
    expect(toDocument(escapeMarkdown(text))).toEqual(plain(text.trim()));
  });

  test.each([
    ['a\nb', 'a b'],
    ['a  \n  b', 'a b'],
    ['a\\\nb', 'a\\ b'],
    ['a\r\nb\rc', 'a b c'],
    ['a\n\n# b\n\n---', 'a # b ---'],
    ['a\n===', 'a ==='],
    ['| a |\n|---|\n| b |', '| a | |---| | b |'],
    ['    code', 'code'],
    ['\ta\tb\0c\u2028d', 'a b c d'],
    ['a\ud800b', 'a\ufffdb'],
  ])('%j is put on one line', (text, line) => {
    expect(toDocument(escapeMarkdown(text))).toEqual(plain(line));
  });

  test.each(['', ' ', '\n\n\t'])('%j says nothing', (text) => {
    expect(escapeMarkdown(text)).toBe('');
  });
});

/** What Markdown is made of, and what it is not. */
const hostile = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...'\\`*_{}[]<>()#+-.!|~=:&;^@$"\'/ \t\n\r0123x') },
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          ...['http://', 'https://x.example', 'www.', 'a@b.example', 'mailto:', 'xmpp:', '&amp;', '&#35;', '&#x26;'],
          ...[
            '<b>',
            '</b>',
            '<!--',
            '-->',
            '<?',
            '<![CDATA[',
            '```',
            '~~~',
            '**',
            '__',
            '~~',
            '![',
            '](',
            '[^1]',
            ']: ',
          ],
          ...[
            '\n\n',
            '  \n',
            '\\\n',
            '\n    ',
            '\n- ',
            '\n1. ',
            '\n> ',
            '\n# ',
            '\n===\n',
            '\n---\n',
            '\n|-|-|\n',
            '- [ ] ',
          ],
        ),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom('\0', '\u0085', '\u00a0', '\u200d', '\u202e', '\u2028', '\ufeff', '\ud800'),
      },
      { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 3 }) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 3 }) },
    ),
    { maxLength: 24 },
  )
  .map((pieces) => pieces.join(''));

/** A text that says something. */
const label = hostile.filter((text) => escapeMarkdown(text) !== '');

/** Without control characters that no page shows; they have their own tests. */
const shown = label.filter((text) => !/\p{Cc}/u.test(text.replaceAll(/\s/g, '')));

describe('whatever it is', () => {
  test('a text says what it says, in one paragraph, without marks and links', () => {
    fc.assert(
      fc.property(shown, (text) => {
        expect(toDocument(escapeMarkdown(text))).toEqual(plain(folded(text)));
      }),
      { numRuns: 1000 },
    );
  });

  test('control characters bring nothing else', () => {
    fc.assert(
      fc.property(label, (text) => {
        const document = toDocument(escapeMarkdown(text));
        expect(document).toEqual(plain(textIn(document)));
      }),
      { numRuns: 200 },
    );
  });

  test('a text is itself at every place where text may be', () => {
    fc.assert(
      fc.property(shown, shown, (one, two) => {
        const [first, second] = [escapeMarkdown(one), escapeMarkdown(two)];
        const markdown = [
          `# ${first}`,
          `- ${first}\n- ${second}: [${first}](https://x.example) ${second}`,
          `> **x ${first} y** ${second}`,
          `| ${first} | ${second} |\n|---|---|\n| ${second} | ${first} |`,
        ].join('\n\n');
        const document = toDocument(markdown);
        const [a, b] = [folded(one), folded(two)];
        expect(violationsOf(document)).toEqual([]);
        expect(document.nodes.map(textIn)).toEqual([
          a,
          `${a}\n${b}: ${a} ${b}`,
          `x ${a} y ${b}`,
          `${a}: ${b}; ${b}: ${a}`,
        ]);
      }),
      { numRuns: 200 },
    );
  });
});
