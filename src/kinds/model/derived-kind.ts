/** Kinds that are derived from their field table: those with a list of resources, and those with exactly one. */
import { z } from 'zod';
import type { Change } from '../../core/change.ts';
import { present } from '../../core/json.ts';
import type { Actual, Fields } from '../../core/resource.ts';
import type { KindRules } from '../../plan/rules.ts';
import type { CallArguments } from '../../platform/client.ts';
import type {
  Answer,
  Item,
  PaginatedOperation,
  ReadOperation,
  WriteOperation,
} from '../../platform/operations/model/operation.ts';
import { isNullable, memberSchemas } from '../../platform/operations/model/request-schema.ts';
import { type FieldTable, fieldTable } from './field-table.ts';
import {
  creating,
  hasMembers,
  type Kind,
  type NeededKindsContext,
  type PlannedRequest,
  type Ref,
  ref,
  request,
  type Writes,
} from './kind.ts';
import {
  type CommonFields,
  type DeclareContext,
  type DescribeContext,
  type ManifestRules,
  manifestRules,
  namesWithin,
  resourceOf,
  type WrittenFields,
} from './manifest.ts';
import {
  type Grantable,
  permissionDetails,
  permissionFields,
  permissionRules,
  permissionWrites,
} from './permissions.ts';
import { commonShape, entry, plainKey } from './schema.ts';

/** Operations on one resource of a kind. Parameters that creation does not take are sent by an update right after it. */
export interface ItemOperations {
  /** Creates a resource; absent if Octavo cannot, or if `writes` is given. */
  readonly create?: WriteOperation;
  /** Parameters of every creation. */
  readonly constants?: Readonly<Record<string, unknown>>;
  /** Changes a resource; absent if it has no changeable field, or if `writes` is given. */
  readonly update?: WriteOperation;
  /** Moves the resource to another parent, for a field with `move`. */
  readonly move?: WriteOperation;
  readonly delete: WriteOperation;
}

/**
 * A kind with one list and operations to create, update, move and delete, as a field table. Every other member of
 * {@link Kind} can be given, and replaces the derived one.
 */
interface ListedKind<List extends PaginatedOperation> extends Partial<Omit<Kind, 'name' | 'fields' | 'manifest'>> {
  readonly name: string;
  /** Member of manifests that holds the entries. */
  readonly section: string;
  /** Word for one resource in messages; its name by default. */
  readonly noun?: string;
  readonly summary: string;
  readonly example: string;
  /** Field that people know the resource by; `title` by default. */
  readonly title?: string;
  /** Field that holds the parent, for kinds whose titles are unique only within it. */
  readonly parent?: string;
  readonly operations: ItemOperations & { readonly list: List; readonly query?: Readonly<Record<string, unknown>> };
  readonly fields: FieldTable<Item<List>>;
  /** Kinds that the plan has to read if it may delete such a resource, because the deletion affects them. */
  readonly deletionNeeds?: readonly string[];
  /** Its name, if teams and people have roles in such a resource. */
  readonly permissions?: Grantable;
  /** Reports problems that the schema alone cannot find. Default: the entry has neither a title nor an id. */
  check?(entry: Readonly<Record<string, unknown>>, key: string, context: DeclareContext): void;
  /** Adds notes about what an entry for an actual resource cannot express. */
  beforeDescribe?(actual: Actual, context: DescribeContext): void;
  /** Completes the declared fields where one depends on another. */
  complete?(fields: WrittenFields): WrittenFields;
  /** Reports whether an item of the list is left out. */
  isHidden?(item: Item<List>): boolean;
  /** Facts that are shown, but not compared. */
  facts?(item: Item<List>): Fields;
  /** Members of the manifest rules that differ. */
  readonly manifest?: Partial<ManifestRules<Record<string, unknown>>>;
}

/** Derives a kind from its field table. */
export function listedKind<List extends PaginatedOperation>(definition: ListedKind<List>): Kind {
  const {
    name,
    section,
    noun = name,
    summary,
    example,
    title = 'title',
    parent,
    operations,
    fields,
    ...rest
  } = definition;
  const { deletionNeeds, permissions, check, beforeDescribe, complete, isHidden, facts, manifest, ...hooks } = rest;
  const table = fieldTable(permissions === undefined ? fields : { ...fields, ...permissionFields(permissions) });
  const kind: Kind = {
    name,
    dependsOn: [],
    creatable: true,
    deletable: true,
    ...titleRules(title, parent),
    observe: async ({ reader, add }) => {
      const { list, query } = operations;
      for await (const item of reader.pages(list, { query } as never) as AsyncIterable<Item<List>>) {
        if (isHidden?.(item) !== true) {
          add({
            kind: name,
            id: (item as { readonly id: string }).id,
            title: String((item as Record<string, unknown>)[title] ?? ''),
            fields: table.observe(item),
            within: null,
            place: null,
            ...(facts ? { facts: facts(item) } : {}),
          });
        }
      }
    },
    writes: (change) => itemWrites(change, operations, table.parameters(change)),
    ...(deletionNeeds ? { neededKinds: (context) => (mayDelete(name, context) ? deletionNeeds : []) } : {}),
    ...hooks,
    fields: table.rules,
    manifest: manifestRules({
      section,
      single: false,
      key: plainKey,
      entry: entry(table.shape) as z.ZodType<Record<string, unknown>>,
      summary,
      example,
      declare(key, written, context) {
        if (check === undefined) {
          checkTitle(written, title, noun, (text) => context.problem([], text));
        } else {
          check(written, key, context);
        }
        const declared = table.declare(written, [], key);
        context.add(resourceOf(name, key, complete?.(declared) ?? declared, written));
      },
      describe(actual, context) {
        beforeDescribe?.(actual, context);
        return context.resource(actual, table.describe(actual, context));
      },
      ...manifest,
    }),
  };
  return permissions === undefined ? kind : withPermissions(kind, permissions);
}

/** Adds what permissions need to a kind whose fields contain them. */
function withPermissions(kind: Kind, permissions: Grantable): Kind {
  const { neededKinds, ...rules } = permissionRules(permissions);
  return {
    ...kind,
    ...rules,
    details: [...(kind.details ?? []), ...permissionDetails(permissions)],
    neededKinds: (context) => [...(kind.neededKinds?.(context) ?? []), ...neededKinds(context)],
    writes: (change, context) => {
      const { first, ...rest } = kind.writes(change, context);
      return { ...rest, first: [...first, ...permissionWrites(permissions, change)] };
    },
  };
}

/** Reports whether a plan may delete resources of a kind: the base has one that is no longer declared. */
function mayDelete(kind: string, { declared, base }: NeededKindsContext): boolean {
  return [...(base?.values() ?? [])].some((owned) => owned.kind === kind && !declared.has(owned.address));
}

/** Reports an entry that has neither the field that people know it by nor an id. */
export function checkTitle(
  written: Readonly<Record<string, unknown>>,
  title: string,
  noun: string,
  report: (problem: string) => void,
): void {
  if (written[title] === undefined && written.id === undefined) {
    report(`needs a ${title}, or an id that identifies the ${noun}`);
  }
}

/** Rules of a kind that people know by its title. A `parent` decides between resources with the same title. */
export function titleRules(
  title = 'title',
  parent?: string,
): Pick<Kind, 'suggestedKeys' | 'naturalKeys' | 'actualKeys'> & Required<Pick<KindRules, 'renamedKey'>> {
  const keyFor = (value: string, fields: Fields) => ({
    by: title,
    value,
    ...(parent === undefined ? {} : { parent: fields[parent] ?? null }),
  });
  return {
    suggestedKeys: (actual, context) =>
      parent === undefined ? [actual.title] : namesWithin(actual, context.keyOfRef(actual.fields[parent])),
    naturalKeys: (fields) => {
      const value = fields[title];
      return typeof value === 'string' ? [keyFor(value, fields)] : [];
    },
    actualKeys: (actual: Actual, fields) => [keyFor(actual.title, fields)],
    renamedKey: keyFor,
  };
}

/** Derives the requests of a change from the operations on a resource. `outer` holds path parameters except the id. */
export function itemWrites(
  change: Change,
  operations: ItemOperations,
  parameters: Readonly<Record<string, unknown>>,
  outer?: Readonly<Record<string, Ref>>,
): Writes {
  const path = { ...outer, [idParameter(operations.delete)]: ref(change.address) };
  const send = (operation: WriteOperation | undefined, body?: object, rest?: object): readonly PlannedRequest[] =>
    operation === undefined ? [] : [request(operation, present({ path, body }) as never, rest as never)];
  if (change.action === 'delete') {
    return { first: send(operations.delete) };
  }
  if (change.action === 'move') {
    const sets = change.fields.map((field) => field.path);
    // A move that would change nothing is refused (409).
    return { first: send(operations.move, pick(parameters, operations.move), { sets, tolerates: [409] }) };
  }
  const settings = pick(parameters, operations.update);
  if (change.action === 'update') {
    return { first: hasMembers(settings) ? send(operations.update, settings) : [] };
  }
  const body = pick(parameters, operations.create, true);
  const left = Object.fromEntries(Object.entries(settings).filter(([name]) => !Object.hasOwn(body, name)));
  const creation = present({ path: outer, body: { ...body, ...operations.constants } });
  const create = request(operations.create as WriteOperation, creation as never, creating(change) as never);
  return { first: [create, ...(hasMembers(left) ? send(operations.update, left) : [])] };
}

/** Returns the name of the last parameter in the path of an operation: the id of the resource. */
export function idParameter({ path }: WriteOperation): string {
  return /\{(\w+)\}$/.exec(path)?.[1] ?? '';
}

/** Returns the parameters that the body of an operation accepts. `strict` drops a null that it does not accept. */
function pick(
  parameters: Readonly<Record<string, unknown>>,
  operation: WriteOperation | undefined,
  strict = false,
): Readonly<Record<string, unknown>> {
  const members = operation?.body == null ? {} : memberSchemas(operation.body.json);
  return Object.fromEntries(
    Object.entries(parameters).filter(([name, value]) => {
      const schema = members[name];
      return schema !== undefined && !(strict && value === null && !isNullable(schema));
    }),
  );
}

/** A kind with one resource, as a field table. Every other member of {@link Kind} that is given replaces the derived one. */
interface SingleKind<Read extends ReadOperation> extends Partial<Omit<Kind, 'name' | 'fields' | 'manifest'>> {
  readonly name: string;
  /** Member of manifests that holds the fields; its name by default. */
  readonly section?: string;
  readonly summary: string;
  readonly example: string;
  readonly operations: { readonly read: Read; readonly update: WriteOperation };
  readonly fields: FieldTable<Answer<Read>>;
  /** Completes the declared fields where one depends on another. */
  complete?(fields: WrittenFields): WrittenFields;
}

/** Derives a kind with one resource from its field table. Its address is its name. */
export function singleKind<Read extends ReadOperation>(definition: SingleKind<Read>): Kind {
  const { name, section, summary, example, operations, fields, complete, ...hooks } = definition;
  const table = fieldTable(fields);
  const { paused, ignore } = commonShape;
  const naturalKeys = () => [{ by: 'kind', value: name }];
  return {
    name,
    dependsOn: [],
    creatable: false,
    deletable: false,
    suggestedKeys: () => [],
    naturalKeys,
    actualKeys: naturalKeys,
    async observe({ reader, add }) {
      const call = [] as unknown as CallArguments<Read>;
      const found = await reader.get(operations.read, ...call);
      const { id = name, title = name } = found as { readonly id?: string; readonly title?: string };
      add({ kind: name, id, title, fields: table.observe(found), within: null, place: null });
    },
    writes: (change) => ({ first: [request(operations.update, { body: table.parameters(change) } as never)] }),
    ...hooks,
    fields: table.rules,
    manifest: manifestRules({
      section: section ?? name,
      single: true,
      key: { pattern: /^$/, words: 'nothing' },
      entry: z.strictObject({ ...table.shape, paused, ignore }) as z.ZodType<CommonFields & WrittenFields>,
      summary,
      example,
      declare(_key, entry, context) {
        const declared = table.declare(entry, [], '');
        context.add(resourceOf(name, '', complete?.(declared) ?? declared, entry));
      },
      describe: (actual, context) => context.resource(actual, table.describe(actual, context)),
    }),
  };
}
