import { BLOCK_NAMES, type BlockName, type LineName } from '../config/cluster-template.ts';
import { isObject } from '../core/json.ts';
import { parseTemplate } from '../core/template.ts';
import { toDocument } from '../platform/rich-document.ts';
import { plainText, textNode, textOf, tidyLeaves } from '../platform/rich-leaves.ts';
import type { RichLeaf, RichNode } from '../platform/rich-node.ts';
import { oneLine, webUrl } from './line.ts';

/** What stands for the names that are a line of text. Whatever is in it stays text. */
export type LineValues = Readonly<Record<LineName, string>>;
/** What stands for the names that are blocks. */
export type BlockValues = Readonly<Record<BlockName, readonly RichNode[]>>;

/** Around the number of a name, from the private use area: letters to Markdown, and in no value, as none is read again. */
const [OPEN, CLOSE] = ['\uF8F0', '\uF8F1'];
const TOKEN = /\uF8F0(\d+)\uF8F1/g;
const ONE_TOKEN = /^\uF8F0(\d+)\uF8F1$/;

/**
 * A Markdown template with its names filled in, as blocks of a rich document. The Markdown is read before the values
 * are there, so that no value is read as Markdown or HTML. A paragraph that is a block's name alone becomes the
 * blocks; inside a line their text stands.
 */
export function fillTemplate(template: string, lines: LineValues, blocks: BlockValues): readonly RichNode[] {
  const names: string[] = [];
  const marked = parseTemplate(template).parts.map(({ text, name }) =>
    text === undefined ? `${OPEN}${names.push(name) - 1}${CLOSE}` : text.replaceAll(/[\uF8F0\uF8F1]/g, ''),
  );
  const filler = new Filler(names, lines, blocks);
  return toDocument(marked.join('')).nodes.flatMap((node) => filler.block(node));
}

class Filler {
  readonly #names: readonly string[];
  readonly #lines: LineValues;
  readonly #blocks: BlockValues;

  constructor(names: readonly string[], lines: LineValues, blocks: BlockValues) {
    this.#names = names;
    this.#lines = lines;
    this.#blocks = blocks;
  }

  /** A block with its values; what a value that is empty leaves without any content is left out. */
  block(node: RichNode): readonly RichNode[] {
    const alone = node.type === 'paragraph' ? this.#aloneIn(node) : null;
    if (alone !== null) {
      return this.#blocks[alone];
    }
    if (node.isVoid === true || node.nodes === undefined) {
      return [node];
    }
    const isOfBlocks = node.nodes.some(({ object }) => object === 'block');
    const nodes = isOfBlocks
      ? node.nodes.flatMap((child) => this.block(child))
      : joined(node.nodes.flatMap((child) => this.inline(child, false)));
    if (nodes.length === 0 && node.type !== 'code-line') {
      return [];
    }
    const data = node.data === undefined ? {} : { data: this.#data(node.data) };
    return [{ ...node, ...data, nodes: nodes.length === 0 ? [plainText('')] : nodes }];
  }

  inline(node: RichNode, isInLink: boolean): readonly RichNode[] {
    if (node.object === 'text') {
      return this.#text(node.leaves ?? [], isInLink);
    }
    const inside = joined((node.nodes ?? []).flatMap((child) => this.inline(child, isInLink || node.type === 'link')));
    const ref = node.data?.ref;
    if (node.type !== 'link' || !isObject(ref) || typeof ref.url !== 'string') {
      return [{ ...node, nodes: inside }];
    }
    const url = this.#address(ref.url);
    return url === null ? inside : inside.length === 0 ? [] : [linkTo(url, inside)];
  }

  /** The block's name that is all of a paragraph. */
  #aloneIn(node: RichNode): BlockName | null {
    const name = this.#names[Number(ONE_TOKEN.exec(textOf(node).trim())?.[1] ?? -1)];
    return BLOCK_NAMES.find((block) => block === name) ?? null;
  }

  /** Leaves with their values; an address that stands in the open becomes a link. */
  #text(leaves: readonly RichLeaf[], isInLink: boolean): readonly RichNode[] {
    return leaves.flatMap((leaf) => {
      const isCode = leaf.marks.some(({ type }) => type === 'code');
      return leaf.text
        .split(/(\uF8F0\d+\uF8F1)/)
        .map((piece): RichNode | null => {
          const text = this.#fill(piece);
          const token = ONE_TOKEN.exec(piece);
          const url = token !== null && this.#names[Number(token[1])] === 'url' ? webUrl(text) : null;
          const filled = text === '' ? null : textNode([{ ...leaf, text }]);
          return filled !== null && url !== null && !isInLink && !isCode ? linkTo(url, [filled]) : filled;
        })
        .filter((piece) => piece !== null);
    });
  }

  #fill(text: string, encode: (value: string) => string = (value) => value): string {
    return text.replaceAll(TOKEN, (_, index: string) => encode(this.#valueOf(this.#names[Number(index)] ?? '')));
  }

  #valueOf(name: string): string {
    const block = BLOCK_NAMES.find((known) => known === name);
    return block === undefined
      ? (this.#lines[name as LineName] ?? '')
      : oneLine(this.#blocks[block].map(plainOf).join(' '));
  }

  /** Where a link leads; null where its values make no address of it. */
  #address(url: string): string | null {
    if (!url.includes(OPEN)) {
      return url;
    }
    return webUrl(ONE_TOKEN.test(url) ? this.#fill(url) : this.#fill(url, encodeURIComponent));
  }

  #data(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const filled = Object.entries(data).map(([key, value]) => [
      key,
      typeof value === 'string' ? this.#fill(value) : value,
    ]);
    return Object.fromEntries(filled);
  }
}

/** A link that is one to the platform. */
export function linkTo(url: string, nodes: readonly RichNode[]): RichNode {
  return { object: 'inline', type: 'link', data: { ref: { kind: 'url', url } }, nodes };
}

/** Neighbouring texts as one. */
export function joined(nodes: readonly RichNode[]): readonly RichNode[] {
  const result: RichNode[] = [];
  for (const node of nodes) {
    const last = result.at(-1);
    if (last?.object === 'text' && node.object === 'text') {
      result[result.length - 1] = textNode([...(last.leaves ?? []), ...(node.leaves ?? [])]);
    } else {
      result.push(node);
    }
  }
  return result.map((node) => (node.object === 'text' ? textNode(tidyLeaves(node.leaves ?? [])) : node));
}

/** The text of blocks with a space between them. */
function plainOf(node: RichNode): string {
  const nodes = node.nodes ?? [];
  return nodes.some(({ object }) => object === 'block') ? nodes.map(plainOf).join(' ') : textOf(node);
}
