import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { describe, expect, test } from 'vitest';
import { toDocument } from '../../src/platform/rich-text/from-markdown.ts';
import { normalizeMarkdown, toMarkdown } from '../../src/platform/rich-text/to-markdown.ts';
import { codePoint } from '../support/code-points.ts';
import { nodesIn, textIn, violationsOf } from '../support/rich-document-check.ts';

interface Node {
  readonly object: string;
  readonly type?: string;
  readonly data?: { readonly ref?: { readonly url: string }; readonly [name: string]: unknown };
  readonly nodes?: readonly Node[];
  readonly leaves?: readonly { readonly text: string; readonly marks: readonly { readonly type: string }[] }[];
}

/** Words that a Markdown parser finds in it, without HTML. */
function wordsOf(markdown: string): string[] {
  const words = (node: Nodes): string[] => {
    if ('children' in node) {
      return node.children.flatMap(words);
    }
    const text = node.type === 'html' ? '' : 'value' in node ? node.value : 'alt' in node ? (node.alt ?? '') : '';
    return text.split(/\s+/u);
  };
  const options = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] };
  return words(fromMarkdown(markdown.toWellFormed(), options)).filter((word) => word !== '');
}

/** Outline of a document: blocks by name with their content; marks before their text, links in brackets. */
function outline(node: Node): unknown {
  const { object, type, data, nodes, leaves } = node;
  if (object === 'text') {
    return (leaves ?? []).map((leaf) => [...leaf.marks.map((mark) => mark.type), leaf.text].join(':')).join('|');
  }
  if (type === 'link') {
    return `<${(nodes ?? []).map(outline).join('')}>(${data?.ref?.url})`;
  }
  const below = (nodes ?? []).map(outline);
  const isText = (nodes ?? []).every((child) => child.object !== 'block');
  const words = Object.entries(data ?? {}).map(([name, value]) => ` ${name}=${value}`);
  return { [`${type}${words.join('')}`]: isText ? below.join('') : below };
}

/** Outline of a document that was found valid. */
function read(markdown: string): unknown[] {
  const document = toDocument(markdown);
  expect(violationsOf(document)).toEqual([]);
  return (document.nodes as readonly Node[]).map(outline);
}

const p = (text: string) => ({ paragraph: text });
const li = (...blocks: unknown[]) => ({ 'list-item': blocks });

describe('Markdown conversion', () => {
  test.each<[string, string, unknown[]]>([
    [
      'headings',
      '# a\n## b\n### c\n#### d\n##### e\n###### f',
      ['1', '2', '3', '3', '3', '3'].map((depth, at) => ({ [`heading-${depth}`]: 'abcdef'[at] })),
    ],
    ['a heading of another form', 'a\n===\nb\n---', [{ 'heading-1': 'a' }, { 'heading-2': 'b' }]],
    ['a heading without its break', 'a  \n**b**\n===', [{ 'heading-1': 'a |bold:b' }]],
    ['nothing for an empty heading', '#\n\na', [p('a')]],
    ['paragraphs', 'a\nb\n\nc', [p('a b'), p('c')]],
    ['hard breaks', 'a  \nb\\\nc', [p('a\nb\nc')]],
    ['hard breaks in emphasis', '**a  \nb**', [p('bold:a|\n|bold:b')]],
    ['dividers', 'a\n\n---\n\n***\n___', [p('a'), { divider: '' }, { divider: '' }, { divider: '' }]],
    [
      'emphasis',
      '*a* **b** ***c*** ~~d~~ **_~~e~~_** a*b*c',
      [p('italic:a| |bold:b| |bold:italic:c| |strikethrough:d| |bold:italic:strikethrough:e| a|italic:b|c')],
    ],
    ['emphasis within emphasis', '**a *b* c**', [p('bold:a| |bold:italic:b| |bold:c')]],
    ['inline code', '`a` ``b ` c`` **`d`** `*e*`', [p('code:a| |code:b ` c| |bold:code:d| |code:*e*')]],
    [
      'code',
      '```ts title="x"\na\n\n  b\n```',
      [{ 'code syntax=ts': [{ 'code-line': 'a' }, { 'code-line': '' }, { 'code-line': '  b' }] }],
    ],
    ['code with other line ends', '```\r\na\r\nb\r\n```', [{ code: [{ 'code-line': 'a' }, { 'code-line': 'b' }] }]],
    ['indented code', '    *a*\n    b', [{ code: [{ 'code-line': '*a*' }, { 'code-line': 'b' }] }]],
    ['empty code', '```\n```', [{ code: [{ 'code-line': '' }] }]],
    ['lists', '- a\n- b\n', [{ 'list-unordered': [li(p('a')), li(p('b'))] }]],
    [
      'numbered lists',
      '1. a\n2. b\n\n<!-- -->\n\n7) c',
      [{ 'list-ordered': [li(p('a')), li(p('b'))] }, { 'list-ordered start=7': [li(p('c'))] }],
    ],
    [
      'nested lists',
      '- a\n  1. b\n     - c\n- d',
      [
        {
          'list-unordered': [
            li(p('a'), { 'list-ordered': [li(p('b'), { 'list-unordered': [li(p('c'))] })] }),
            li(p('d')),
          ],
        },
      ],
    ],
    [
      'tasks',
      '- [ ] a\n- [x] **b**\n  - [X] c',
      [
        {
          'list-tasks': [
            { 'list-item checked=false': [p('a')] },
            { 'list-item checked=true': [p('bold:b'), { 'list-tasks': [{ 'list-item checked=true': [p('c')] }] }] },
          ],
        },
      ],
    ],
    [
      'items with code and paragraphs',
      '- a\n\n  b\n\n      c',
      [{ 'list-unordered': [li(p('a'), p('b'), { code: [{ 'code-line': 'c' }] })] }],
    ],
    [
      'items that begin with something else',
      '- ```\n  a\n  ```\n- # b\n- > c\n-',
      [
        {
          'list-unordered': [
            li({ code: [{ 'code-line': 'a' }] }),
            li({ 'heading-1': 'b' }),
            li({ blockquote: [p('c')] }),
            li(p('')),
          ],
        },
      ],
    ],
    [
      'quotes with lists',
      '> a\n> - b\n>   > c\n>\n> # d',
      [{ blockquote: [p('a'), { 'list-unordered': [li(p('b'), { blockquote: [p('c')] })] }, { 'heading-1': 'd' }] }],
    ],
    ['empty quotes', '>', [{ blockquote: [p('')] }]],
    ['HTML that is text', '<b onclick="x()">a</b> & <br> <!-- gone --> c', [p('<b onclick="x()">a</b> & <br>  c')]],
    [
      'blocks of HTML that are text',
      '<script>\nalert(1)\n</script>\n\n<!-- gone -->\n\n<div\n>\n\n*a*',
      [p('<script>\nalert(1)\n</script>'), p('<div\n>'), p('italic:a')],
    ],
    ['what entities mean', '&lt;b&gt; &amp;amp; &copy; &#128512; &nosuch;', [p('<b> &amp; © 😀 &nosuch;')]],
    [
      'what escapes mean',
      '\\*a\\* \\<b> \\[c](d) https\\://x.example www\\.x.example a\\@b.example',
      [p('*a* <b> [c](d) https://x.example www.x.example a@b.example')],
    ],
    ['emoji', '👩‍👩‍👧‍👦 **🏳️‍🌈** 👍🏽 :smile: é', [p('👩‍👩‍👧‍👦 |bold:🏳️‍🌈| 👍🏽 :smile: é')]],
    [
      'text from right to left',
      '# שלום **עולם**\n\n- مرحبا `رمز` \u200fx\n',
      [{ 'heading-1': 'שלום |bold:עולם' }, { 'list-unordered': [li(p('مرحبا |code:رمز| \u200fx'))] }],
    ],
    [
      'footnotes',
      'a[^1] b[^none]\n\n[^1]: c\n\n    - d',
      [p('a[1] b[^none]'), p('[1] c'), { 'list-unordered': [li(p('d'))] }],
    ],
    ['text of what stays open', '**a _b `c [d](e <f', [p('**a _b `c [d](e <f')]],
    ['nothing of a link without text and address', '[]()', []],
    ['nothing of nothing', '\n\n  \n', []],
  ])('converts %s', (_, markdown, expected) => {
    expect(read(markdown)).toEqual(expected);
  });
});

describe('table conversion', () => {
  test.each<[string, string, string[]]>([
    ['with the columns named in every row', '| A | B |\n|:--|--:|\n| a | b |\n| c | d |', ['A: a; B: b', 'A: c; B: d']],
    [
      'with marks and links',
      '| **A** |\n|---|\n| [`x`](https://x.example) |',
      ['bold:A|: <code:x>(https://x.example)'],
    ],
    ['with bars that are text', '| A |\n|---|\n| a \\| `b \\| c` |', ['A: a | |code:b | c']],
    ['with cells left out', '| A | B |\n|---|---|\n| a |\n| a | b | c |', ['A: a; B:', 'A: a; B: b; c']],
    ['with empty cells', '| | B |\n|---|---|\n| a | |', ['a; B:']],
    ['of the head alone', '| A | B |\n|---|---|', ['A; B']],
  ])('converts a table %s to a list', (_, markdown, items) => {
    expect(read(markdown)).toEqual([{ 'list-unordered': items.map((item) => li(p(item))) }]);
  });

  test('creates a list of bounded size', () => {
    const markdown = `|${'a'.repeat(2000)}\n|---\n${'|b\n'.repeat(2000)}`;
    const document = toDocument(markdown);
    expect(violationsOf(document)).toEqual([]);
    expect(textIn(document).length).toBeLessThan(markdown.length);
    expect(textIn(document)).toBe(['a'.repeat(2000), ...new Array<string>(2000).fill('b')].join('\n'));
  });
});

describe('links', () => {
  test.each([
    ['[a **b**](https://x.example/?q=1#f "title")', '<a |bold:b>(https://x.example/?q=1#f)'],
    ['**[a](https://x.example)**', '<bold:a>(https://x.example)'],
    [
      '<https://x.example> and https://x.example/a_(b). End',
      '<https://x.example>(https://x.example) and <https://x.example/a_(b)>(https://x.example/a_(b)). End',
    ],
    ['www.x.example me@x.example', '<www.x.example>(http://www.x.example) <me@x.example>(mailto:me@x.example)'],
    ['[a](mailto:me@x.example) [b](tel:+1)', '<a>(mailto:me@x.example) <b>(tel:+1)'],
    [
      '[a][r] [r] [R][] ![i][r]\n\n[r]: https://x.example',
      '<a>(https://x.example) <r>(https://x.example) <R>(https://x.example) <i>(https://x.example)',
    ],
    ['![Alt](https://x.example/i.png)', '<Alt>(https://x.example/i.png)'],
    ['![](https://x.example/i.png)', '<https://x.example/i.png>(https://x.example/i.png)'],
    ['[![Alt](https://x.example/i.png)](https://x.example)', '<Alt>(https://x.example)'],
    ['[a](<https://x.example/ü b>)', '<a>(https://x.example/%C3%BC%20b)'],
    ['[a](HTTPS://x.example)', '<a>(HTTPS://x.example)'],
    // Relative addresses, and addresses that run or embed something, are shown as text and not linked.
    [
      '[a](../b.md) [c](/d) [e](#f) [g](//x.example) [h](x.example)',
      'a (../b.md) c (/d) e (#f) g (//x.example) h (x.example)',
    ],
    ['[a](javascript:alert(1))', 'a (javascript:alert(1))'],
    ['[a](JaVaScRiPt:alert) [b](&#106;avascript:x)', 'a (JaVaScRiPt:alert) b (javascript:x)'],
    ['[a](java&#10;script:x) [b](&#1;javascript:x)', 'a (java script:x) b (\ufffdjavascript:x)'],
    [
      '<javascript:alert> [a](data:text/html,x) [b](vbscript:x) [c](file:///etc)',
      'javascript:alert a (data:text/html,x) b (vbscript:x) c (file:///etc)',
    ],
    ['![a](data:image/png;base64,AA)', 'a (data:image/png;base64,AA)'],
    ['[](x) ![](y) [z]()', 'x y z'],
    ['**[a](b)**', 'bold:a| (b)'],
  ])('converts %s', (markdown, expected) => {
    expect(read(markdown)).toEqual([p(expected)]);
  });

  test('have 2048 characters at most', () => {
    const longest = `https://x.example/${'a'.repeat(2048 - 18)}`;
    expect(read(`[a](${longest})`)).toEqual([p(`<a>(${longest})`)]);
    expect(read(`[a](${longest}a)`)).toEqual([p(`a (${longest}a)`)]);
  });
});

/** A text designed so that its parser would take minutes, or exhaust the stack. */
describe('extreme nesting', () => {
  test.each<[string, string]>([
    ['quotes', `${'>'.repeat(20_000)}a`],
    ['lists', `${'- '.repeat(5000)}a`],
    ['emphasis', `${'*a '.repeat(4000)}${'a*'.repeat(4000)}`],
    ['emphasis between code', '*a `x` '.repeat(1000)],
    ['images', `${'![['.repeat(4000)}${']()'.repeat(4000)}`],
    ['indentation', Array.from({ length: 300 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n')],
  ])('keeps %s as text', (_, markdown) => {
    const document = toDocument(markdown);
    expect(violationsOf(document)).toEqual([]);
    expect(textIn(document).replaceAll(/[^a]/g, '')).toBe(markdown.replaceAll(/[^a]/g, ''));
  });

  test('does not affect long texts without nesting', () => {
    const markdown = '- **a** _b_ [c](https://x.example)\n'.repeat(400);
    const item = li(p('bold:a| |italic:b| <c>(https://x.example)'));
    expect(read(markdown)).toEqual([{ 'list-unordered': new Array(400).fill(item) }]);
  });
});

const word = fc.oneof(
  fc.stringMatching(/^[a-z]{1,6}$/),
  fc.constantFrom('שלום', 'مرحبا', '👩‍👩‍👧‍👦', '🏳️‍🌈', 'é', '漢字', 'naïve', '7'),
);
const words = fc.array(word, { minLength: 1, maxLength: 3 });

/** Markdown, and its words in order. */
interface Written {
  readonly markdown: string;
  readonly words: readonly string[];
}
const wrapped = (before: string, after: string) =>
  words.map((list): Written => ({ markdown: `${before}${list.join(' ')}${after}`, words: list }));
const phrase = fc.oneof(
  { weight: 3, arbitrary: wrapped('', '') },
  ...['*', '**', '***', '~~', '`'].map((mark) => wrapped(mark, mark)),
  wrapped('[', '](https://x.example)'),
  wrapped('[', '](../a)').map((each) => ({ ...each, words: [...each.words, '(../a)'] })),
  wrapped('![', '](https://x.example/i.png)'),
  wrapped('<b>', '</b>').map(({ markdown }) => ({ markdown, words: markdown.split(' ') })),
);
const join =
  (between: string) =>
  (parts: readonly Written[]): Written => ({
    markdown: parts.map((part) => part.markdown).join(between),
    words: parts.flatMap((part) => part.words),
  });
const text = fc.array(phrase, { minLength: 1, maxLength: 4 }).map(join(' '));
const indent = (markdown: string, by: string) => markdown.replaceAll('\n', `\n${by}`);

/** Nested blocks of Markdown. */
const { blocks } = fc.letrec<{ block: Written; blocks: Written }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    text,
    fc
      .tuple(text, fc.integer({ min: 1, max: 6 }))
      .map(([each, depth]) => ({ ...each, markdown: `${'#'.repeat(depth)} ${each.markdown}` })),
    fc.array(text, { minLength: 2, maxLength: 3 }).map(join('  \n')),
    fc.array(words, { minLength: 1, maxLength: 3 }).map((lines) => ({
      markdown: `\`\`\`js\n${lines.map((line) => line.join(' ')).join('\n')}\n\`\`\``,
      words: lines.flat(),
    })),
    fc.constant({ markdown: '---', words: [] }),
    fc.tuple(word, fc.array(word, { minLength: 1, maxLength: 3 })).map(([head, cells]) => ({
      markdown: `| ${head} |\n|---|\n${cells.map((cell) => `| ${cell} |`).join('\n')}`,
      words: cells.flatMap((cell) => [`${head}:`, cell]),
    })),
    tie('blocks').map((each) => ({ ...each, markdown: `> ${indent(each.markdown, '> ')}` })),
    ...['- ', '1. ', '- [ ] a '].map((bullet) =>
      fc.array(fc.tuple(text, tie('blocks')), { minLength: 1, maxLength: 3 }).map((items) => ({
        markdown: items
          .map(([first, rest]) => {
            const width = ' '.repeat(bullet.startsWith('1') ? 3 : 2);
            return bullet + indent(`${first.markdown}\n\n${rest.markdown}`, width);
          })
          .join('\n'),
        words: items.flatMap(([first, rest]) => [
          ...(bullet.endsWith('a ') ? ['a'] : []),
          ...first.words,
          ...rest.words,
        ]),
      })),
    ),
  ) as fc.Arbitrary<Written>,
  blocks: fc.array(tie('block'), { minLength: 1, maxLength: 3 }).map(join('\n\n<!-- apart -->\n\n')),
}));

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b c', ' ', '\n', '\n\n', '  \n', '\\\n', '\r\n', '\t', '    ') },
  { weight: 4, arbitrary: fc.constantFrom(...'\\`*_{}[]()<>#+-.!|~=:&;^@"\'0123') },
  {
    weight: 3,
    arbitrary: fc.constantFrom('**', '~~', '```\n', '[x](y)', '![i](j)', '](', ']: ', '[^1]', '<!--', '-->', '<div>\n'),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '- ',
      '1. ',
      '- [ ] ',
      '> ',
      '# ',
      '---\n',
      '|-|-|\n',
      '| a | b |\n',
      'https://x.example ',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('\0', '\u0085', '\u00a0', '\u200d', '\u2028', '\ufeff', '\ud800') },
  { weight: 1, arbitrary: fc.string({ unit: codePoint, maxLength: 4 }) },
);
const anything = fc.oneof(
  fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
  fc.string({ unit: codePoint }),
);

describe('normalizeMarkdown', () => {
  test('is idempotent', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const once = normalizeMarkdown(text);
        expect(normalizeMarkdown(once)).toBe(once);
      }),
      { numRuns: 1000, examples: [['0@.A'], ['a 0@.A b'], ['<a@b.c>'], ['[x](mailto:0@.A)']] },
    );
  });

  test('keeps the meaning of a document', () => {
    fc.assert(
      fc.property(anything, (text) => {
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

describe('any input', () => {
  test('becomes a valid document with all words in order', () => {
    fc.assert(
      fc.property(blocks, (written) => {
        const document = toDocument(written.markdown);
        expect(violationsOf(document)).toEqual([]);
        expect(
          textIn(document)
            .split(/\s+/)
            .filter((each) => each !== ''),
        ).toEqual(written.words);
      }),
      { numRuns: 200 },
    );
  });

  test('becomes a valid document with only absolute links and all words', () => {
    fc.assert(
      fc.property(anything, (markdown) => {
        const document = toDocument(markdown);
        expect(violationsOf(document)).toEqual([]);
        expect(JSON.parse(JSON.stringify(document))).toEqual(document);
        for (const node of nodesIn(document).filter((each) => each.type === 'link')) {
          expect(JSON.stringify(node.data)).toMatch(/"url":"(https?|mailto|tel):/i);
          expect(nodesIn(node).filter((each) => each.type === 'link')).toHaveLength(1);
        }
        const text = textIn(document);
        expect(wordsOf(markdown).filter((each) => !text.includes(each))).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });

  test('stays the same if it is plain text', () => {
    const spoken = fc.array(word, { minLength: 1, maxLength: 8 }).map((list) => list.join(' '));
    fc.assert(
      fc.property(
        fc.array(spoken, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        (lines, end) => {
          expect(textIn(toDocument(lines.join(end)))).toBe(lines.join(' '));
          expect(textIn(toDocument(lines.join(end + end)))).toBe(lines.join('\n'));
        },
      ),
    );
  });
});
