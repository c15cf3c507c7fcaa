import { describe, expect, test } from 'vitest';
import { textIn, violationsOf } from '../support/rich-document-check.ts';

const leaf = (text: unknown, marks: unknown = []) => ({ object: 'leaf', text, marks });
const text = (...leaves: unknown[]) => ({ object: 'text', leaves });
const a = text(leaf('a'));
const block = (type: string, nodes?: unknown, data?: unknown) => ({
  object: 'block',
  type,
  ...(nodes === undefined ? {} : { nodes }),
  ...(data === undefined ? {} : { data }),
});
const inline = (type: string, rest: object) => ({ object: 'inline', type, ...rest });
const paragraph = (...nodes: unknown[]) => block('paragraph', nodes);
const item = (...nodes: unknown[]) => block('list-item', nodes);
const link = (ref: unknown, nodes: unknown = [a]) => inline('link', { data: { ref }, nodes });
const divider = { object: 'block', type: 'divider', data: {}, isVoid: true };
const documentOf = (...nodes: unknown[]) => ({ object: 'document', data: {}, nodes });

/** The example of the section, verbatim. */
const EXAMPLE = JSON.parse(`{"object":"document","data":{},"nodes":[
 {"object":"block","type":"paragraph","nodes":[
  {"object":"text","leaves":[{"object":"leaf","text":"See ","marks":[]}]},
  {"object":"inline","type":"link","data":{"ref":{"kind":"url","url":"https://example.com"}},
   "nodes":[{"object":"text","leaves":[{"object":"leaf","text":"this","marks":[{"object":"mark","type":"bold"}]}]}]}]},
 {"object":"block","type":"list-unordered","nodes":[
  {"object":"block","type":"list-item","nodes":[
   {"object":"block","type":"paragraph","nodes":[{"object":"text","leaves":[{"object":"leaf","text":"item","marks":[]}]}]}]}]}]}`);

describe('documented nodes', () => {
  test.each<[string, unknown]>([
    ['its example', EXAMPLE],
    ['an empty document', documentOf()],
    ['a version and meta', { object: 'document', data: { schemaVersion: 8 }, nodes: [], meta: {} }],
    ['headings', documentOf(...[1, 2, 3].map((depth) => block(`heading-${depth}`, [a], {})))],
    ['code', documentOf(block('code', [block('code-line', [a], {})], { syntax: 'ts' }))],
    ['a divider', documentOf(divider)],
    ['a hint', documentOf(block('hint', [paragraph(a)], { style: 'danger' }))],
    [
      'a quote with a list',
      documentOf(block('blockquote', [block('list-ordered', [item(paragraph(a))], { start: 3 })])),
    ],
    [
      'tasks with a list and code in them',
      documentOf(
        block('list-tasks', [
          block(
            'list-item',
            [paragraph(a), block('list-unordered', [item(block('code', [block('code-line', [a], {})], {}))])],
            { checked: true },
          ),
        ]),
      ),
    ],
    [
      'every mark',
      documentOf(
        paragraph(
          text(
            leaf(
              'x',
              ['bold', 'italic', 'code', 'keyboard', 'strikethrough', 'superscript', 'subscript'].map((type) => ({
                object: 'mark',
                type,
              })),
            ),
            leaf('y', [{ object: 'mark', type: 'color', data: { text: 'red' } }]),
          ),
        ),
      ),
    ],
    [
      'inlines and references',
      documentOf(
        paragraph(
          link({ kind: 'page', page: 'p', space: 's' }),
          link({ kind: 'file', file: 'f' }),
          link({ kind: 'anchor', anchor: 'h' }),
          link({ kind: 'openapi', spec: 'x' }),
          link({ kind: 'reusable-content', reusableContent: 'r' }),
          inline('mention', { isVoid: true, data: { ref: { kind: 'user', user: 'u' } } }),
          inline('emoji', { isVoid: true, data: { code: '1f984' } }),
        ),
      ),
    ],
    ['other blocks', documentOf({ object: 'block', type: 'embed', isVoid: true, data: { url: 'https://x.example' } })],
  ])('accepts %s', (_, document) => {
    expect(violationsOf(document)).toEqual([]);
  });
});

describe('undocumented nodes', () => {
  test.each<[string, unknown, string]>([
    ['a text instead of a document', 'text', 'document: is no object'],
    ['another object', { ...documentOf(), object: 'doc' }, 'object: is not document'],
    ['no data', { object: 'document', nodes: [] }, 'data: is no object'],
    [
      'a version that is a string',
      { ...documentOf(), data: { schemaVersion: 'x' } },
      'data.schemaVersion: is no integer',
    ],
    ['no nodes', { object: 'document', data: {} }, 'nodes: is no array'],
    ['an unknown field', { ...documentOf(), extra: 1 }, 'extra: is not a field here'],
    ['text at the top', documentOf(a), 'nodes.0: text where a block has to be'],
    ['an inline at the top', documentOf(link({ kind: 'url', url: 'x' })), 'nodes.0: inline where a block has to be'],
    ['a list item at the top', documentOf(item(paragraph(a))), 'nodes.0: list-item outside of what holds it'],
    ['a code line at the top', documentOf(block('code-line', [a], {})), 'nodes.0: code-line outside of what holds it'],
    ['a string for a node', documentOf('a'), 'nodes.0: string where a block has to be'],
    ['an unknown block', documentOf(block('heading-4', [a], {})), 'nodes.0.type: heading-4 is no block'],
    ['an unknown field of a block', documentOf({ ...paragraph(a), key: 'x' }), 'nodes.0.key: is not a field here'],
    ['a paragraph without nodes', documentOf(block('paragraph')), 'nodes.0.nodes: is no array'],
    ['a block in a paragraph', documentOf(paragraph(paragraph(a))), 'nodes.0.nodes.0: is neither text nor inline'],
    ['a heading without data', documentOf(block('heading-1', [a])), 'nodes.0.data: is no object'],
    ['an ordered list without data', documentOf(block('list-ordered', [])), 'nodes.0.data: is no object'],
    [
      'an ordered list that starts with a string',
      documentOf(block('list-ordered', [], { start: '3' })),
      'nodes.0.data.start: is no number',
    ],
    ['invalid data', documentOf(block('paragraph', [a], 'x')), 'nodes.0.data: is no object'],
    ['a divider that is not void', documentOf(block('divider', undefined, {})), 'nodes.0.isVoid: is not true'],
    [
      'a divider without data',
      documentOf({ object: 'block', type: 'divider', isVoid: true }),
      'nodes.0.data: is no object',
    ],
    ['an embed that is not void', documentOf(block('embed')), 'nodes.0.isVoid: is not true'],
    ['a hint without style', documentOf(block('hint', [], {})), 'nodes.0.data.style: is no style of a hint'],
    ['text in a quote', documentOf(block('blockquote', [a])), 'nodes.0.nodes.0: text where a block has to be'],
    ['a paragraph in a list', documentOf(block('list-unordered', [paragraph(a)])), 'nodes.0.nodes.0: is no list-item'],
    [
      'bare text in a list item',
      documentOf(block('list-unordered', [item(a)])),
      'nodes.0.nodes.0.nodes.0: text where a block has to be',
    ],
    [
      'a list item in a list item',
      documentOf(block('list-tasks', [item(item(paragraph(a)))])),
      'nodes.0.nodes.0.nodes.0: list-item outside of what holds it',
    ],
    ['an empty list item', documentOf(block('list-tasks', [item()])), 'nodes.0.nodes.0.nodes: has no block'],
    [
      'a string as checked',
      documentOf(block('list-tasks', [block('list-item', [paragraph(a)], { checked: 'x' })])),
      'nodes.0.nodes.0.data.checked: is no boolean',
    ],
    ['text in code', documentOf(block('code', [a], {})), 'nodes.0.nodes.0: is no code-line'],
    ['code without data', documentOf(block('code', [block('code-line', [a], {})])), 'nodes.0.data: is no object'],
    [
      'a syntax that is not a string',
      documentOf(block('code', [], { syntax: 1 })),
      'nodes.0.data.syntax: is no string',
    ],
    [
      'a code line without data',
      documentOf(block('code', [block('code-line', [a])], {})),
      'nodes.0.nodes.0.data: is no object',
    ],
    [
      'two lines in one',
      documentOf(block('code', [block('code-line', [text(leaf('a\nb'))], {})], {})),
      'nodes.0.nodes.0.nodes: is more than one line',
    ],
    [
      'a text without leaves',
      documentOf(paragraph({ object: 'text', text: 'a' })),
      'nodes.0.nodes.0.leaves: is no array',
    ],
    ['an invalid leaf', documentOf(paragraph(text({ text: 'a', marks: [] }))), 'nodes.0.nodes.0.leaves.0: is no leaf'],
    [
      'a leaf without text',
      documentOf(paragraph(text(leaf(undefined)))),
      'nodes.0.nodes.0.leaves.0.text: is no string',
    ],
    [
      'a leaf without marks',
      documentOf(paragraph(text({ object: 'leaf', text: 'a' }))),
      'nodes.0.nodes.0.leaves.0.marks: is no array',
    ],
    [
      'an unknown mark',
      documentOf(paragraph(text(leaf('a', [{ object: 'mark', type: 'underline' }])))),
      'nodes.0.nodes.0.leaves.0.marks.0: is no mark',
    ],
    [
      'a mark by name alone',
      documentOf(paragraph(text(leaf('a', ['bold'])))),
      'nodes.0.nodes.0.leaves.0.marks.0: is no mark',
    ],
    [
      'a color mark without a color',
      documentOf(paragraph(text(leaf('a', [{ object: 'mark', type: 'color' }])))),
      'nodes.0.nodes.0.leaves.0.marks.0.data: has no color',
    ],
    ['an unknown inline', documentOf(paragraph(inline('image', {}))), 'nodes.0.nodes.0.type: image is no inline'],
    [
      'a link without a reference',
      documentOf(paragraph(inline('link', { data: { url: 'x' }, nodes: [a] }))),
      'nodes.0.nodes.0.data.ref: is no reference',
    ],
    [
      'a reference of an unknown kind',
      documentOf(paragraph(link({ kind: 'site', site: 'x' }))),
      'nodes.0.nodes.0.data.ref: is no reference',
    ],
    [
      'a reference without its target',
      documentOf(paragraph(link({ kind: 'url', href: 'x' }))),
      'nodes.0.nodes.0.data.ref.url: is no string',
    ],
    [
      'a reference with an additional field',
      documentOf(paragraph(link({ kind: 'url', url: 'x', title: 'y' }))),
      'nodes.0.nodes.0.data.ref.title: is not a field here',
    ],
    [
      'a space that is not an id',
      documentOf(paragraph(link({ kind: 'page', page: 'p', space: 1 }))),
      'nodes.0.nodes.0.data.ref.space: is no string',
    ],
    [
      'a block in a link',
      documentOf(paragraph(link({ kind: 'url', url: 'x' }, [paragraph(a)]))),
      'nodes.0.nodes.0.nodes.0: is neither text nor inline',
    ],
    [
      'a mention that is not void',
      documentOf(paragraph(inline('mention', { data: { ref: { kind: 'user', user: 'u' } } }))),
      'nodes.0.nodes.0.isVoid: is not true',
    ],
    [
      'an emoji without code',
      documentOf(paragraph(inline('emoji', { isVoid: true }))),
      'nodes.0.nodes.0.data.code: is no string',
    ],
  ])('rejects %s with its path', (_, document, violation) => {
    expect(violationsOf(document)).toContain(violation);
  });

  test('reports all problems at once', () => {
    const document = documentOf(a, block('list-ordered', [item(a)]), block('nonsense'));
    expect(violationsOf(document)).toEqual([
      'nodes.0: text where a block has to be',
      'nodes.1.data: is no object',
      'nodes.1.nodes.0.nodes.0: text where a block has to be',
      'nodes.2.type: nonsense is no block',
    ]);
  });
});

test('returns the visible text of a document', () => {
  expect(textIn(EXAMPLE)).toBe('See this\nitem');
});
