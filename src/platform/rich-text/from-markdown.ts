/** Conversion of Markdown to rich documents. */

import { createRequire } from 'node:module';
import type {
  BlockContent,
  Code,
  Definition,
  List,
  ListItem,
  Nodes,
  PhrasingContent,
  Root,
  RootContent,
  Table,
  TableRow,
} from 'mdast';
import {
  joinTexts,
  leafOf,
  linkTo,
  type MarkName,
  plainText,
  type RichDocument,
  type RichNode,
  textNode,
  textOf,
} from './node.ts';

/** Targets of reference links, by identifier. */
type Definitions = ReadonlyMap<string, string>;

type Block = RootContent | BlockContent;

/**
 * Converts GitHub's Markdown to a rich document that is valid for any input. Headings below the third level become the
 * third, tables become lists, images become links, HTML becomes text, and HTML comments are removed. Links to absolute
 * `http`, `https`, `mailto` and `tel` URLs are kept; others become text followed by the URL.
 * Source: docs/platform-notes.md#rich-documents
 */
export function toDocument(markdown: string): RichDocument {
  const root = parseMarkdown(markdown);
  const definitions = new Map<string, string>();
  collectDefinitions(root.children, definitions);
  return { object: 'document', data: {}, nodes: root.children.flatMap((node) => blocks(node, definitions)) };
}

function collectDefinitions(nodes: readonly unknown[], into: Map<string, string>): void {
  for (const node of nodes as readonly (Definition & { children?: readonly unknown[] })[]) {
    if (node.type === 'definition' && !into.has(node.identifier)) {
      into.set(node.identifier, node.url);
    }
    collectDefinitions(node.children ?? [], into);
  }
}

function block(type: string, nodes: readonly RichNode[], data?: Readonly<Record<string, unknown>>): RichNode {
  return data === undefined ? { object: 'block', type, nodes } : { object: 'block', type, data, nodes };
}

function blocks(node: Block, definitions: Definitions): RichNode[] {
  switch (node.type) {
    case 'paragraph':
      return paragraph(node.children, definitions);
    case 'heading': {
      const nodes = inlines(node.children, definitions, ' ');
      return nodes.length === 0 ? [] : [block(`heading-${Math.min(node.depth, 3)}`, nodes, {})];
    }
    case 'list':
      return [list(node, definitions)];
    case 'blockquote':
      return [block('blockquote', orEmpty(node.children.flatMap((child) => blocks(child, definitions))))];
    case 'code':
      return [code(node)];
    case 'thematicBreak':
      return [{ object: 'block', type: 'divider', data: {}, isVoid: true }];
    case 'table':
      return [table(node, definitions)];
    case 'html':
      return html(node.value);
    case 'footnoteDefinition': {
      const [first, ...rest] = node.children.flatMap((child) => blocks(child, definitions));
      const label = plainText(`[${node.label ?? node.identifier}] `);
      const isText = first?.type === 'paragraph';
      const start = block('paragraph', [label, ...(isText ? (first.nodes ?? []) : [])]);
      return [start, ...(first === undefined || isText ? [] : [first]), ...rest];
    }
    default:
      return [];
  }
}

function paragraph(children: readonly PhrasingContent[], definitions: Definitions): RichNode[] {
  const nodes = inlines(children, definitions, '\n');
  return nodes.length === 0 ? [] : [block('paragraph', nodes)];
}

/** Returns the blocks of a list or quote, which must not be empty. */
function orEmpty(nodes: readonly RichNode[]): readonly RichNode[] {
  return nodes.length === 0 ? [block('paragraph', [plainText('')])] : nodes;
}

function list(node: List, definitions: Definitions): RichNode {
  const tasks = node.children.some((item) => typeof item.checked === 'boolean');
  const items = node.children.map((item) => listItem(item, tasks, definitions));
  if (tasks) {
    return block('list-tasks', items);
  }
  if (node.ordered !== true) {
    return block('list-unordered', items);
  }
  const start = node.start ?? 1;
  return block('list-ordered', items, start === 1 ? {} : { start });
}

function listItem(item: ListItem, task: boolean, definitions: Definitions): RichNode {
  const nodes = orEmpty(item.children.flatMap((child) => blocks(child, definitions)));
  return task ? block('list-item', nodes, { checked: item.checked === true }) : block('list-item', nodes);
}

function code(node: Code): RichNode {
  const lines = node.value.split('\n').map((line) => block('code-line', [plainText(line)], {}));
  return block('code', lines, node.lang ? { syntax: node.lang } : {});
}

/** Maximum characters of column names that are repeated for each row of a table. */
const MAX_LABELS = 100_000;

/**
 * Converts a table to a list with one item for each row, and the column name before each cell; missing cells are empty.
 * If the repeated names would take too much space, they become a separate item.
 */
function table(node: Table, definitions: Definitions): RichNode {
  const [head, ...rows] = node.children;
  const names = (head?.children ?? []).map((cell) => inlines(cell.children, definitions, ' '));
  const named = names.flat().map(textOf).join('; ').length * rows.length <= MAX_LABELS;
  const cells = rows.map((row) => labelled(named ? names : [], row, definitions));
  const items = named && rows.length > 0 ? cells : [names, ...cells];
  return block(
    'list-unordered',
    items.map((item) => {
      const nodes = trimmed(
        joinTexts(item.flatMap((cell, column) => (column > 0 ? [plainText('; '), ...cell] : cell))),
      );
      return block('list-item', orEmpty(nodes.length === 0 ? [] : [block('paragraph', nodes)]));
    }),
  );
}

/** Returns the cells of a row, each preceded by the name of its column, if it has one. */
function labelled(names: readonly RichNode[][], row: TableRow, definitions: Definitions): RichNode[][] {
  return Array.from({ length: Math.max(names.length, row.children.length) }, (_, column) => {
    const name = names[column] ?? [];
    const content = inlines(row.children[column]?.children ?? [], definitions, ' ');
    return name.length === 0 ? content : [...name, plainText(content.length === 0 ? ':' : ': '), ...content];
  });
}

/** Converts HTML to text without its comments. */
function html(value: string): RichNode[] {
  const text = value.replaceAll(/<!--[\s\S]*?(-->|$)/g, '').trim();
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.length === 0 ? [] : [block('paragraph', [plainText(lines.join('\n'))])];
}

/** `lineBreak` replaces a hard break, which headings cannot have. */
function inlines(children: readonly PhrasingContent[], definitions: Definitions, lineBreak: string): RichNode[] {
  return trimmed(joinTexts(children.flatMap((child) => inline(child, new Set(), definitions, lineBreak))));
}

function inline(
  node: PhrasingContent,
  marks: ReadonlySet<MarkName>,
  definitions: Definitions,
  lineBreak: string,
): RichNode[] {
  const below = (extra: MarkName) =>
    'children' in node
      ? node.children.flatMap((child) => inline(child, new Set([...marks, extra]), definitions, lineBreak))
      : [];
  switch (node.type) {
    case 'text':
      return [textNode([leafOf(oneLine(node.value), marks)])];
    case 'html':
      return [textNode([leafOf(oneLine(node.value.startsWith('<!--') ? '' : node.value), marks)])];
    case 'inlineCode':
      return [textNode([leafOf(oneLine(node.value), new Set([...marks, 'code']))])];
    case 'break':
      return [textNode([leafOf(lineBreak, new Set())])];
    case 'strong':
      return below('bold');
    case 'emphasis':
      return below('italic');
    case 'delete':
      return below('strikethrough');
    case 'image':
    case 'imageReference': {
      const url = node.type === 'image' ? node.url : (definitions.get(node.identifier) ?? '');
      return linkTo(oneLine(url), joinTexts([textNode([leafOf(oneLine(node.alt ?? ''), marks)])]));
    }
    case 'link':
    case 'linkReference': {
      const url = node.type === 'link' ? node.url : (definitions.get(node.identifier) ?? '');
      const inside = node.children.flatMap((child) => inline(child, marks, definitions, ' '));
      const flat = inside.flatMap((child) => (child.type === 'link' ? (child.nodes ?? []) : [child]));
      return linkTo(oneLine(url), joinTexts(flat));
    }
    case 'footnoteReference':
      return [textNode([leafOf(`[${node.label ?? node.identifier}]`, marks)])];
    default:
      return [];
  }
}

/** Removes leading and trailing space, which pages do not show. */
function trimmed(nodes: readonly RichNode[]): RichNode[] {
  return nodes.flatMap((node, index) => {
    const leaves = [...(node.leaves ?? [])];
    const first = leaves[0];
    if (index === 0 && first !== undefined) {
      leaves[0] = { ...first, text: first.text.trimStart() };
    }
    const last = leaves.at(-1);
    if (index === nodes.length - 1 && last !== undefined) {
      leaves[leaves.length - 1] = { ...last, text: last.text.trimEnd() };
    }
    const kept = leaves.filter((leaf) => leaf.text !== '');
    return node.object !== 'text' ? [node] : kept.length === 0 ? [] : [textNode(kept)];
  });
}

/** Replaces line breaks in the source that are not line breaks on the page. */
function oneLine(text: string): string {
  return text.replaceAll(/[ \t\r\n]+/g, (space) => (/[\r\n]/.test(space) ? ' ' : space));
}

/** Loads the libraries when first needed, because few plans contain rich documents. */
const require = createRequire(import.meta.url);

/** Maximum markers of quotes and lists at the start of a line. */
const DEEPEST = 50;
/** Maximum indentation of a marker in columns, because indentation also nests. */
const WIDEST = 150;
/** Maximum characters in a paragraph, heading or cell that can begin or end emphasis or a link. */
const MAX_DELIMITERS = 500;

const CONTAINERS = ['blockQuote', 'list'];
const DELIMITED = [
  'attention',
  'labelStartImage',
  'labelStartLink',
  'labelEnd',
  'strikethrough',
  'gfmFootnoteCall',
  'gfmPotentialFootnoteCall',
];

/**
 * Parses GitHub's Markdown. The time is quadratic in the nesting of a text, so extreme nesting is not parsed: lists and
 * quotes stay text if a line begins with more than 50 of their markers or indents one by more than 150 columns, and so
 * do emphasis and links if a paragraph, heading or cell has more than 500 characters that can begin or end them.
 */
function parseMarkdown(markdown: string): Root {
  const text = markdown.toWellFormed().replaceAll(/\r\n?/g, '\n');
  const disabled = isDeep(text) ? CONTAINERS : [];
  if (delimiters(text) > MAX_DELIMITERS) {
    const literal = parse(text, [...disabled, ...DELIMITED]);
    if (exceedsDelimiterLimit(literal)) {
      return literal;
    }
  }
  return parse(text, disabled);
}

function parse(text: string, disabled: readonly string[]): Root {
  const { fromMarkdown } = require('mdast-util-from-markdown') as typeof import('mdast-util-from-markdown');
  const { gfmFromMarkdown } = require('mdast-util-gfm') as typeof import('mdast-util-gfm');
  const { gfm } = require('micromark-extension-gfm') as typeof import('micromark-extension-gfm');
  // The transforms would turn escaped addresses into links, although they are meant to stay text.
  const mdastExtensions = gfmFromMarkdown().map((extension) => ({ ...extension, transforms: [] }));
  return fromMarkdown(text, { extensions: [gfm(), { disable: { null: [...disabled] } }], mdastExtensions });
}

function isDeep(text: string): boolean {
  return text.split('\n').some((line) => {
    const marker = /[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))/y;
    let depth = 0;
    while (depth <= DEEPEST && marker.test(line)) {
      depth += 1;
    }
    return depth > DEEPEST || (depth > 0 && line.length - line.trimStart().length > WIDEST);
  });
}

/** Returns true if a paragraph, heading or cell in the tree exceeds the limit of delimiters. */
function exceedsDelimiterLimit(node: Nodes): boolean {
  if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'tableCell') {
    return delimitersIn(node) > MAX_DELIMITERS;
  }
  return 'children' in node && node.children.some(exceedsDelimiterLimit);
}

function delimitersIn(node: Nodes): number {
  if (node.type === 'text') {
    return delimiters(node.value);
  }
  return 'children' in node ? node.children.reduce((sum, child) => sum + delimitersIn(child), 0) : 0;
}

function delimiters(text: string): number {
  return text.replaceAll(/[^*_~[\]]/g, '').length;
}
