import type * as z from 'zod';
import { ConfigError } from '../../core/errors.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';
import { type Field, nameOf } from './fields.ts';
import type { Method } from './find.ts';
import { jsonSchemaOf, optionsOf, type SchemaNode } from './schema-words.ts';
import { type Asked, encoded } from './target.ts';

/** Where fields go. */
export interface Routed {
  readonly query: readonly Field[];
  readonly body: readonly Field[];
}

/** Fields of a read go into its query, and those of a write into its body, but what only its query has. */
export function routeFields(method: Method, operation: Operation | null, fields: readonly Field[]): Routed {
  if (method === 'GET') {
    return { query: fields, body: [] };
  }
  const inQuery = membersOf(operation?.query ?? null);
  const inBody = membersOf(operation?.body ?? null);
  const isQuery = ({ path: [name] }: Field) => inQuery.has(String(name)) && !inBody.has(String(name));
  return { query: fields.filter(isQuery), body: fields.filter((field) => !isQuery(field)) };
}

function membersOf(schema: z.ZodType | null): ReadonlyMap<string, SchemaNode> {
  const options = schema === null ? [] : optionsOf(jsonSchemaOf(schema));
  return new Map(options.flatMap(({ properties = {} }) => Object.entries(properties) as [string, SchemaNode][]));
}

/** The query of a path and fields together. Throws ConfigError for a field that no query can have. */
export function queryText({ search, isUrl }: Pick<Asked, 'search' | 'isUrl'>, fields: readonly Field[]): string {
  if (isUrl && fields.length === 0) {
    return encoded(search);
  }
  const text = new URLSearchParams(search);
  for (const { path, value } of fields) {
    const [name = '', second] = path;
    if (path.length > 2 || (path.length === 2 && second !== null)) {
      throw new ConfigError(`${nameOf(path)}: a query cannot have nested fields`);
    }
    if (!Array.isArray(value)) {
      text.append(String(name), String(value));
    }
  }
  return text.toString();
}

/** A query as its schema sees it: numbers, flags and lists as such. */
export function queryValues(schema: z.ZodType, search: string): Readonly<Record<string, unknown>> {
  const members = membersOf(schema);
  const text = new URLSearchParams(search);
  const entries = [...new Set(text.keys())].map((name) => {
    const node = members.get(name) ?? {};
    const all = text.getAll(name);
    const list = optionsOf(node).find(({ type }) => type === 'array');
    const [first = ''] = all;
    return [name, list === undefined && all.length === 1 ? asTyped(first, node) : all] as const;
  });
  return Object.fromEntries(entries);
}

function asTyped(text: string, node: SchemaNode): unknown {
  const types = optionsOf(node).map(({ type }) => type);
  if (types.includes('boolean') && (text === 'true' || text === 'false')) {
    return text === 'true';
  }
  const isNumber = types.includes('integer') || types.includes('number');
  return isNumber && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
