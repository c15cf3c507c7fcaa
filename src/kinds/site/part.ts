/** Kinds inside a site: an item of its structure is declared, read and written by its own definition. */
import type { z } from 'zod';
import type { Change } from '../../core/change.ts';
import type { Actual, Fields } from '../../core/resource.ts';
import type { Reader } from '../../platform/client.ts';
import { resourceOperations, type StructureItem } from '../../platform/operations/resources.ts';
import { type FieldTable, fieldTable, type Table } from '../model/field-table.ts';
import { access } from '../model/fields.ts';
import type { Kind } from '../model/kind.ts';
import { type ItemOperations, itemWrites, titleRules } from '../model/listed-kind.ts';
import type { DescribeContext } from '../model/manifest.ts';
import { type PlannedRequest, ref, request } from '../model/request.ts';
import { KEY_PATTERN, KEY_WORDS, line, text } from '../model/schema.ts';
import { conditionAccess } from './readers.ts';

/** The part of a kind in the structure of a site. */
export interface StructurePart {
  readonly kind: Kind;
  readonly table: Table<StructureItem>;
  /** Member of an entry that holds the key, and by which the entry is recognized. */
  readonly key: { readonly member: string; readonly description: string; readonly example: string };
  /** Words for the entry in errors; the member with the key by default. */
  readonly words?: string;
  /** Kinds that can contain it: the site itself, or other parts. */
  readonly heldBy: readonly string[];
  /** True if it can be at the top level only in a site without sections. */
  readonly isPlain?: boolean;
  /** Field that refers to its parent part; null at the top level of the site. */
  readonly holder: string;
  /** Word for it in the error about an entry with neither a title nor an id. Absent: a title is not required. */
  readonly noun?: string;
  /** Parts that it contains. */
  readonly holds?: {
    /** Member of its entry. */
    readonly member: string;
    readonly schema: (items: z.ZodType) => z.ZodType;
    /** True if the keys of its parts start with its own key, not with the site's key. */
    readonly isScope?: boolean;
    /** Field that lists the declared addresses of its parts. */
    readonly field?: string;
    /** True if an import leaves out an entry without parts. */
    readonly isRequired?: boolean;
    items(item: StructureItem): readonly StructureItem[];
  };
  /** Returns the title; the member `title` by default. */
  title?(item: StructureItem): string;
  /** Returns facts that are shown, but not compared; null if there are none. */
  facts?(item: StructureItem): Fields | null;
  /** Returns the reason why an import leaves it out; null if it does not. */
  undeclarable?(actual: Actual, context: DescribeContext): string | null;
  /** Reads parts that the structure of a site does not show. */
  readonly hidden?: {
    readonly name: string;
    mayExist(site: string, parts: readonly Actual[]): boolean;
    read(site: string, reader: Reader): Promise<readonly Actual[]>;
  };
}

type PartRules<Item> = Omit<StructurePart, 'kind' | 'table' | 'title' | 'facts' | 'holds'> & {
  title?(item: Item): string;
  facts?(item: Item): Fields | null;
  readonly holds?: Omit<NonNullable<StructurePart['holds']>, 'items'> & {
    items(item: Item): readonly StructureItem[];
  };
};

interface PartDefinition<Item> extends Partial<Omit<Kind, 'name' | 'fields' | 'manifest' | 'observe'>> {
  readonly name: string;
  readonly fields: FieldTable<Item>;
  readonly part: PartRules<Item>;
  /** Operations for parts whose requests follow from the field table. A part that can move has its own `writes`. */
  readonly operations?: Omit<ItemOperations, 'move'>;
}

/** Defines a kind inside a site. Members of {@link Kind} that are given replace the derived ones. */
export function structurePart<Item>(definition: PartDefinition<Item>): StructurePart {
  const { name, fields, part, operations: own, ...hooks } = definition;
  const table = fieldTable(fields);
  const kind: Kind = {
    name,
    dependsOn: ['site'],
    partOf: 'site',
    creatable: true,
    deletable: true,
    ...titleRules('title', Object.hasOwn(fields, part.holder) ? part.holder : undefined),
    suggestedKeys: ({ title }) => [title],
    writes: (change) => partWrites(change, own, table.parameters(change)),
    ...hooks,
    fields: table.rules,
    manifest: null,
    observe: null,
  };
  return { ...part, kind, table } as unknown as StructurePart;
}

function partWrites(
  change: Change,
  own: ItemOperations | undefined,
  parameters: Readonly<Record<string, unknown>>,
): ReturnType<Kind['writes']> {
  if (own === undefined) {
    throw new Error(`${change.kind} has neither operations nor writes`);
  }
  if (change.action === 'move') {
    return { first: sortRequests(change) };
  }
  const { first } = itemWrites(change, own, parameters, { siteId: ref(change.within) });
  return { first: [...first, ...(change.action === 'create' ? sortRequests(change) : [])] };
}

/** Returns the type of an item in the platform's structure: `site-section` for a section. */
export function itemType(kind: string): string {
  return kind.startsWith('site-') ? kind : `site-${kind}`;
}

/** Returns the request that moves an item next to a sibling; none if the change has no position. */
export function sortRequests(change: Change): readonly PlannedRequest[] {
  if (change.anchor === null) {
    return [];
  }
  const anchor = pointer(change.anchor.address);
  const position = change.anchor.side === 'before' ? { before: anchor } : { after: anchor };
  const body = { item: pointer(change.address), position };
  return [request(resourceOperations.sortSiteStructure, { path: { siteId: ref(change.within) }, body })];
}

function pointer(address: string) {
  const type = itemType(address.slice(0, address.indexOf('/')));
  return { type: type as 'site-section', id: ref(address) };
}

/** Returns a unique temporary path, for swapping paths. */
export function pathAside(change: Change): string {
  return `moving-${change.id ?? ''}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 100);
}

/** Pattern of the keys of parts, with the error for other keys. */
export const PART_KEY = { pattern: KEY_PATTERN, error: `is not a key (${KEY_WORDS})` };

/** A condition, which several parts have. */
export const condition = access(
  text({ max: 1024, example: 'visitor.claims.locale == "fr"' })
    .nullable()
    .describe('Expression that decides who can see it; `null` means everyone.'),
  conditionAccess,
);

/** Schema of an icon, which several parts have. */
export const icon = line({ max: 50, example: 'book' }).nullable().describe('The name of an icon; `null` removes it.');
