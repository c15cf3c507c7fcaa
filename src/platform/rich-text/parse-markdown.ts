import { createRequire } from 'node:module';
import type { Nodes, Root } from 'mdast';

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
  ...['attention', 'labelStartImage', 'labelStartLink', 'labelEnd', 'strikethrough'],
  ...['gfmFootnoteCall', 'gfmPotentialFootnoteCall'],
];

/**
 * Parses GitHub's Markdown. The time is quadratic in the nesting of a text, so extreme nesting is not parsed: lists and
 * quotes stay text if a line begins with more than 50 of their markers or indents one by more than 150 columns, and so
 * do emphasis and links if a paragraph, heading or cell has more than 500 characters that can begin or end them.
 */
export function parseMarkdown(markdown: string): Root {
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
