/** Kinds of items that a site has in no order: a mapping in its entry, and a list of their own on the platform. */
import { z } from 'zod';
import type { Actual } from '../../core/resource.ts';
import type { Item, PaginatedOperation } from '../../platform/operations/model/operation.ts';
import { checkTitle, type ItemOperations, itemWrites, titleRules } from '../model/derived-kind.ts';
import { type FieldTable, fieldTable } from '../model/field-table.ts';
import { type DetailRequest, type Kind, ref } from '../model/kind.ts';
import {
  type CommonFields,
  commonFields,
  type DeclareContext,
  type DescribeContext,
  type Described,
  type WrittenFields,
  type WrittenResource,
} from '../model/manifest.ts';
import { entry, KEY_PATTERN, KEY_WORDS } from '../model/schema.ts';

/** The items of one kind, as a member of the entry of a site holds them. */
export interface SiteItems {
  readonly kind: Kind;
  readonly member: string;
  readonly schema: z.ZodType;
  /** The request that lists the items of a site. */
  readonly details: DetailRequest;
  /** Declares the items of an entry as resources of their own. `parts`: those of the structure of the site. */
  declare(site: string, entry: Described, context: DeclareContext, parts: readonly WrittenResource[]): void;
  /** Returns the member that declares the items of a site; undefined if it has none. */
  describe(site: Actual, context: DescribeContext): Described | readonly Described[] | undefined;
}

interface ItemsDefinition<List extends PaginatedOperation> extends Partial<Omit<Kind, 'name' | 'fields' | 'manifest'>> {
  readonly name: string;
  readonly member: string;
  readonly summary: string;
  /** Field that people know an item by. */
  readonly title: string;
  readonly operations: Omit<ItemOperations, 'move'> & { readonly list: List };
  readonly fields: FieldTable<Item<List>>;
  /** Completes the declared fields where one depends on another. */
  complete?(fields: WrittenFields): WrittenFields;
}

type Written = CommonFields & Described;

/** Derives the kind of some items, and how the entry of a site holds them. Given members of {@link Kind} replace the derived ones. */
export function siteItems<List extends PaginatedOperation>(definition: ItemsDefinition<List>): SiteItems {
  const { name, member, summary, title, operations, fields, complete, ...hooks } = definition;
  const table = fieldTable(fields);
  const kind: Kind = {
    name,
    dependsOn: ['site'],
    partOf: 'site',
    creatable: true,
    deletable: true,
    ...titleRules(title),
    writes: (change) => itemWrites(change, operations, table.parameters(change), { siteId: ref(change.within) }),
    ...hooks,
    fields: table.rules,
    manifest: null,
    observe: null,
  };
  const key = z.string().regex(KEY_PATTERN, { error: `is not a key (${KEY_WORDS})` });
  return {
    kind,
    member,
    schema: z.record(key, entry(table.shape)).optional().describe(summary),
    details: {
      name: member,
      fields: [],
      parts: [name],
      async read({ id }, reader) {
        const parts: Actual[] = [];
        const list = reader.pages(operations.list, { path: { siteId: id } } as never) as AsyncIterable<Item<List>>;
        for await (const item of list) {
          parts.push({
            kind: name,
            id: (item as { readonly id: string }).id,
            title: String((item as Readonly<Record<string, unknown>>)[title] ?? ''),
            fields: table.observe(item),
            within: id,
            place: null,
          });
        }
        return { parts };
      },
    },
    declare(site, { [member]: written = {} }, context) {
      for (const [each, item] of Object.entries(written as Readonly<Record<string, Written>>)) {
        const path = [member, each];
        checkTitle(item, title, name, (problem) => context.problem(path, problem));
        const declared = table.declare(item, path, each);
        context.add({
          kind: name,
          key: `${site}/${each}`,
          path,
          fields: complete?.(declared) ?? declared,
          within: `site/${site}`,
          place: null,
          common: commonFields(item),
        });
      }
    },
    describe(site, context) {
      const items = context
        .unorderedParts(site, name)
        .map((actual): [string, Described] => [
          context.keyOf(actual),
          context.resource(actual, table.describe(actual, context)),
        ]);
      return items.length === 0 ? undefined : Object.fromEntries(items);
    },
  };
}
