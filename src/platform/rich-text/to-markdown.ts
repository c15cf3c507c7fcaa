/** Conversion of rich documents to Markdown. */

import { createRequire } from 'node:module';
import type { BlockContent, ListItem, PhrasingContent, RootContent } from 'mdast';
import { isObject } from '../../core/json.ts';
import { append } from '../../core/lists.ts';
import { toDocument } from './from-markdown.ts';
import {
  isMarkName,
  joinTexts,
  leafOf,
  MARKS,
  type MarkName,
  type RichLeaf,
  type RichNode,
  textNode,
  textOf,
} from './node.ts';

/** Loads the libraries when first needed, because few plans contain rich documents. */
const require = createRequire(import.meta.url);

/** Converts a rich document to Markdown; content that Markdown cannot express becomes readable text. */
export function toMarkdown(document: unknown): string {
  const nodes = isObject(document) && Array.isArray(document.nodes) ? (document.nodes as RichNode[]) : [];
  const children: RootContent[] = nodes.flatMap(blocks);
  const { gfmToMarkdown } = require('mdast-util-gfm') as typeof import('mdast-util-gfm');
  const library = require('mdast-util-to-markdown') as typeof import('mdast-util-to-markdown');
  return library.toMarkdown(
    { type: 'root', children },
    { extensions: [gfmToMarkdown()], bullet: '-', emphasis: '_', rule: '-', fences: true, listItemIndent: 'one' },
  );
}

/** Maximum rounds of normalization. One is nearly always enough; unusual escapes need another. */
const MAX_ROUNDS = 10;

/** Normalizes Markdown through a rich document, so that texts with the same meaning become equal. */
export function normalizeMarkdown(markdown: string): string {
  let text = toMarkdown(toDocument(markdown));
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = toMarkdown(toDocument(text));
    if (next === text) {
      break;
    }
    text = next;
  }
  return text;
}

function blocks(node: RichNode): BlockContent[] {
  const type = node.type ?? node.object;
  if (type.startsWith('heading-')) {
    const depth = Math.min(6, Math.max(1, Number(type.slice('heading-'.length)) || 1)) as 1 | 2 | 3;
    return [{ type: 'heading', depth, children: withoutBreaks(inlines(node.nodes)) }];
  }
  switch (type) {
    case 'paragraph': {
      const children = inlines(node.nodes);
      return children.length === 0 ? [] : [{ type: 'paragraph', children }];
    }
    case 'list-ordered':
    case 'list-unordered':
    case 'list-tasks':
      return [list(node, type)];
    case 'blockquote':
    case 'hint':
      return [{ type: 'blockquote', children: below(node) }];
    case 'code': {
      const value = (node.nodes ?? []).map(textOf).join('\n');
      return [{ type: 'code', lang: stringOf(node.data?.syntax), value }];
    }
    case 'divider':
      return [{ type: 'thematicBreak' }];
    default:
      return unknownBlock(node);
  }
}

function below(node: RichNode): BlockContent[] {
  return (node.nodes ?? []).flatMap(blocks);
}

function list(node: RichNode, type: string): BlockContent {
  const tasks = type === 'list-tasks';
  const children = (node.nodes ?? []).map((item): ListItem => {
    const content = below(item);
    const tight = content.length <= 1 || (content.length === 2 && content[1]?.type === 'list');
    const checked = tasks ? item.data?.checked === true : null;
    return { type: 'listItem', spread: !tight, checked, children: content };
  });
  const start = typeof node.data?.start === 'number' ? node.data.start : 1;
  const ordered = type === 'list-ordered';
  const spread = children.some((item) => item.spread === true);
  return { type: 'list', ordered, start: ordered ? start : null, spread, children };
}

/** Converts a node without a Markdown form: to its blocks, else its text, else its target. */
function unknownBlock(node: RichNode): BlockContent[] {
  const children = node.nodes ?? [];
  if (children.some((child) => child.object === 'block')) {
    return children.flatMap(blocks);
  }
  const content = inlines(node.object === 'text' || node.object === 'inline' ? [node] : children);
  const fallback = content.length > 0 ? content : wordsOf(node);
  return fallback.length === 0 ? [] : [{ type: 'paragraph', children: fallback }];
}

function inlines(nodes: readonly RichNode[] = []): PhrasingContent[] {
  const known = nodes.map((node) => (node.object === 'text' ? textNode((node.leaves ?? []).map(knownMarks)) : node));
  return joinTexts(known).flatMap((node) => (node.object === 'text' ? nested(node.leaves ?? [], 0) : inline(node)));
}

function knownMarks(leaf: RichLeaf): RichLeaf {
  const names = (leaf.marks ?? []).map((mark) => mark.type).filter(isMarkName);
  return leafOf(leaf.text, new Set(names));
}

function inline(node: RichNode): PhrasingContent[] {
  const url = urlOf(node);
  if (node.type === 'link' && url !== null) {
    return [{ type: 'link', url, children: withoutBreaks(inlines(node.nodes)) as never }];
  }
  const content = inlines(node.nodes);
  return content.length > 0 ? content : wordsOf(node);
}

/** Returns the target of a node, or the text of its data. */
function wordsOf(node: RichNode): PhrasingContent[] {
  const url = urlOf(node);
  if (url !== null) {
    return [{ type: 'link', url, children: [{ type: 'text', value: url }] }];
  }
  const data = node.data ?? {};
  const ref = isObject(data.ref) ? data.ref : {};
  const candidates = [data.formula, data.expression, data.title, data.code, data.text, data.label];
  const words = [...candidates, ref.user, ref.page, ref.space, ref.file].map(stringOf).find((word) => word !== null);
  return words === undefined || words === null ? [] : [{ type: 'text', value: words }];
}

function urlOf(node: RichNode): string | null {
  const ref = node.data?.ref;
  return stringOf(isObject(ref) ? ref.url : undefined) ?? stringOf(node.data?.url);
}

function stringOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Converts leaves to nested marks, the outermost first; `depth` is the number of marks already applied. */
function nested(leaves: readonly RichLeaf[], depth: number): PhrasingContent[] {
  const mark = MARKS[depth];
  if (mark === undefined || mark === 'code') {
    return leaves.flatMap(plain);
  }
  const result: PhrasingContent[] = [];
  for (let start = 0; start < leaves.length; ) {
    const marked = has(leaves[start], mark);
    let end = start + 1;
    while (end < leaves.length && has(leaves[end], mark) === marked) {
      end += 1;
    }
    const children = nested(leaves.slice(start, end), depth + 1);
    append(result, marked ? [{ type: WRAPPERS[mark], children }] : children);
    start = end;
  }
  return result;
}

function has(leaf: RichLeaf | undefined, mark: MarkName): boolean {
  return leaf?.marks.some((other) => other.type === mark) === true;
}

const WRAPPERS = { bold: 'strong', italic: 'emphasis', strikethrough: 'delete' } as const;

function plain(leaf: RichLeaf): PhrasingContent[] {
  if (has(leaf, 'code')) {
    return [{ type: 'inlineCode', value: leaf.text.replaceAll('\n', ' ') }];
  }
  const lines = leaf.text
    .split('\n')
    .map((line): PhrasingContent[] => (line === '' ? [] : [{ type: 'text', value: line }]));
  return lines.flatMap((line, index) => (index === 0 ? line : [{ type: 'break' }, ...line]));
}

function withoutBreaks(nodes: readonly PhrasingContent[]): PhrasingContent[] {
  return nodes.map((node) => (node.type === 'break' ? { type: 'text', value: ' ' } : node));
}
