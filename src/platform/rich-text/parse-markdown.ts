import { createRequire } from 'node:module';
import type { Nodes, Root } from 'mdast';

/** Loaded when they are first needed: few plans hold rich documents. */
const require = createRequire(import.meta.url);

/** Markers of quotes and lists that one line may begin with. */
const DEEPEST = 50;
/** Columns that a marker may be indented by, which nests as well. */
const WIDEST = 150;
/** Characters of one paragraph, heading or cell that may begin or end emphasis or a link. */
const MOST_DELIMITERS = 500;

const CONTAINERS = ['blockQuote', 'list'];
const DELIMITED = [
  ...['attention', 'labelStartImage', 'labelStartLink', 'labelEnd', 'strikethrough'],
  ...['gfmFootnoteCall', 'gfmPotentialFootnoteCall'],
];

/**
 * Markdown (GitHub's) as its syntax tree. The time this takes grows with the square of how deep or how tangled a text
 * is, and nobody writes so. Lists and quotes stay text where a line begins with more than 50 of their markers or
 * indents one by more than 150 columns, and so do emphasis and links where a paragraph, heading or cell has more than
 * 500 characters that may begin or end them.
 */
export function parseMarkdown(markdown: string): Root {
  const text = markdown.toWellFormed().replaceAll(/\r\n?/g, '\n');
  const disabled = isDeep(text) ? CONTAINERS : [];
  if (delimiters(text) > MOST_DELIMITERS) {
    const literal = parse(text, [...disabled, ...DELIMITED]);
    if (isTangled(literal)) {
      return literal;
    }
  }
  return parse(text, disabled);
}

function parse(text: string, disabled: readonly string[]): Root {
  const { fromMarkdown } = require('mdast-util-from-markdown') as typeof import('mdast-util-from-markdown');
  const { gfmFromMarkdown } = require('mdast-util-gfm') as typeof import('mdast-util-gfm');
  const { gfm } = require('micromark-extension-gfm') as typeof import('micromark-extension-gfm');
  // The transforms make links of addresses that are escaped: what is written to stay text has to stay it.
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

/** Whether some text that is parsed as one is. */
function isTangled(node: Nodes): boolean {
  if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'tableCell') {
    return delimitersIn(node) > MOST_DELIMITERS;
  }
  return 'children' in node && node.children.some(isTangled);
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
