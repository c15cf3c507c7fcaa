/**
 * Converts Markdown to a rich document. Decisions of this emulator: a table becomes a code block with its Markdown; a
 * node that a quote may not contain becomes a paragraph; HTML tags are removed.
 * Source: docs/platform-notes.md#rich-documents
 */
import type { BlockContent, DefinitionContent, List, ListItem, Nodes, PhrasingContent, RootContent } from 'mdast';
import { append } from '../../core/lists.ts';
import type { ContentRef } from './content-reference.ts';
import { getSpan, getText, INCLUDE, parseMarkdown } from './markdown.ts';

/** Resolves the references of a text. */
export interface References {
  /** Returns the content reference of a link's or image's address. */
  toReference(address: string): ContentRef;
  /** Returns the reusable content with that title; undefined if it does not exist. */
  reusable(title: string): ContentRef | undefined;
}

/** References of a text outside of pages: addresses stay as they are. */
const PLAIN: References = { toReference: (url) => ({ kind: 'url', url }), reusable: () => undefined };

interface Reading extends References {
  readonly text: string;
  readonly definitions: ReadonlyMap<string, string>;
}

type Block = Readonly<Record<string, unknown>>;

const MARKS: Readonly<Record<string, string>> = {
  strong: 'bold',
  emphasis: 'italic',
  delete: 'strikethrough',
  inlineCode: 'code',
};

const EXPRESSION_START = /^<code class="expression">$/;

/** Converts a text to a rich document. */
export function convertFromMarkdown(text: string, references: References = PLAIN): unknown {
  const tree = parseMarkdown(text);
  const definitions = new Map(
    tree.children.flatMap((node) => (node.type === 'definition' ? [[node.identifier, node.url] as const] : [])),
  );
  const reading: Reading = { ...references, text, definitions };
  return { object: 'document', data: {}, nodes: tree.children.flatMap((node) => blocks(reading, node)) };
}

function textNode(words: string, marks: readonly string[]): Block {
  const leaf = { object: 'leaf', text: words, marks: marks.map((type) => ({ object: 'mark', type })) };
  return { object: 'text', leaves: [leaf] };
}

function paragraph(nodes: readonly unknown[]): Block {
  return { object: 'block', type: 'paragraph', nodes: nodes.length === 0 ? [textNode('', [])] : nodes };
}

function codeBlock(value: string, syntax: string | undefined): Block {
  const nodes = value
    .split('\n')
    .map((line) => ({ object: 'block', type: 'code-line', data: {}, nodes: [textNode(line, [])] }));
  return { object: 'block', type: 'code', data: syntax === undefined ? {} : { syntax }, nodes };
}

function source(reading: Reading, node: Nodes): string {
  const [start, end] = getSpan(node);
  return reading.text.slice(start, end);
}

function blocks(reading: Reading, node: RootContent): Block[] {
  switch (node.type) {
    case 'paragraph':
      return [paragraphOf(reading, node.children)];
    case 'heading': {
      const nodes = inlines(reading, node.children, []);
      return [{ object: 'block', type: `heading-${Math.min(node.depth, 3)}`, data: {}, nodes }];
    }
    case 'list':
      return [listOf(reading, node)];
    case 'blockquote':
      return [{ object: 'block', type: 'blockquote', nodes: quoted(reading, node.children) }];
    case 'code':
      return [codeBlock(node.value, node.lang ?? undefined)];
    case 'thematicBreak':
      return [{ object: 'block', type: 'divider', isVoid: true, data: {} }];
    case 'table':
      return [codeBlock(source(reading, node), 'markdown')];
    case 'footnoteDefinition':
      return node.children.flatMap((child) => blocks(reading, child));
    default:
      return [];
  }
}

/** Converts a paragraph; an image or an inclusion alone becomes a block. */
function paragraphOf(reading: Reading, children: readonly PhrasingContent[]): Block {
  const [only] = children;
  if (children.length === 1 && only?.type === 'image') {
    const data = { ref: reading.toReference(only.url), ...(only.alt ? { alt: only.alt } : {}) };
    const image = { object: 'block', type: 'image', data, fragments: [], isVoid: true };
    return { object: 'block', type: 'images', data: {}, nodes: [image], isVoid: false };
  }
  const include = children.length === 1 && only?.type === 'text' ? [...only.value.matchAll(INCLUDE)] : [];
  const ref = include.length === 1 ? reading.reusable(include[0]?.[1] ?? '') : undefined;
  if (ref !== undefined && only !== undefined && getText(only).trim() === include[0]?.[0]) {
    return { object: 'block', type: 'reusable-content', data: { ref }, isVoid: true };
  }
  return paragraph(inlines(reading, children, []));
}

function listOf(reading: Reading, list: List): Block {
  const isTasks = list.children.some((item) => typeof item.checked === 'boolean');
  const nodes = list.children.map((item) => itemOf(reading, item, isTasks));
  if (list.ordered === true) {
    return { object: 'block', type: 'list-ordered', data: { start: list.start ?? 1 }, nodes };
  }
  return { object: 'block', type: isTasks ? 'list-tasks' : 'list-unordered', nodes };
}

function itemOf(reading: Reading, item: ListItem, isTask: boolean): Block {
  const nodes = item.children.flatMap((child) => blocks(reading, child));
  const data = isTask ? { data: { checked: item.checked === true } } : {};
  return { object: 'block', type: 'list-item', ...data, nodes: nodes.length === 0 ? [paragraph([])] : nodes };
}

/** Converts the children of a quote, which may contain text, lists and quotes. */
function quoted(reading: Reading, children: readonly (BlockContent | DefinitionContent)[]): Block[] {
  return children.flatMap((child) =>
    child.type === 'code' || child.type === 'table'
      ? [paragraph([textNode(child.type === 'code' ? child.value : source(reading, child), ['code'])])]
      : blocks(reading, child),
  );
}

function inlines(reading: Reading, children: readonly PhrasingContent[], marks: readonly string[]): Block[] {
  const nodes: Block[] = [];
  for (let at = 0; at < children.length; at += 1) {
    const child = children[at];
    const inner = children[at + 1];
    if (child?.type === 'html' && EXPRESSION_START.test(child.value) && inner?.type === 'text') {
      nodes.push({ object: 'inline', type: 'expression', data: { expression: inner.value }, isVoid: true });
      at += 2;
    } else if (child !== undefined) {
      append(nodes, inlineOf(reading, child, marks));
    }
  }
  return nodes;
}

function inlineOf(reading: Reading, node: PhrasingContent, marks: readonly string[]): Block[] {
  const mark = MARKS[node.type];
  const all = mark === undefined || marks.includes(mark) ? marks : [...marks, mark];
  switch (node.type) {
    case 'text':
    case 'inlineCode':
      return [textNode(node.value, all)];
    case 'break':
      return [textNode('\n', marks)];
    case 'link':
      return [linkOf(reading, node.url, node.children, marks)];
    case 'linkReference':
      return [linkOf(reading, reading.definitions.get(node.identifier) ?? '', node.children, marks)];
    case 'image':
      return [imageOf(reading, node.url)];
    case 'imageReference':
      return [imageOf(reading, reading.definitions.get(node.identifier) ?? '')];
    case 'strong':
    case 'emphasis':
    case 'delete':
      return inlines(reading, node.children, all);
    default:
      return [];
  }
}

function linkOf(reading: Reading, url: string, children: readonly PhrasingContent[], marks: readonly string[]): Block {
  const nodes = inlines(reading, children, marks);
  return { object: 'inline', type: 'link', data: { ref: reading.toReference(url) }, nodes };
}

function imageOf(reading: Reading, url: string): Block {
  return { object: 'inline', type: 'inline-image', data: { ref: reading.toReference(url) }, isVoid: true };
}
