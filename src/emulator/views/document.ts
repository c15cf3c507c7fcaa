import { isObject } from '../../core/json.ts';

/** Rich documents of what the emulator itself writes (supplement, section 9). */

function text(words: string): unknown {
  return { object: 'text', leaves: [{ object: 'leaf', text: words, marks: [] }] };
}

export function paragraph(words: string): unknown {
  return { object: 'block', type: 'paragraph', nodes: [text(words)] };
}

export function linkParagraph(words: string, url: string): unknown {
  const link = { object: 'inline', type: 'link', data: { ref: { kind: 'url', url } }, nodes: [text(words)] };
  return { object: 'block', type: 'paragraph', nodes: [link] };
}

export function bullets(items: readonly string[]): unknown {
  const nodes = items.map((item) => ({ object: 'block', type: 'list-item', nodes: [paragraph(item)] }));
  return { object: 'block', type: 'list-unordered', nodes };
}

export function richDocument(nodes: readonly unknown[]): unknown {
  return { object: 'document', data: {}, nodes };
}

/** The words of a rich document, its blocks of text apart by a blank line. */
export function textOfDocument(node: unknown): string {
  return isObject(node) ? blocksOf(node).join('\n\n') : '';
}

function blocksOf(node: Record<string, unknown>): string[] {
  const nodes = Array.isArray(node.nodes) ? node.nodes.filter(isObject) : [];
  const isText = nodes.some((child) => child.object !== 'block');
  return isText ? [nodes.map(wordsOf).join('')] : nodes.flatMap(blocksOf);
}

function wordsOf(node: Record<string, unknown>): string {
  const leaves = Array.isArray(node.leaves) ? node.leaves.filter(isObject).map((leaf) => String(leaf.text)) : [];
  const nodes = Array.isArray(node.nodes) ? node.nodes.filter(isObject).map(wordsOf) : [];
  return [...leaves, ...nodes].join('');
}
