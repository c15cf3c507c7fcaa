/**
 * Converts a rich document, such as a comment, to Markdown. A decision of this emulator: a node that Markdown cannot
 * express is reduced to its text, or omitted if it has none. Source: docs/platform-notes.md#rich-documents
 */
import { createRequire } from 'node:module';
import type { BlockContent, ListItem, PhrasingContent, Root } from 'mdast';
import { isObject } from '../../core/json.ts';

/** Loaded on first use, like the parsers. */
const require = createRequire(import.meta.url);
type Node = Record<string, unknown>;

/** Converts a rich document to Markdown without a line break at the end. */
export function convertToMarkdown(document: unknown): string {
  const { toMarkdown } = require('mdast-util-to-markdown') as typeof import('mdast-util-to-markdown');
  const { gfmToMarkdown } = require('mdast-util-gfm') as typeof import('mdast-util-gfm');
  const root: Root = { type: 'root', children: isObject(document) ? blocksIn(document) : [] };
  return toMarkdown(root, { extensions: [gfmToMarkdown()], bullet: '-', rule: '-' }).trimEnd();
}

function nodesIn(node: Node, name: 'nodes' | 'leaves' | 'marks' = 'nodes'): Node[] {
  const nodes = node[name];
  return Array.isArray(nodes) ? nodes.filter(isObject) : [];
}

function dataOf(node: Node): Node {
  return isObject(node.data) ? node.data : {};
}

/** Returns the plain text of a node. */
function textIn(node: Node): string {
  const leaves = nodesIn(node, 'leaves').map((leaf) => String(leaf.text));
  return [...leaves, ...nodesIn(node).map(textIn)].join('');
}

function blocksIn(node: Node): BlockContent[] {
  return nodesIn(node).flatMap(blockOf);
}

function blockOf(node: Node): BlockContent[] {
  const type = String(node.type);
  switch (type) {
    case 'heading-1':
    case 'heading-2':
    case 'heading-3':
      return [{ type: 'heading', depth: Number(type.at(-1)) as 1 | 2 | 3, children: inlinesIn(node) }];
    case 'list-ordered':
    case 'list-unordered':
    case 'list-tasks':
      return [listOf(node, type)];
    case 'blockquote':
    case 'hint':
      return [{ type: 'blockquote', children: blocksIn(node) }];
    case 'code':
      return [{ type: 'code', lang: language(node), value: nodesIn(node).map(textIn).join('\n') }];
    case 'divider':
      return [{ type: 'thematicBreak' }];
    case 'paragraph':
      return [{ type: 'paragraph', children: inlinesIn(node) }];
    default:
      return blocksIn(node);
  }
}

function language(node: Node): string | null {
  const { syntax } = dataOf(node);
  return typeof syntax === 'string' ? syntax : null;
}

function listOf(node: Node, type: string): BlockContent {
  const children = nodesIn(node).map((item): ListItem => {
    const checked = type === 'list-tasks' ? dataOf(item).checked === true : null;
    return { type: 'listItem', checked, spread: false, children: blocksIn(item) };
  });
  const start = Number(dataOf(node).start ?? 1);
  return { type: 'list', ordered: type === 'list-ordered', start, spread: false, children };
}

function inlinesIn(node: Node): PhrasingContent[] {
  return nodesIn(node).flatMap((child) =>
    child.object === 'text' ? nodesIn(child, 'leaves').flatMap(leafOf) : inlineOf(child),
  );
}

function inlineOf(node: Node): PhrasingContent[] {
  const { ref, code } = dataOf(node);
  const url = isObject(ref) && typeof ref.url === 'string' ? ref.url : undefined;
  if (node.type === 'link' && url !== undefined) {
    return [{ type: 'link', url, children: inlinesIn(node) }];
  }
  if (node.type === 'inline-image' && url !== undefined) {
    return [{ type: 'image', url, alt: '' }];
  }
  return node.type === 'emoji' ? [{ type: 'text', value: emoji(String(code)) }] : inlinesIn(node);
}

/** Returns an emoji from its hexadecimal code points, joined by hyphens; any other text is returned as it is. */
function emoji(code: string): string {
  const points = /^[0-9a-f]{2,5}(?:-[0-9a-f]{2,5})*$/i.test(code) ? code.split('-') : [];
  return points.length === 0 ? code : points.map((point) => String.fromCodePoint(Number.parseInt(point, 16))).join('');
}

const MARKS = { bold: 'strong', italic: 'emphasis', strikethrough: 'delete' } as const;

function leafOf(leaf: Node): PhrasingContent[] {
  const value = String(leaf.text);
  const marks = nodesIn(leaf, 'marks').map((mark) => String(mark.type));
  let content: PhrasingContent = marks.includes('code') ? { type: 'inlineCode', value } : { type: 'text', value };
  for (const mark of ['strikethrough', 'italic', 'bold'] as const) {
    if (marks.includes(mark)) {
      content = { type: MARKS[mark], children: [content] };
    }
  }
  return value === '' ? [] : [content];
}
