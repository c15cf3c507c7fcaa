import type { RichLeaf, RichMark, RichNode } from './node.ts';

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

function marksOf(leaf: RichLeaf): string {
  return leaf.marks.map((mark) => mark.type).join(' ');
}

/**
 * Normalizes leaves to what Markdown can express: space at the edge of a marked leaf loses the marks, neighbors with
 * the same marks are merged, and empty leaves are removed.
 */
export function normalizeLeaves(leaves: readonly RichLeaf[]): RichLeaf[] {
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
