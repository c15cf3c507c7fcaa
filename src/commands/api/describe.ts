/** Lists the fields of an operation as `-f` names them, from the schemas that check them. */
import type { Operation } from '../../platform/operations/model/operation.ts';
import type { Repeat } from '../../queue/request.ts';
import {
  alternativesOf,
  describeMember,
  describeSchema,
  itemSchema,
  type SchemaNode,
  toJsonSchema,
  valueSchema,
} from './schema-text.ts';

/** A field of a query or a body. */
export interface FieldDescription {
  /** Its name as `-f` takes it, such as `scope[mode]`. */
  readonly name: string;
  readonly isRequired: boolean;
  /** The values that it takes, in words. */
  readonly expected: string;
}

/** The parameters and fields of an operation. */
export interface OperationFields {
  readonly parameters: readonly string[];
  readonly query: readonly FieldDescription[];
  readonly body: readonly FieldDescription[];
}

/** Lists the parameters and fields of an operation. */
export function describeFields({ path, query, body }: Operation): OperationFields {
  return {
    parameters: pathParameters(path),
    query: query === null ? [] : fieldsOf(toJsonSchema(query)),
    body: body === null ? [] : fieldsOf(toJsonSchema(body)),
  };
}

/** The names of the parameters in a path, in order. */
export function pathParameters(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Retry behavior of an operation when a response is lost, in words. */
export const RETRY_TEXT: Readonly<Record<Repeat, string>> = {
  safe: 'read-only; retried if there is no response',
  idempotent: 'idempotent; retried if there is no response',
  never: 'not idempotent; never retried, and may have taken effect if there is no response',
};

/** A field with the schemas of its value, from all alternatives. */
interface Row extends FieldDescription {
  readonly nodes: readonly SchemaNode[];
}

function fieldsOf(root: SchemaNode): readonly Row[] {
  const options = alternativesOf(root);
  const lists = options.filter(({ type }) => type === 'array');
  const rows = options.filter((option) => !lists.includes(option)).flatMap((option) => memberFields(option, '', true));
  return lists.length === 0 || rows.length === 0
    ? [...rows, ...lists.flatMap((list) => itemFields(list, '', true))]
    : [...rows, { name: '[]', isRequired: false, expected: 'or a list of these objects, with -d', nodes: [] }];
}

/** The members of an object, including those of nested objects. */
function memberFields(node: SchemaNode, prefix: string, isNeeded: boolean): readonly Row[] {
  const { properties = {}, required = [] } = node;
  const fields = Object.entries(properties).flatMap(([key, member]) =>
    valueFields(member as SchemaNode, prefix === '' ? key : `${prefix}[${key}]`, isNeeded && required.includes(key)),
  );
  const values = valueSchema(node);
  return values === null
    ? fields
    : [...fields, { name: `${prefix}[NAME]`, isRequired: false, expected: describeSchema(values), nodes: [] }];
}

function valueFields(node: SchemaNode, name: string, isRequired: boolean): readonly Row[] {
  const options = alternativesOf(node);
  const objects = options.filter(isStructured);
  const [only] = options;
  if (objects.length === 0 || only === undefined) {
    return [{ name, isRequired, expected: describeSchema(node), nodes: [node] }];
  }
  if (options.length === 1) {
    return partFields(only, name, isRequired);
  }
  const expected = `either ${options.map(describeAlternative).join(', or ')}`;
  const inner = objects.flatMap((option) => partFields(option, name, false));
  return [{ name, isRequired, expected, nodes: [] }, ...merged(inner)];
}

function partFields(node: SchemaNode, name: string, isRequired: boolean): readonly Row[] {
  return node.type === 'array' ? itemFields(node, name, isRequired) : memberFields(node, name, isRequired);
}

/** Merges the rows of a name that several alternatives have. */
function merged(rows: readonly Row[]): readonly Row[] {
  const byName = new Map<string, Row>();
  for (const row of rows) {
    const anyOf = [...(byName.get(row.name)?.nodes ?? []), ...row.nodes];
    const expected = anyOf.length > 1 ? describeSchema({ anyOf }) : row.expected;
    byName.set(row.name, { ...row, nodes: anyOf, expected });
  }
  return [...byName.values()];
}

function itemFields(list: SchemaNode, name: string, isRequired: boolean): readonly Row[] {
  const items = itemSchema(list);
  const least = (list.minItems ?? 0) > 0 ? `, at least ${list.minItems}` : '';
  const options = alternativesOf(items);
  if (!options.some(isStructured)) {
    return [{ name: `${name}[]`, isRequired, expected: `${describeSchema(items)}${least}`, nodes: [items] }];
  }
  return valueFields(items, `${name}[]`, isRequired);
}

/** Returns true for lists and objects whose members `-f` can name. */
function isStructured(node: SchemaNode): boolean {
  const { type, title, properties } = node;
  const hasMembers = properties !== undefined || valueSchema(node) !== null;
  return title === undefined && (type === 'array' || (type === 'object' && hasMembers));
}

/** Describes an alternative by its members, with their fixed values. */
function describeAlternative(option: SchemaNode): string {
  if (option.type !== 'object' || option.title !== undefined) {
    return describeSchema(option);
  }
  const members = Object.entries(option.properties ?? {});
  return members.map(([name, member]) => describeMember(name, member as SchemaNode)).join(' and ');
}
