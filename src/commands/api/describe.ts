import type { Operation } from '../../platform/operations/model/operation.ts';
import type { Repeat } from '../../queue/model/request.ts';
import { jsonSchemaOf, memberWords, optionsOf, type SchemaNode, schemaWords } from './schema-words.ts';

/** One thing that can be sent, as `-f` names it. */
export interface Field {
  readonly name: string;
  readonly isRequired: boolean;
  /** What it must be. */
  readonly words: string;
}

/** What an operation takes, for people. */
export interface Described {
  readonly parameters: readonly string[];
  readonly query: readonly Field[];
  readonly body: readonly Field[];
}

/** What can be sent with an operation, from the schemas that check it. */
export function describe({ path, query, body }: Operation): Described {
  return {
    parameters: parametersOf(path),
    query: query === null ? [] : fieldsOf(jsonSchemaOf(query)),
    body: body === null ? [] : fieldsOf(jsonSchemaOf(body)),
  };
}

/** The names of a path's parameters, in order. */
export function parametersOf(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Whether an answer that was lost is asked for again, in words. */
export const REPEAT_WORDS: Readonly<Record<Repeat, string>> = {
  safe: 'read-only; retried if there is no response',
  idempotent: 'idempotent; retried if there is no response',
  never: 'not idempotent; never retried, and may have taken effect if there is no response',
};

/** A field, and what the schema says of it. */
interface Row extends Field {
  readonly nodes: readonly SchemaNode[];
}

function fieldsOf(root: SchemaNode): readonly Row[] {
  const options = optionsOf(root);
  const lists = options.filter(({ type }) => type === 'array');
  const rows = options.filter((option) => !lists.includes(option)).flatMap((option) => memberFields(option, '', true));
  return lists.length === 0 || rows.length === 0
    ? [...rows, ...lists.flatMap((list) => itemFields(list, '', true))]
    : [...rows, { name: '[]', isRequired: false, words: 'or a list of these objects, with -d', nodes: [] }];
}

/** The members of an object, those of objects inside it included. */
function memberFields(node: SchemaNode, prefix: string, isNeeded: boolean): readonly Row[] {
  const { properties = {}, required = [], additionalProperties } = node;
  const fields = Object.entries(properties).flatMap(([key, member]) =>
    placeFields(member as SchemaNode, prefix === '' ? key : `${prefix}[${key}]`, isNeeded && required.includes(key)),
  );
  const isOpen = typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0;
  return isOpen
    ? [
        ...fields,
        {
          name: `${prefix}[NAME]`,
          isRequired: false,
          words: schemaWords(additionalProperties as SchemaNode),
          nodes: [],
        },
      ]
    : fields;
}

function placeFields(node: SchemaNode, name: string, isRequired: boolean): readonly Row[] {
  const options = optionsOf(node);
  const objects = options.filter(isStructured);
  const [only] = options;
  if (objects.length === 0 || only === undefined) {
    return [{ name, isRequired, words: schemaWords(node), nodes: [node] }];
  }
  if (options.length === 1) {
    return only.type === 'array' ? itemFields(only, name, isRequired) : memberFields(only, name, isRequired);
  }
  const inner = objects.flatMap((option) =>
    option.type === 'array' ? itemFields(option, name, false) : memberFields(option, name, false),
  );
  return [
    { name, isRequired, words: `either ${options.map((option) => choiceWords(option)).join(', or ')}`, nodes: [] },
    ...merged(inner),
  ];
}

/** One row for each name: alternatives may have some of them in common. */
function merged(rows: readonly Row[]): readonly Row[] {
  const byName = new Map<string, Row>();
  for (const row of rows) {
    const anyOf = [...(byName.get(row.name)?.nodes ?? []), ...row.nodes];
    byName.set(row.name, { ...row, nodes: anyOf, words: anyOf.length > 1 ? schemaWords({ anyOf }) : row.words });
  }
  return [...byName.values()];
}

function itemFields(list: SchemaNode, name: string, isRequired: boolean): readonly Row[] {
  const items = (typeof list.items === 'object' && !Array.isArray(list.items) ? list.items : {}) as SchemaNode;
  const least = (list.minItems ?? 0) > 0 ? `, at least ${list.minItems}` : '';
  const options = optionsOf(items);
  if (!options.some(isStructured)) {
    return [{ name: `${name}[]`, isRequired, words: `${schemaWords(items)}${least}`, nodes: [items] }];
  }
  return placeFields(items, `${name}[]`, isRequired);
}

/** Whether a value has parts that `-f` can name. */
function isStructured({ type, title, properties, additionalProperties }: SchemaNode): boolean {
  return (
    title === undefined &&
    (type === 'array' ||
      (type === 'object' &&
        (properties !== undefined ||
          (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0))))
  );
}

/** What tells one alternative from the others: its members, with the values that are fixed. */
function choiceWords(option: SchemaNode): string {
  if (option.type !== 'object' || option.title !== undefined) {
    return schemaWords(option);
  }
  const members = Object.entries(option.properties ?? {});
  return members.map(([name, member]) => memberWords(name, member as SchemaNode)).join(' and ');
}
