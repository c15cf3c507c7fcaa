/** Nodes of rich documents, their texts and links. */
import { append } from '../../core/lists.ts';

/** Any node of a rich document. Unknown kinds are kept as received. Source: docs/platform-notes.md#rich-documents */
export interface RichNode {
  readonly object: string;
  readonly type?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly isVoid?: boolean;
  readonly nodes?: readonly RichNode[];
  readonly leaves?: readonly RichLeaf[];
  readonly [field: string]: unknown;
}

/** Text with the same marks throughout. A newline is a line break. */
export interface RichLeaf {
  readonly object: 'leaf';
  readonly text: string;
  readonly marks: readonly RichMark[];
}

interface RichMark {
  readonly object: 'mark';
  readonly type: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Rich document, the format of the platform's descriptions and instructions. */
export interface RichDocument {
  readonly object: 'document';
  readonly data: Record<string, unknown>;
  readonly nodes: RichNode[];
}

/** Marks that Markdown has, from the outermost to the innermost. */
export const MARKS = ['bold', 'italic', 'strikethrough', 'code'] as const;
export type MarkName = (typeof MARKS)[number];

export function isMarkName(name: string): name is MarkName {
  return (MARKS as readonly string[]).includes(name);
}

/** Creates a leaf with these marks, in canonical order. */
export function leafOf(text: string, marks: ReadonlySet<MarkName>): RichLeaf {
  const list: RichMark[] = MARKS.filter((name) => marks.has(name)).map((type) => ({ object: 'mark', type }));
  return { object: 'leaf', text, marks: list };
}

export function textNode(leaves: readonly RichLeaf[]): RichNode {
  return { object: 'text', leaves };
}

/** Creates a text without marks. */
export function plainText(text: string): RichNode {
  return textNode([leafOf(text, new Set())]);
}

export function paragraph(nodes: readonly RichNode[]): RichNode {
  return { object: 'block', type: 'paragraph', nodes };
}

/** Merges adjacent texts and normalizes them. */
export function joinTexts(nodes: readonly RichNode[]): RichNode[] {
  const result: RichNode[] = [];
  let leaves: RichLeaf[] = [];
  const flush = () => {
    const tidy = normalizeLeaves(leaves);
    if (tidy.length > 0) {
      result.push(textNode(tidy));
    }
    leaves = [];
  };
  for (const node of nodes) {
    if (node.object === 'text') {
      append(leaves, node.leaves ?? []);
    } else {
      flush();
      result.push(node);
    }
  }
  flush();
  return result;
}

function marksOf(leaf: RichLeaf): string {
  return leaf.marks.map((mark) => mark.type).join(' ');
}

/**
 * Normalizes leaves to what Markdown can express: space at the edge of a marked leaf loses the marks, neighbors with
 * the same marks are merged, and empty leaves are removed.
 */
function normalizeLeaves(leaves: readonly RichLeaf[]): RichLeaf[] {
  const result: RichLeaf[] = [];
  for (const leaf of leaves.flatMap(freeEdges)) {
    const last = result.at(-1);
    if (leaf.text === '') {
      continue;
    }
    if (last !== undefined && marksOf(last) === marksOf(leaf)) {
      result[result.length - 1] = { ...last, text: last.text + leaf.text };
    } else {
      result.push(leaf);
    }
  }
  return result;
}

function freeEdges(leaf: RichLeaf): RichLeaf[] {
  if (leaf.marks.length === 0) {
    return [leaf];
  }
  const core = leaf.text.trim();
  const start = core === '' ? leaf.text.length : leaf.text.indexOf(core);
  const plain = (text: string) => leafOf(text, new Set());
  return [
    plain(leaf.text.slice(0, start)),
    { ...leaf, text: core },
    plain(core === '' ? '' : leaf.text.slice(start + core.length)),
  ];
}

/** Returns all text below a node, without marks. */
export function textOf(node: RichNode): string {
  const own = (node.leaves ?? []).map((leaf) => leaf.text).join('');
  return own + (node.nodes ?? []).map(textOf).join('');
}

/** Allowed schemes of links. Others run code, contain data, or are unknown to most readers. */
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:']);

/** An email address that Markdown reads as one in angle brackets, which is how it is written. */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*(?:\?|$)/i;

/** Longest URL of a link, in characters. Source: docs/platform-notes.md#limits */
const MAX_LENGTH = 2048;

/**
 * Creates a link with this content. An address that is relative or has another scheme, such as `javascript:`, does not
 * become a link: the content is kept, followed by the address in brackets. Empty content is replaced by the address.
 */
export function linkTo(url: string, inside: readonly RichNode[]): RichNode[] {
  const shown = url.trim();
  const address = linkable(shown);
  if (address !== null) {
    const nodes = inside.length === 0 ? [plainText(shown)] : inside;
    return [{ object: 'inline', type: 'link', data: { ref: { kind: 'url', url: address } }, nodes }];
  }
  if (inside.length === 0) {
    return shown === '' ? [] : [plainText(shown)];
  }
  const isShown = inside
    .map(textOf)
    .join('')
    .includes(shown.replace(/^mailto:/i, ''));
  return isShown ? [...inside] : [...inside, plainText(` (${shown})`)];
}

/** Returns the address, with invalid characters encoded; null if it cannot be a link. */
function linkable(url: string): string | null {
  const parsed = URL.parse(url);
  if (parsed === null || !SCHEMES.has(parsed.protocol)) {
    return null;
  }
  if (parsed.protocol === 'mailto:' && !EMAIL.test(parsed.href.slice('mailto:'.length))) {
    return null;
  }
  const address = /^[!-~]+$/.test(url) ? url : parsed.href;
  return address.length > MAX_LENGTH ? null : address;
}
