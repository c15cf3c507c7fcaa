import { describe, expect, test } from 'vitest';
import { convertFromMarkdown } from '../../src/emulator/documents/from-markdown.ts';
import { findDocumentProblems } from '../../src/emulator/documents/rich-document.ts';
import { convertToMarkdown } from '../../src/emulator/documents/to-markdown.ts';

/* Conversion of Markdown to rich documents, and back. */

const both = [
  'One **two** *three* ~~four~~ `five`.',
  '**_all_**',
  '# One\n\n## Two\n\n### Three',
  'See [this **page**](https://acme.example/a) and ![](https://acme.example/b.png).',
  '- one\n- two\n  - deeper',
  '1. one\n2. two',
  '3. three\n4. four',
  '- [x] done\n- [ ] not yet',
  '> said\n>\n> - twice',
  '```ts\nconst a = 1;\n\nlet b;\n```',
  'above\n\n---\n\nbelow',
  '1 \\* 2 < 3 and \\_under\\_',
  '',
];

test.each(both)('converts to a document and back: %j', (markdown) => {
  const document = convertFromMarkdown(markdown);
  expect(findDocumentProblems(document, 'document')).toEqual([]);
  expect(convertToMarkdown(document)).toBe(markdown);
});

const inline = (node: object) => ({
  object: 'document',
  data: {},
  nodes: [{ object: 'block', type: 'paragraph', nodes: [node] }],
});
const text = (words: string, ...marks: string[]) => ({
  object: 'text',
  leaves: [{ object: 'leaf', text: words, marks: marks.map((type) => ({ object: 'mark', type })) }],
});

describe('a rich document as Markdown', () => {
  test.each([
    ['an emoji', { object: 'inline', type: 'emoji', data: { code: '1f469-200d-1f4bb' }, isVoid: true }, '👩‍💻'],
    ['an emoji by name', { object: 'inline', type: 'emoji', data: { code: 'smile' }, isVoid: true }, 'smile'],
    [
      'a link to a page',
      { object: 'inline', type: 'link', data: { ref: { kind: 'page', page: 'p' } }, nodes: [text('it')] },
      'it',
    ],
    ['a colour', text('red', 'color'), 'red'],
    ['code that is bold', text('x', 'bold', 'code'), '**`x`**'],
    ['no text', text('', 'bold'), ''],
    ['a mention', { object: 'inline', type: 'mention', data: { ref: { kind: 'user', user: 'u' } }, isVoid: true }, ''],
  ])('renders %s', (_, node, expected) => {
    expect(convertToMarkdown(inline(node))).toBe(expected);
  });

  test('unsupported nodes are rendered as their text', () => {
    const hint = { object: 'block', type: 'hint', data: { style: 'info' }, nodes: inline(text('Mind it')).nodes };
    const tabs = { object: 'block', type: 'tabs', nodes: [{ object: 'block', type: 'tabs-item', nodes: [hint] }] };
    expect(convertToMarkdown({ object: 'document', data: {}, nodes: [tabs] })).toBe('> Mind it');
    expect(convertToMarkdown(undefined)).toBe('');
  });
});
