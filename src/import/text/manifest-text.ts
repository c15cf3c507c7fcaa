/** The text of one manifest, with an index of its YAML nodes by source position. */
import { isMap, isScalar, isSeq, type ParsedNode, parseAllDocuments, visit, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Address } from '../../core/address.ts';
import type { Declared, Source } from '../../core/resource.ts';
import { hasComments } from './patch.ts';

/** Mapping or list, with the index of one of its entries. */
export interface EntryLocation<T extends YAMLMap.Parsed | YAMLSeq.Parsed> {
  readonly holder: T;
  readonly index: number;
}

/** Manifest text; parsed and indexed once, on first use. */
export class ManifestText {
  readonly text: string;
  #starts: readonly number[] | null = null;
  #index: Index | null = null;
  readonly #commented = new Map<YAMLMap.Parsed | YAMLSeq.Parsed, boolean>();

  constructor(text: string) {
    this.text = text;
  }

  /** Returns the offset of a line and column, both from 1. A byte order mark takes no column. */
  offsetAt({ line, column }: Pick<Source, 'line' | 'column'>): number {
    this.#starts ??= lineStarts(this.text);
    return (this.#starts[line - 1] ?? this.text.length) + column - 1;
  }

  /** Returns the list with an item that begins at an offset. */
  itemAt(offset: number): EntryLocation<YAMLSeq.Parsed> | undefined {
    return this.#indexed().items.get(offset);
  }

  /** Returns the innermost mapping with a key that begins at an offset. */
  keyAt(offset: number): EntryLocation<YAMLMap.Parsed> | undefined {
    return this.#indexed().keys.get(offset);
  }

  /** Returns the mapping that begins at an offset as a list item, or that is the value of the key there. */
  mappingAt(offset: number): YAMLMap.Parsed | null {
    const item = this.itemAt(offset);
    const own = item?.holder.items[item.index];
    if (isMap(own)) {
      return own as YAMLMap.Parsed;
    }
    return this.#indexed().values.get(offset) ?? null;
  }

  /** Returns true if a list or mapping contains a comment. */
  hasComments(node: YAMLMap.Parsed | YAMLSeq.Parsed): boolean {
    const known = this.#commented.get(node) ?? hasComments(node);
    this.#commented.set(node, known);
    return known;
  }

  #indexed(): Index {
    this.#index ??= indexOf(this.text);
    return this.#index;
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [text.startsWith('\ufeff') ? 1 : 0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

interface Index {
  readonly items: Map<number, EntryLocation<YAMLSeq.Parsed>>;
  readonly keys: Map<number, EntryLocation<YAMLMap.Parsed>>;
  /** Mappings by the offset of the outermost key whose value they are. */
  readonly values: Map<number, YAMLMap.Parsed>;
}

function indexOf(text: string): Index {
  const index: Index = { items: new Map(), keys: new Map(), values: new Map() };
  const documents = parseAllDocuments(text, { logLevel: 'silent', stringKeys: true, prettyErrors: false });
  for (const { contents } of 'empty' in documents ? [] : documents) {
    visit(contents as ParsedNode | null, {
      Seq: (_key, node) => indexList(index, node as YAMLSeq.Parsed),
      Map: (_key, node) => indexMapping(index, node as YAMLMap.Parsed),
    });
  }
  return index;
}

function indexList({ items }: Index, holder: YAMLSeq.Parsed): void {
  for (const [index, item] of holder.items.entries()) {
    if (isMap(item) && item.range && !items.has(item.range[0])) {
      items.set(item.range[0], { holder, index });
    }
  }
}

function indexMapping({ keys, values }: Index, holder: YAMLMap.Parsed): void {
  for (const [index, { key, value }] of holder.items.entries()) {
    const offset = key.range?.[0];
    if (offset === undefined) {
      continue;
    }
    if (isScalar(key)) {
      keys.set(offset, { holder, index });
    }
    if (isMap(value) && !isSeq(value) && !values.has(offset)) {
      values.set(offset, value as YAMLMap.Parsed);
    }
  }
}

/** Positions of the declarations of a file, in the order of the text. */
export class DeclaredPlaces {
  readonly #offsets: readonly number[];
  readonly #addresses: readonly Address[];

  constructor(text: ManifestText, declared: readonly Declared[]) {
    const places = declared
      .map(({ address, source }) => ({ address, offset: text.offsetAt(source) }))
      .toSorted((a, b) => a.offset - b.offset);
    this.#offsets = places.map(({ offset }) => offset);
    this.#addresses = places.map(({ address }) => address);
  }

  /** Returns the resources that are declared in a part of the text. */
  within(from: number, to: number): readonly Address[] {
    const at = (offset: number) => {
      let [low, high] = [0, this.#offsets.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((this.#offsets[middle] ?? 0) < offset) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    };
    return this.#addresses.slice(at(from), at(to));
  }
}
