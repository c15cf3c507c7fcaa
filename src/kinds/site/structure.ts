/** The structure of a site: its schema and parts in manifests, and the parts that the platform shows. */
import { z } from 'zod';
import type { Address } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import { type Actual, idRef, isIdRef, type Place } from '../../core/resource.ts';
import type { SiteStructure, StructureItem } from '../../platform/operations/resources.ts';
import { checkTitle } from '../model/derived-kind.ts';
import {
  type CommonFields,
  commonFields,
  type DeclareContext,
  type DescribeContext,
  type Described,
  type EntryPath,
} from '../model/manifest.ts';
import { commonShape } from '../model/schema.ts';
import { itemType, PART_KEY, type StructurePart } from './part.ts';

/** An item of a structure, as written. */
export type WrittenItem = CommonFields & { readonly [member: string]: unknown };

/** Returns the schema of the list of parts at the top level of a site. */
export function structureSchema(parts: readonly StructurePart[]): z.ZodType<WrittenItem[]> {
  const entries = new Map<StructurePart, z.ZodType>();
  const lists = new Map<string, z.ZodType>();
  const itemsOf = (holder: string): z.ZodType => {
    const known = lists.get(holder);
    if (known !== undefined) {
      return known;
    }
    const held = parts.filter(({ heldBy }) => heldBy.includes(holder));
    const schemas = () => held.flatMap((part) => entries.get(part) ?? []);
    const error = `must be a mapping with ${alternatives(held.map((part) => part.words ?? part.key.member))}`;
    const [only] = schemas();
    const schema =
      held.length === 1 && only !== undefined ? only : z.lazy(() => z.union(schemas() as [z.ZodType], { error }));
    lists.set(holder, schema);
    return schema;
  };
  for (const part of parts) {
    entries.set(part, entryOf(part, itemsOf));
  }
  return z.array(itemsOf('site')) as unknown as z.ZodType<WrittenItem[]>;
}

function entryOf({ kind, key, table, holds }: StructurePart, itemsOf: (holder: string) => z.ZodType): z.ZodType {
  const { member, description, example } = key;
  const own = z
    .string()
    .regex(PART_KEY.pattern, { error: PART_KEY.error })
    .meta({ description, examples: [example] });
  if (holds === undefined) {
    return z.strictObject({ [member]: own, ...table.shape, ...commonShape });
  }
  const shape: Record<string, z.ZodType> = { [member]: own, ...table.shape };
  Object.defineProperty(shape, holds.member, { get: () => holds.schema(itemsOf(kind.name)), enumerable: true });
  return z.strictObject(Object.defineProperties(shape, Object.getOwnPropertyDescriptors(commonShape)));
}

function alternatives(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 3 ? words.join(' or ') : `${words.slice(0, -1).join(', ')}, or ${last}`;
}

interface Holder {
  readonly address: Address;
  readonly key: string;
  readonly part: StructurePart;
}

/** Reports whether a site with these top-level items has sections. */
export function hasSections(parts: readonly StructurePart[], items: readonly WrittenItem[]): boolean {
  return items.some((item) => partOf(parts, item)?.isPlain !== true);
}

function partOf(parts: readonly StructurePart[], item: WrittenItem): StructurePart | undefined {
  return parts.find(({ key }) => Object.hasOwn(item, key.member));
}

/** Declares the parts of a site as resources of their own. */
export function declareStructure(
  parts: readonly StructurePart[],
  site: string,
  items: readonly WrittenItem[],
  context: DeclareContext,
): void {
  new StructureDeclarer(parts, site, hasSections(parts, items), context).declare(items, ['structure'], null);
}

class StructureDeclarer {
  readonly #parts: readonly StructurePart[];
  readonly #site: string;
  readonly #sectioned: boolean;
  readonly #context: DeclareContext;
  readonly #seen = new Set<Address>();

  constructor(parts: readonly StructurePart[], site: string, sectioned: boolean, context: DeclareContext) {
    this.#parts = parts;
    this.#site = site;
    this.#sectioned = sectioned;
    this.#context = context;
  }

  declare(items: readonly WrittenItem[], path: EntryPath, holder: Holder | null): readonly Address[] {
    return items.flatMap((item, index) => {
      const part = partOf(this.#parts, item);
      const here = [...path, index];
      if (part === undefined) {
        return [];
      }
      if (holder === null && this.#sectioned && part.isPlain === true) {
        this.#context.problem(here, 'a site cannot mix sections and top-level spaces; move this space into a section');
        return [];
      }
      return [this.#part(part, item, here, holder, { list: holder?.address ?? `site/${this.#site}`, index })];
    });
  }

  #part(part: StructurePart, item: WrittenItem, path: EntryPath, holder: Holder | null, place: Place): Address {
    const { kind, key, table, holds, noun } = part;
    const scope = holder?.part.holds?.isScope === true ? holder.key : this.#site;
    const name = `${scope}/${String(item[key.member])}`;
    const address = `${kind.name}/${name}`;
    this.#once(address, [...path, key.member]);
    if (noun !== undefined) {
      checkTitle(item, 'title', noun, (text) => this.#context.problem(path, text));
    }
    const inside = holds === undefined ? [] : ((item[holds.member] as readonly WrittenItem[] | undefined) ?? []);
    const field = holds?.field;
    this.#context.add({
      kind: kind.name,
      key: name,
      path,
      fields: {
        ...table.declare(item, path, name),
        [part.holder]: holder?.address ?? null,
        ...(field === undefined ? {} : { [field]: this.#addresses(inside, name) }),
      },
      within: `site/${this.#site}`,
      place,
      common: commonFields(item),
    });
    this.declare(inside, [...path, holds?.member ?? ''], { address, key: name, part });
    return address;
  }

  /** Returns the addresses of the parts in a scope. */
  #addresses(items: readonly WrittenItem[], scope: string): readonly Address[] {
    return items.flatMap((item) => {
      const part = partOf(this.#parts, item);
      return part === undefined ? [] : [`${part.kind.name}/${scope}/${String(item[part.key.member])}`];
    });
  }

  #once(address: Address, path: EntryPath): void {
    if (this.#seen.has(address)) {
      this.#context.problem(path, `${address} is declared twice in this site; use distinct keys`);
    }
    this.#seen.add(address);
  }
}

/** Parts of a site, in display order, and the default part. */
interface ObservedStructure {
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
