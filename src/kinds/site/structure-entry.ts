/** The structure of a site in manifests: its schema, and the parts that it declares. */
import { z } from 'zod';
import type { Address } from '../../core/address.ts';
import type { Place } from '../../core/resource.ts';
import { checkTitle } from '../model/listed-kind.ts';
import { type CommonFields, commonFields, type DeclareContext, type EntryPath } from '../model/manifest.ts';
import { commonShape } from '../model/schema.ts';
import { PART_KEY, type StructurePart } from './part.ts';

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
