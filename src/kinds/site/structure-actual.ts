/** The structure of a site on the platform: the parts that it shows, and the entries that declare them. */
import type { Json } from '../../core/json.ts';
import { type Actual, idRef, isIdRef } from '../../core/resource.ts';
import type { SiteStructure, StructureItem } from '../../platform/operations/resources.ts';
import type { DescribeContext, Described } from '../model/manifest.ts';
import { itemType, type StructurePart } from './part.ts';

/** Parts of a site, in display order, and the default part. */
export interface ObservedStructure {
  readonly parts: readonly Actual[];
  readonly first: Json;
}

/**
 * Reads the parts of a site from its structure. Items that no part describes, such as external links, are skipped:
 * they keep their places, and the others keep their order around them. Source: docs/platform-notes.md#external-links
 */
export function observeStructure(
  parts: readonly StructurePart[],
  site: string,
  { structure }: SiteStructure,
): ObservedStructure {
  const found: Actual[] = [];
  let first: Json = null;
  const read = (items: readonly StructureItem[], holder: { id: string; part: StructurePart } | null): void => {
    const held = parts.filter(({ heldBy }) => heldBy.includes(holder?.part.kind.name ?? 'site'));
    // Items of a list that can contain only one kind do not always have a type.
    const only = held.length === 1 && holder !== null ? held[0] : undefined;
    for (const [index, item] of items.entries()) {
      const part = only ?? held.find(({ kind }) => item.object === itemType(kind.name));
      if (part === undefined) {
        continue;
      }
      const id = String(item.id);
      const facts = part.facts?.(item) ?? null;
      found.push({
        kind: part.kind.name,
        id,
        title: part.title?.(item) ?? String(item.title ?? ''),
        fields: {
          ...part.table.observe(item),
          [part.holder]: holder && idRef(holder.id, holder.part.kind.name),
        },
        within: site,
        place: { list: holder?.id ?? site, index },
        ...(facts === null ? {} : { facts }),
      });
      if (item.default === true && holder?.part.holds?.isScope !== true) {
        first = idRef(id, part.kind.name);
      }
      read(part.holds?.items(item) ?? [], { id, part });
    }
  };
  read(structure, null);
  return { parts: found, first };
}

/** Describes the parts of a site. A part that cannot be declared is left out, with a note on its holder. */
export class StructureDescriber {
  readonly #parts: readonly StructurePart[];
  readonly #context: DescribeContext;
  /** Keys of the described parts, by id. */
  readonly #described = new Map<string, string>();

  constructor(parts: readonly StructurePart[], context: DescribeContext) {
    this.#parts = parts;
    this.#context = context;
  }

  structure(site: Actual): readonly Described[] {
    const inside = this.#context.partsOf(site);
    const plain = inside.filter((actual) => this.#partOf(actual)?.isPlain === true);
    if (plain.length === 0) {
      return this.#items(site, inside);
    }
    if (plain.length < inside.length) {
      this.#context.note(site, 'its section groups are left out: they are not visible while the site has no sections');
    }
    return this.#items(site, plain);
  }

  /** Returns the key of a part that a field refers to; undefined if the part was not described. */
  keyOf(reference: Json | undefined): string | undefined {
    return isIdRef(reference) ? this.#described.get(reference.$id) : undefined;
  }

  #partOf(actual: Actual): StructurePart | undefined {
    return this.#parts.find(({ kind }) => kind.name === actual.kind);
  }

  #items(holder: Actual, inside: readonly Actual[]): readonly Described[] {
    return inside.flatMap((actual) => {
      const part = this.#partOf(actual);
      const item = part === undefined ? null : this.#item(part, actual, holder);
      return item === null ? [] : [item];
    });
  }

  #item({ key, table, holds, undeclarable }: StructurePart, actual: Actual, holder: Actual): Described | null {
    const reason = undeclarable?.(actual, this.#context) ?? null;
    if (reason !== null) {
      this.#context.note(holder, reason);
      return null;
    }
    const items = holds === undefined ? [] : this.#items(actual, this.#context.partsOf(actual));
    if (holds?.isRequired === true && items.length === 0) {
      return null;
    }
    const own = this.#context.keyOf(actual);
    this.#described.set(actual.id, own);
    return this.#context.resource(actual, {
      [key.member]: own,
      ...table.describe(actual, this.#context, (reference) => this.keyOf(reference)),
      ...(holds === undefined ? {} : { [holds.member]: items }),
    });
  }
}
