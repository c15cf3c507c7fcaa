/**
 * Markdown of the emulator's pages: GitHub Flavored Markdown, with two extensions in the syntax of the platform's
 * editor: `{% include "TITLE" %}` on its own line includes a reusable content, and `<code class="expression">…</code>`
 * is an expression.
 */
import { createRequire } from 'node:module';
import type { Nodes, Root } from 'mdast';

/** Parsers are loaded on first use, since most runs do not write pages. */
const require = createRequire(import.meta.url);

export const INCLUDE = /\{%\s*include\s+"([^"]+)"\s*%\}/g;

export const EXPRESSION = /<code class="expression">([^<]*)<\/code>/g;

/** Parses Markdown to a syntax tree. */
export function parseMarkdown(text: string): Root {
  const { fromMarkdown } = require('mdast-util-from-markdown') as typeof import('mdast-util-from-markdown');
  const { gfmFromMarkdown } = require('mdast-util-gfm') as typeof import('mdast-util-gfm');
  const { gfm } = require('micromark-extension-gfm') as typeof import('micromark-extension-gfm');
  return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: gfmFromMarkdown() });
}

/** Yields a node and all nodes below it, in the order of the text. */
export function* walkNodes(node: Nodes): Iterable<Nodes> {
  yield node;
  if ('children' in node) {
    for (const child of node.children) {
      yield* walkNodes(child);
    }
  }
}

/** Returns the plain text of a node. */
export function getText(node: Nodes): string {
  if ('value' in node) {
    return node.type === 'html' ? '' : node.value;
  }
  return 'children' in node ? node.children.map(getText).join('') : '';
}

/** Returns the anchor of a heading. */
export function toAnchor(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

/** Returns the anchors of all headings. */
export function findAnchors(tree: Root): Set<string> {
  const headings = [...walkNodes(tree)].filter((node) => node.type === 'heading');
  return new Set(headings.map((heading) => toAnchor(getText(heading))));
}

/** Returns the start and end of a node in the text. */
export function getSpan(node: Nodes): readonly [start: number, end: number] {
  return [node.position?.start.offset ?? 0, node.position?.end.offset ?? 0];
}

/** A range of a text and its replacement. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Returns the text with all replacements, which must not overlap. */
export function applyReplacements(text: string, replacements: readonly Replacement[]): string {
  return replacements
    .toSorted((a, b) => b.start - a.start)
    .reduce((sum, { start, end, text: instead }) => sum.slice(0, start) + instead + sum.slice(end), text);
}

/** Returns the matches of a pattern, except in code. */
export function matchesOutsideCode(text: string, pattern: RegExp): { start: number; end: number; inner: string }[] {
  const isThere = text.search(pattern) !== -1;
  const code = isThere
    ? [...walkNodes(parseMarkdown(text))]
        .filter((node) => node.type === 'code' || node.type === 'inlineCode')
        .map(getSpan)
    : [];
  return [...text.matchAll(pattern)]
    .map((match) => ({ start: match.index, end: match.index + match[0].length, inner: match[1] ?? '' }))
    .filter(({ start }) => code.every(([from, to]) => start < from || start >= to));
}
