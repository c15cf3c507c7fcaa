/** Field tables: each field of a kind is defined once; its schema, rules, reads and writes are derived from it. */
import { z } from 'zod';
import { type Change, WHOLE_ORGANIZATION } from '../../core/change.ts';
import { isObject, type Json, present } from '../../core/json.ts';
import { secretNames } from '../../core/manifest-secrets.ts';
import { type Actual, type Fields, idRef } from '../../core/resource.ts';
import { reference } from '../../plan/diff.ts';
import type { AccessRule, FieldRules } from '../../plan/rules.ts';
import { ref, SecretText } from './kind.ts';
import { type DescribeContext, type Described, type EntryPath, Reference, type WrittenFields } from './manifest.ts';
import { level, role, type SchemaNotes } from './schema.ts';

/** One field of a kind. `Item` is what the platform returns for one resource. */
export interface Field<Item = unknown> extends FieldRules {
  /** Schema of the field in an entry; a `key(…)` makes it a reference. Absent: the field is not written in entries. */
  readonly schema?: z.ZodType;
  /** True if every entry must have the field. Other fields are optional. */
  readonly required?: boolean;
  /** Kinds that the value can refer to, for a reference whose schema is not a `key(…)`. */
  readonly refersTo?: readonly string[];
  /** The written key is relative to the key of its own resource, such as a space of a section. */
  readonly isRelative?: boolean;
  /** False if the list does not return the field. Not needed for fields that are not compared with the platform. */
  readonly isListed?: boolean;
  /**
   * Returns the value from what the platform returned: an id for a reference. Default: the member with this name, the
   * `id` of an object for a reference, and false for a missing boolean.
   */
  read?(item: Item): Json | undefined;
  /** Converts the value of an entry, for a field that is not written as it is compared. It may contain references. */
  fromEntry?(value: unknown): unknown;
  /** Converts an actual value to that of an entry; undefined leaves it out, which is the default for null. */
  toEntry?(value: Json | undefined, context: DescribeContext, actual: Actual): unknown;
  /** Name of the parameter of the operations that write the field, if it is not the field's. */
  readonly parameter?: string;
  /** Converts a value to that of the parameter. Default: the value, or the id of what it refers to. */
  toParameter?(value: Json): unknown;
}

/** Fields that entries write inside one mapping. The name of such a field is `group.field`, as in `permissions.teams`. */
interface FieldGroup<Item> {
  readonly description: string;
  readonly group: Readonly<Record<string, z.ZodType | Field<Item>>>;
}

/** Fields of a kind in the order in which entries and plans list them. A field without other members is its schema. */
export type FieldTable<Item = unknown> = Readonly<Record<string, z.ZodType | Field<Item> | FieldGroup<Item>>>;

/** The derived side of a field table. */
export type Table<Item> = ReturnType<typeof fieldTable<Item>>;

interface NamedField<Item> {
  readonly name: string;
  /** Members of an entry that lead to it: its name, or that of its group and its own. */
  readonly path: readonly string[];
  readonly field: Field<Item>;
  /** Kinds that it refers to; empty for a field that is not a reference. */
  readonly kinds: readonly string[];
}

/** Returns the actual value of a field; undefined if this version of the platform lacks the field. */
function observeField<Item>({ name, field, kinds }: NamedField<Item>, item: Item): Json | undefined {
  const value = field.read ? field.read(item) : (item as Record<string, Json | undefined>)[name];
  if (value === undefined && field.unsupportedNote !== undefined) {
    return undefined;
  }
  const plain = kinds.length > 0 && isObject(value) && typeof value.id === 'string' ? value.id : value;
  return plain ?? (unwrapped(field.schema) instanceof z.ZodBoolean ? false : null);
}

/** Derives everything from a field table. */
export function fieldTable<Item>(fields: FieldTable<Item>) {
  const list = namedFields(fields, []);
  const written = list.filter(({ field }) => field.schema !== undefined);
  const listed = list.filter(({ field }) => isListed(field));
  return {
    rules: Object.fromEntries(
      list.map(({ name, field, kinds }): [string, FieldRules] => [name, kinds.length === 0 ? field : reference(field)]),
    ),
    /** Shape of an entry, without the members that every resource has. A field is optional unless it is required or has a default. */
    shape: shapeOf(fields),
    /** Fields of an entry. `path` is where the entry is, and `key` is the resource's own key. */
    declare(entry: Described, path: EntryPath, key: string): WrittenFields {
      return Object.fromEntries(
        written.map(({ name, path: inner, field, kinds }) => {
          const value = inner.reduce<unknown>((at, member) => (isObject(at) ? at[member] : undefined), entry);
          if (kinds.length > 0 && typeof value === 'string') {
            return [name, new Reference(kinds, value, [...path, ...inner], field.isRelative ? `${key}/` : '')];
          }
          return [name, field.fromEntry && value !== undefined ? field.fromEntry(value) : value];
        }),
      );
    },
    /** Members of the entry that declares a resource. `relativeKey` returns the written key of a relative reference. */
    describe(
      actual: Actual,
      context: DescribeContext,
      relativeKey?: (reference: Json | undefined) => string | undefined,
    ): Described {
      const writtenValue = ({ name, field, kinds }: NamedField<Item>): unknown => {
        const value = actual.fields[name];
        if (field.isRelative === true) {
          return relativeKey?.(value);
        }
        const plain = kinds.length > 0 ? context.keyOfRef(value) : value;
        if (plain === null && isObject(value)) {
          context.note(actual, `${name}: omitted, because Octavo did not find what it refers to`);
        }
        return field.toEntry ? field.toEntry(value, context, actual) : (plain ?? undefined);
      };
      const members = [...Map.groupBy(written, ({ path: [first = ''] }) => first)].map(([member, of]) => {
        const inside = of.map((each) => [each.path[1] ?? '', writtenValue(each)] as const);
        const isGroup = of.some(({ path }) => path.length > 1);
        const group = inside.filter(([, value]) => value !== undefined);
        return [member, isGroup ? (group.length === 0 ? undefined : Object.fromEntries(group)) : inside[0]?.[1]];
      });
      return Object.fromEntries(members);
    },
    /** Fields of a resource that the platform returned. */
    observe(item: Item): Fields {
      const values = listed.map((each): [string, Json | undefined] => {
        const value = observeField(each, item);
        const isId = each.kinds.length > 0 && typeof value === 'string';
        return [each.name, isId ? idRef(value, ...each.kinds) : value];
      });
      return present(Object.fromEntries(values));
    },
    /** Parameters that write what a change sets, by name. */
    parameters(change: Change): Readonly<Record<string, unknown>> {
      const values = { ...sentWithSecrets(change, list), ...writtenFields(change) };
      const sent = list.map(({ name, field, kinds }) => {
        const value = field.declarationOnly === true ? undefined : values[name];
        const plain = kinds.length > 0 && value !== null ? ref(value) : value;
        const parameter = field.toParameter && value !== undefined ? field.toParameter(value) : plain;
        const address = field.secrets === undefined ? null : String(change.declared[field.secrets.sentTo] ?? '');
        const filled = address === null ? parameter : withSecrets(parameter, address);
        return [field.parameter ?? name, value === undefined ? undefined : filled];
      });
      return present(Object.fromEntries(sent));
    },
  };
}

function namedFields<Item>(fields: FieldTable<Item>, group: readonly string[]): readonly NamedField<Item>[] {
  return Object.entries(fields).flatMap(([member, given]): readonly NamedField<Item>[] => {
    const path = [...group, member];
    if ('group' in given) {
      return namedFields(given.group, path);
    }
    const field: Field<Item> = given instanceof z.ZodType ? { schema: given } : given;
    return [{ name: path.join('.'), path, field, kinds: field.refersTo ?? referredKinds(field.schema) }];
  });
}

function shapeOf<Item>(fields: FieldTable<Item>): Record<string, z.ZodType> {
  const shape = Object.entries(fields).flatMap(([name, given]): [string, z.ZodType][] => {
    if ('group' in given) {
      return [[name, z.strictObject(shapeOf(given.group)).describe(given.description).optional()]];
    }
    const { schema, required } = given instanceof z.ZodType ? { schema: given, required: false } : given;
    if (schema === undefined) {
      return [];
    }
    return [[name, required === true || schema instanceof z.ZodDefault ? schema : schema.optional()]];
  });
  return Object.fromEntries(shape);
}

/** Returns what every update sends: secrets, and the address that they are sent to. */
function sentWithSecrets({ action, declared }: Change, list: readonly NamedField<never>[]): Fields {
  const names = list.flatMap(({ name, field: { secrets } }) => (secrets === undefined ? [] : [name, secrets.sentTo]));
  return action === 'update' ? present(Object.fromEntries(names.map((name) => [name, declared[name]]))) : {};
}

/** Replaces every text that names a secret with a placeholder for its value. */
function withSecrets(value: unknown, address: string): unknown {
  if (typeof value === 'string') {
    return secretNames(value).length === 0 ? value : new SecretText(value, address);
  }
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withSecrets(member, address)]))
    : value;
}

function isListed({ isListed: listed, declarationOnly, compare, fixed }: Field): boolean {
  return listed ?? (declarationOnly !== true && compare !== 'base' && fixed !== 'create');
}

/** Kinds that the keys in a schema belong to. */
function referredKinds(schema: z.ZodType | undefined): readonly string[] {
  return (unwrapped(schema)?.meta() as SchemaNotes | undefined)?.refersTo ?? [];
}

/** Returns the schema inside of an optional or nullable one. */
function unwrapped(schema: z.ZodType | undefined): z.ZodType | undefined {
  let inner: z.ZodType | undefined = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) {
    inner = inner.unwrap() as z.ZodType;
  }
  return inner;
}

/**
 * Returns the fields that a change writes: all declared fields of a new resource, with null, because the platform's own
 * default may allow more; the changed fields of an existing one.
 */
export function writtenFields(change: Change): Fields {
  const names = change.action === 'create' ? Object.keys(change.declared) : change.fields.map(({ path }) => path);
  return present(Object.fromEntries(names.map((name) => [name, change.declared[name]])));
}

/** A field that grants access: plans list its changes early and with full values. */
export function access(schema: z.ZodType, rule: AccessRule): Field {
  return { schema, access: rule };
}

/** Access whose plan lines come from the rule of another field, or from the list of people. */
export const listedElsewhere: AccessRule = () => [];

/** Limits a rule to updates and moves: a new or deleted resource has no access that this field alone would give. */
export function ofExisting(rule: AccessRule): AccessRule {
  return (state) => (state.action === 'create' || state.action === 'delete' ? [] : rule(state));
}

/** The title of a resource, which is empty if the platform returns none. */
export function titleField(schema: z.ZodType): Field<{ readonly title?: string | null | undefined }> {
  return { schema, read: ({ title }) => title ?? '' };
}

/** A role in the organization. Entries also state null, which makes people guests. */
export function roleField(description: string, rule: AccessRule): Field {
  return { ...access(role.nullable().describe(description), rule), toEntry: (value = null) => value };
}

/** The role that people have when they join. `who`: those who join. */
export function defaultRole(who: (address: string) => string): Field {
  return roleField('The role of new members; `null` makes them guests.', ({ address, fields }) =>
    fields.defaultRole === undefined
      ? []
      : [{ who: who(address), role: String(fields.defaultRole ?? 'guest'), to: WHOLE_ORGANIZATION }],
  );
}

/** The access to content that everyone in the organization has. */
export const defaultLevel = access(
  level.describe('Default access for everyone in the organization; `null` means no access.'),
  ({ fields: { defaultLevel: given } }) =>
    given == null
      ? []
      : [{ who: 'everyone in the organization', role: given === 'inherit' ? 'as its parent allows' : String(given) }],
);

/** The parent: people who can use its content get the same access to what is in it. */
export const parentAccess = (field: string): AccessRule =>
  ofExisting(({ fields }) =>
    typeof fields[field] === 'string'
      ? [{ who: `everyone who has access to ${fields[field]}`, role: 'inherited' }]
      : [],
  );

/** A setting of an identity provider: a change of it decides whose sign-ins are trusted. */
export const trusts = (field: string): AccessRule =>
  ofExisting(({ address, fields }) => [
    {
      who: signsIn(address),
      // Quoted, so that no value looks like another line about access.
      role: `${field} ${fields[field] == null ? 'none' : JSON.stringify(fields[field])}`,
      to: WHOLE_ORGANIZATION,
    },
  ]);

/** The people who sign in through an identity provider. */
export const signsIn = (address: string): string => `everyone who signs in through ${address}`;
