import { BLOCK_NAMES, type BlockName, type LineName } from '../../config/cluster-template.ts';
import { isObject } from '../../core/json.ts';
import { parseTemplate } from '../../core/text/template.ts';
import { toDocument } from '../../platform/rich-text/document.ts';
import { normalizeLeaves, plainText, textNode, textOf } from '../../platform/rich-text/leaves.ts';
import { linkTo } from '../../platform/rich-text/links.ts';
import type { RichLeaf, RichNode } from '../../platform/rich-text/node.ts';
import { oneLine } from '../model/text-sanitizing.ts';

/** Values of the variables that are a line of text. Their content is never read as Markdown. */
export type LineValues = Readonly<Record<LineName, string>>;
/** Values of the variables that are blocks. */
export type BlockValues = Readonly<Record<BlockName, readonly RichNode[]>>;

/** Prefix of a variable inside a link address, because a token alone is not a valid address. */
const ADDRESS = 'https://template.invalid/';
/** Matches the text right before the address of a link. */
const BEFORE_ADDRESS = /(?:\]\(\s*|\]:\s*)<?$/;

/**
 * Fills in a Markdown template and returns the blocks of a rich document. The Markdown is parsed before values are
 * inserted, so no value is read as Markdown or HTML. A paragraph that contains only the name of a block variable
 * becomes its blocks; within a line, their text is inserted.
 */
export function fillTemplate(template: string, lines: LineValues, blocks: BlockValues): readonly RichNode[] {
  const names: string[] = [];
  const tag = unusedWord(template);
  let before = '';
  const marked = parseTemplate(template).parts.map(({ text, name }) => {
    const isAddress = BEFORE_ADDRESS.test(before);
    before = text ?? '';
    return text ?? `${isAddress ? ADDRESS : ''}${tag}${names.push(name) - 1}z`;
  });
  const filler = new Filler(tag, names, lines, blocks);
  return toDocument(marked.join('')).nodes.flatMap((node) => filler.block(node));
}

/**
 * Returns a word of letters that the template does not contain. Markdown treats it as plain text, also inside an
 * address.
 */
function unusedWord(template: string): string {
  let word = 'octavoname';
  while (template.includes(word)) {
    word += 'x';
  }
  return word;
}

class Filler {
  readonly #names: readonly string[];
  readonly #lines: LineValues;
  readonly #blocks: BlockValues;
  /** Pattern of a variable's token. */
  readonly #token: string;

  constructor(tag: string, names: readonly string[], lines: LineValues, blocks: BlockValues) {
    this.#token = `(?:${ADDRESS})?${tag}(\\d+)z`;
    this.#names = names;
    this.#lines = lines;
    this.#blocks = blocks;
  }

  /** Fills a block. Drops a block that empty values leave without content. */
  block(node: RichNode): readonly RichNode[] {
    const alone = node.type === 'paragraph' ? this.#aloneIn(textOf(node).trim()) : null;
    const blocks = BLOCK_NAMES.find((name) => name === alone);
    if (blocks !== undefined) {
      return this.#blocks[blocks];
    }
    if (node.isVoid === true || node.nodes === undefined) {
      return [node];
    }
    const isOfBlocks = node.nodes.some(({ object }) => object === 'block');
    const nodes = isOfBlocks
      ? node.nodes.flatMap((child) => this.block(child))
      : joined(node.nodes.flatMap((child) => this.#inline(child)));
    if (nodes.length === 0 && node.type !== 'code-line') {
      return [];
    }
    const data = node.data === undefined ? {} : { data: this.#data(node.data) };
    return [{ ...node, ...data, nodes: nodes.length === 0 ? [plainText('')] : nodes }];
  }

  #inline(node: RichNode): readonly RichNode[] {
    if (node.object === 'text') {
      return (node.leaves ?? []).flatMap((leaf) => this.#leaf(leaf));
    }
    const ref = node.data?.ref;
    if (node.type !== 'link' || !isObject(ref) || typeof ref.url !== 'string') {
      return [node];
    }
    const leaves = (node.nodes ?? []).flatMap((child) => child.leaves ?? []);
    const filled = leaves.map((leaf) => ({ ...leaf, text: this.#fill(leaf.text) })).filter(({ text }) => text !== '');
    const alone = this.#aloneIn(ref.url);
    const url = alone === null ? this.#fill(ref.url, encodeURIComponent) : this.#valueOf(alone);
    return linkTo(url, filled.length === 0 ? [] : joined([textNode(filled)]));
  }

  /** Fills a leaf. An address outside of code becomes a link. */
  #leaf(leaf: RichLeaf): readonly RichNode[] {
    const addresses = this.#names.flatMap((name, index) => (name === 'url' ? [index] : []));
    const isCode = leaf.marks.some(({ type }) => type === 'code');
    const token = this.#token.replace('(\\d+)', `(?:${addresses.join('|')})`);
    const pieces = addresses.length === 0 || isCode ? [leaf.text] : leaf.text.split(new RegExp(`(${token})`));
    return pieces.flatMap((piece, index) => {
      const text = this.#fill(piece);
      return text === '' ? [] : index % 2 === 1 ? linkTo(text, []) : [textNode([{ ...leaf, text }])];
    });
  }

  /** Returns the variable that makes up a whole text; null if the text contains anything else. */
  #aloneIn(text: string): string | null {
    const match = new RegExp(`^${this.#token}$`).exec(text);
    return match === null ? null : (this.#names[Number(match[1])] ?? null);
  }

  #fill(text: string, encode: (value: string) => string = (value) => value): string {
    return text.replaceAll(new RegExp(this.#token, 'g'), (_, index: string) =>
      encode(this.#valueOf(this.#names[Number(index)] ?? '')),
    );
  }

  #valueOf(name: string): string {
    const block = BLOCK_NAMES.find((known) => known === name);
    return block === undefined
      ? (this.#lines[name as LineName] ?? '')
      : oneLine(this.#blocks[block].map(plainOf).join(' '));
  }

  #data(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const filled = Object.entries(data).map(([key, value]) => [
      key,
      typeof value === 'string' ? this.#fill(value) : value,
    ]);
    return Object.fromEntries(filled);
  }
}

/** Joins adjacent texts. */
function joined(nodes: readonly RichNode[]): readonly RichNode[] {
  const result: RichNode[] = [];
  for (const node of nodes) {
    const last = result.at(-1);
    if (last?.object === 'text' && node.object === 'text') {
      result[result.length - 1] = textNode([...(last.leaves ?? []), ...(node.leaves ?? [])]);
    } else {
      result.push(node);
    }
  }
  return result.map((node) => (node.object === 'text' ? textNode(normalizeLeaves(node.leaves ?? [])) : node));
}

/** Returns the text of blocks, separated by spaces. */
function plainOf(node: RichNode): string {
  const nodes = node.nodes ?? [];
  return nodes.some(({ object }) => object === 'block') ? nodes.map(plainOf).join(' ') : textOf(node);
}
