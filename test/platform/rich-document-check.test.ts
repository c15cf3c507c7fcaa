import { expect, test } from 'vitest';
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

test.each<[string, unknown]>([
  ['its example', EXAMPLE],
  ['an empty document with meta', { object: 'document', data: { schemaVersion: 8 }, nodes: [], meta: {} }],
  ['code and a divider', documentOf(block('code', [block('code-line', [a], {})], { syntax: 'ts' }), divider)],
  ['tasks', documentOf(block('list-tasks', [block('list-item', [paragraph(a)], { checked: true })]))],
  [
    'a mark with data',
    documentOf(paragraph(text(leaf('y', [{ object: 'mark', type: 'color', data: { text: 'red' } }])))),
  ],
  ['a reference', documentOf(paragraph(link({ kind: 'page', page: 'p', space: 's' })))],
])('accepts %s', (_, document) => {
  expect(violationsOf(document)).toEqual([]);
});

test('rejects what is not documented, each with its path', () => {
  const document = documentOf(
    a,
    block('list-ordered', [item(a), paragraph(a)]),
    block('heading-4', [a], {}),
    block('divider', undefined, {}),
    block('list-tasks', [item()]),
    block('code', [block('code-line', [text(leaf('a\nb'))], {})], {}),
    paragraph(paragraph(a), text(leaf('a', ['bold'])), link({ kind: 'url', url: 'x', title: 'y' })),
    paragraph(inline('mention', { data: { ref: { kind: 'user', user: 'u' } } }), link({ kind: 'site', site: 'x' })),
    { ...paragraph(a), key: 'x' },
  );
  expect(violationsOf(document)).toEqual([
    'nodes.0: text where a block has to be',
    'nodes.1.data: is no object',
    'nodes.1.nodes.0.nodes.0: text where a block has to be',
    'nodes.1.nodes.1: is no list-item',
    'nodes.2.type: heading-4 is no block',
    'nodes.3.isVoid: is not true',
    'nodes.4.nodes.0.nodes: has no block',
    'nodes.5.nodes.0.nodes: is more than one line',
    'nodes.6.nodes.0: is neither text nor inline',
    'nodes.6.nodes.1.leaves.0.marks.0: is no mark',
    'nodes.6.nodes.2.data.ref.title: is not a field here',
    'nodes.7.nodes.0.isVoid: is not true',
    'nodes.7.nodes.1.data.ref: is no reference',
    'nodes.8.key: is not a field here',
  ]);
});

test('returns the visible text of a document', () => {
  expect(textIn(EXAMPLE)).toBe('See this\nitem');
});
