/** Kinds inside a site: an item of its structure is declared, read and written by its own definition. */
import { z } from 'zod';
import { type Address, kindOf } from '../../core/address.ts';
import { type Change, EVERYONE } from '../../core/change.ts';
import { canonicalJson, type Json, present } from '../../core/json.ts';
import type { Actual, Fields } from '../../core/resource.ts';
import type { AccessRule, Grant } from '../../plan/rules.ts';
import type { Reader } from '../../platform/client.ts';
import { operations, type StructureItem } from '../../platform/operations/index.ts';
import type { WriteOperation } from '../../platform/operations/model/operation.ts';
import { type ItemOperations, idParameter, itemWrites, titleRules } from '../model/derived-kind.ts';
import { access, type Field, type FieldTable, fieldTable, ofExisting, type Table } from '../model/field-table.ts';
import { type Kind, type PlannedRequest, Ref, ref, request, type Writes } from '../model/kind.ts';
import type { DescribeContext } from '../model/manifest.ts';
import { KEY_PATTERN, KEY_WORDS, LANGUAGES, line, text } from '../model/schema.ts';

/** The part of a kind in the structure of a site; `Item` is what the platform returns for one resource. */
export interface StructurePart<Item = StructureItem> {
  readonly kind: Kind;
  readonly table: Table<Item>;
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
  /**
   * Kind of part that a site with such a part must have too, the field of the site that lists the declared ones, and the
   * problem of a site without one.
   */
  readonly requires?: { readonly kind: string; readonly field: string; readonly problem: string };
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
    items(item: Item): readonly StructureItem[];
  };
  /** Returns the title; the member `title` by default. */
  title?(item: Item): string;
  /** Returns facts that are shown, but not compared; null if there are none. */
  facts?(item: Item): Fields | null;
  /** Returns the reason why an import leaves it out; null if it does not. */
  undeclarable?(actual: Actual, context: DescribeContext): string | null;
  /** Reads parts that the structure of a site does not show. */
  readonly hidden?: {
    readonly name: string;
    mayExist(site: string, parts: readonly Actual[]): boolean;
    read(site: string, reader: Reader): Promise<readonly Actual[]>;
  };
}

interface PartDefinition<Item> extends Partial<Omit<Kind, 'name' | 'fields' | 'manifest' | 'observe'>> {
  readonly name: string;
  readonly fields: FieldTable<Item>;
  readonly part: Omit<StructurePart<Item>, 'kind' | 'table'>;
  /** Operations for parts whose requests follow from the field table. A part that can move has its own `writes`. */
  readonly operations?: Omit<ItemOperations, 'move'>;
}

/** Defines a kind inside a site. Members of {@link Kind} that are given replace the derived ones. */
export function structurePart<Item>(definition: PartDefinition<Item>): StructurePart {
  const { name, fields, part, operations, ...hooks } = definition;
  const table = fieldTable(fields);
  const kind: Kind = {
    name,
    dependsOn: ['site'],
    partOf: 'site',
    creatable: true,
    deletable: true,
    ...titleRules('title', Object.hasOwn(fields, part.holder) ? part.holder : undefined),
    suggestedKeys: ({ title }) => [title],
    writes(change) {
      if (operations === undefined) {
        throw new Error(`${name} has neither operations nor writes`);
      }
      if (change.action === 'move') {
        return { first: sortRequests(change) };
      }
      const outer = { siteId: ref(change.within) };
      if (change.action !== 'create') {
        return itemWrites(change, operations, table.parameters(change), outer);
      }
      const { update } = operations;
      const { localizedTitle: _, localizedDescription: __, draft: isDraft, ...rest } = table.parameters(change);
      const parameters = isDraft === true ? { ...rest, draft: true } : rest;
      const { first } = itemWrites(change, operations, parameters, outer);
      const texts = update === undefined ? [] : textRequests(change, update);
      return { first: [...first, ...texts, ...sortRequests(change)] };
    },
    ...hooks,
    fields: table.rules,
    manifest: null,
    observe: null,
  };
  return { ...part, kind, table } as unknown as StructurePart;
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
  return [request(operations.sortSiteStructure, { path: { siteId: ref(change.within) }, body })];
}

function pointer(address: string) {
  return { type: itemType(kindOf(address)) as 'site-section', id: ref(address) };
}

/**
 * Returns the request that sets the localized texts of a new part. A version without them refuses it, and its answers do
 * not show which version it is; the part is then created without them.
 */
export function textRequests(change: Change, update: WriteOperation): readonly PlannedRequest[] {
  const { localizedTitle, localizedDescription } = change.declared;
  const body = present({
    localizedTitle: localizedTitle ?? undefined,
    localizedDescription: localizedDescription ?? undefined,
  });
  const sets = Object.keys(body);
  const path = { siteId: ref(change.within), [idParameter(update)]: ref(change.address) };
  return sets.length === 0 ? [] : [request(update, { path, body } as never, { sets, tolerates: [400] })];
}

/**
 * Returns the writes of an update. If the path of another part has to be free first, the part gets a unique temporary path
 * before, which `write` sets.
 */
export function updateWrites(
  change: Change,
  update: PlannedRequest,
  write: (body: { readonly path: string }) => PlannedRequest,
): Writes {
  if (change.needsTemporaryKey !== true) {
    return { first: [update] };
  }
  const path = `moving-${change.id ?? ''}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 100);
  return { first: [write({ path })], late: [update] };
}

const WITH_LINK = 'everyone with the secret link';
const WITH_TOKEN = 'every visitor with a token';

/** Returns the people who can read a site once it is published. */
export function readersOf({ visibility }: Fields): Grant {
  switch (visibility) {
    case 'public':
      return { who: EVERYONE, role: 'read, found by search engines', includes: 'all' };
    case 'unlisted':
      return { who: EVERYONE, role: 'read', includes: 'all' };
    case 'share-link':
      return { who: WITH_LINK, role: 'read' };
    case 'visitor-auth':
      return { who: WITH_TOKEN, role: 'read' };
    default:
      return { who: 'visitors, as the platform decides', role: 'read' };
  }
}

/** Access through the condition of an existing part: visitors who match it. */
const conditionAccess = ofExisting(({ fields: { condition } }) => [
  typeof condition === 'string'
    ? { who: `visitors who match ${JSON.stringify(condition)}`, role: 'read' }
    : { who: 'every visitor', role: 'read', includes: 'all' },
]);

/** Access to a section. Its site spaces say who gains access to a new one, but are deleted with it. */
export const sectionAccess: AccessRule = (state) => {
  if (state.action !== 'delete') {
    return conditionAccess(state);
  }
  const site = state.before(state.within ?? '');
  return site?.published === true && Object.keys(state.fields).length > 0
    ? [{ who: readersOf(site).who, role: 'read' }]
    : [];
};

/** Access through a site space: readers of a site that is already published gain or lose the space. */
export const spaceAccess: AccessRule = ({ fields, otherFields, within, before, now }) => {
  const site = within ?? '';
  const current = now(site);
  const isSame = otherFields.space === fields.space;
  if (isSame || typeof fields.space !== 'string' || before(site)?.published !== true || current?.published !== true) {
    return [];
  }
  const section = typeof fields.section === 'string' ? now(fields.section) : null;
  if (fields.draft === true || section?.draft === true) {
    return [];
  }
  const conditions = [fields.condition, section?.condition].filter((each) => typeof each === 'string');
  const { who } = readersOf(current);
  const matching =
    conditions.length === 0
      ? who
      : `${who}, if they match ${conditions.map((each) => JSON.stringify(each)).join(' and ')}`;
  return [{ who: matching, role: `read at ${site}`, to: fields.space }];
};

/** Returns the site spaces that a section declares, in order. */
export function spacesOf(fields: Fields): readonly Address[] {
  return Array.isArray(fields.spaces) ? (fields.spaces as Address[]) : [];
}

/** Returns the site space for creating a section: its default, or else the first that can be created. */
export function seedOf(section: Change, creation: (address: Address) => Change | undefined) {
  const spaces = spacesOf(section.declared);
  const wanted = section.declared.default;
  const order = typeof wanted === 'string' ? [wanted, ...spaces] : spaces;
  const address = order.find((each) => creation(each) !== undefined) ?? spaces[0] ?? '';
  return { address, space: spaceRef(creation(address)?.declared.space) };
}

/** Returns a reference to a space: the space itself, or the result of a translation. */
export function spaceRef(address: Json | undefined): Ref {
  const space = String(address);
  return new Ref(kindOf(space) === 'translation' ? `${space}#result` : space);
}

/** Slot for the sections of a site, which has either sections or spaces at the top level. */
export function sectionsSlot(site: Address | null): string {
  return `${site} sections`;
}

/** Slot for a space or a path at the top level of a site. */
export function siteSlot(site: Address | null, by: 'space' | 'path', value: Json | undefined): string {
  return `${site} ${by} ${canonicalJson(value)}`;
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

/** A description, which several parts have. */
export const description: Field<{ readonly description?: string | null | undefined }> = {
  schema: text({ max: 256, example: 'From the first step on' })
    .nullable()
    .describe('The description; `null` removes it.'),
  read: (item) => item.description || null,
};

/** Note for a version without drafts and localized texts. */
const before0181 = (field: string) =>
  `${field} was not compared: this version of the platform has no such setting (0.181 and later have it)`;

/** Fact of a site whose version of the platform has no such parts. */
export const UNSUPPORTED = 'unsupported';

/** A part that the platform returns, with the fields that it has from 0.181 on. */
interface DraftItem {
  readonly draft?: boolean | null | undefined;
  readonly localizedTitle?: Texts | null | undefined;
  readonly localizedDescription?: Texts | null | undefined;
}

/** A part can be a draft. Source: docs/platform-notes.md#drafts-and-localized-texts */
export const draft: Field<DraftItem> = {
  ...access(
    z.boolean().describe('Hides it from readers, such as until a launch; requires platform 0.181 or later.'),
    ofExisting(({ within, fields, now }) => {
      const site = now(within ?? '');
      return fields.draft === true || site?.published !== true ? [] : [{ who: readersOf(site).who, role: 'read' }];
    }),
  ),
  unsupportedNote: before0181('draft'),
  read: (item) => item.draft ?? undefined,
  toEntry: (value) => (value === true ? true : undefined),
};

/** A title or a description in other languages. Source: docs/platform-notes.md#drafts-and-localized-texts */
export function localized(
  name: 'localizedTitle' | 'localizedDescription',
  what: string,
  max: number,
): Field<DraftItem> {
  return {
    schema: z
      .partialRecord(z.enum(LANGUAGES), line({ min: 1, max }))
      .nullable()
      .describe(
        `The ${what} in other languages, by language; \`null\` removes them. Requires platform 0.181 or later.`,
      ),
    unsupportedNote: before0181(name),
    // A part without localized texts has no such member. What has a draft can have them.
    read: (item) => filled(item[name]) ?? (typeof item.draft === 'boolean' ? null : undefined),
    fromEntry: (value) => (value === undefined ? undefined : (filled(value as Texts | null) ?? null)),
    toParameter: (value) => value ?? {},
  };
}

/** Texts by language. Other values are ignored. */
type Texts = Readonly<Record<string, unknown>>;

function filled(texts: Texts | null | undefined): Readonly<Record<string, string>> | undefined {
  const given = Object.entries(texts ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return given.length > 0 ? Object.fromEntries(given) : undefined;
}

/** Schema of an icon, which several parts have. */
export const icon = line({ max: 50, example: 'book' }).nullable().describe('The name of an icon; `null` removes it.');

/** Paths that a part had before. Each declares two redirects. */
export const formerPaths: Field = {
  schema: z
    .array(line({ min: 1, max: 100, example: 'handbook' }))
    .max(20)
    .describe(
      'Paths that it had before: links to them, and to pages below them, lead to where it is now. From platform 0.167 on.',
    ),
  declarationOnly: true,
};
