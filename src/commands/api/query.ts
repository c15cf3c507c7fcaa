/** Splits fields between query and body, and builds the query string. */
import type * as z from 'zod';
import { ConfigError } from '../../core/errors.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';
import { fieldName, type InputField } from './fields.ts';
import type { RequestMethod } from './find.ts';
import { alternativesOf, type SchemaNode, toJsonSchema } from './schema-text.ts';
import { encodeText, type RequestTarget } from './target.ts';

/** Fields of the query and of the body. */
export interface RoutedFields {
  readonly query: readonly InputField[];
  readonly body: readonly InputField[];
}

/** Sends fields of a GET to the query, and others to the body unless only the query has the field. */
export function routeFields(
  method: RequestMethod,
  operation: Operation | null,
  fields: readonly InputField[],
): RoutedFields {
  if (method === 'GET') {
    return { query: fields, body: [] };
  }
  const inQuery = schemaMembers(operation?.query ?? null);
  const inBody = schemaMembers(operation?.body ?? null);
  const isQuery = ({ path: [name] }: InputField) => inQuery.has(String(name)) && !inBody.has(String(name));
  return { query: fields.filter(isQuery), body: fields.filter((field) => !isQuery(field)) };
}

function schemaMembers(schema: z.ZodType | null): ReadonlyMap<string, SchemaNode> {
  const options = schema === null ? [] : alternativesOf(toJsonSchema(schema));
  return new Map(options.flatMap(({ properties = {} }) => Object.entries(properties) as [string, SchemaNode][]));
}

/** Builds the query from that of the path and from fields. Throws ConfigError for a nested field. */
export function queryText(
  { search, isUrl }: Pick<RequestTarget, 'search' | 'isUrl'>,
  fields: readonly InputField[],
): string {
  if (isUrl && fields.length === 0) {
    return encodeText(search);
  }
  const text = new URLSearchParams(search);
  for (const { path, value } of fields) {
    const [name = '', second] = path;
    if (path.length > 2 || (path.length === 2 && second !== null)) {
      throw new ConfigError(`${fieldName(path)}: a query cannot have nested fields`);
    }
    if (!Array.isArray(value)) {
      text.append(String(name), String(value));
    }
  }
  return text.toString();
}

/** Parses a query to the types of its schema: numbers, booleans and lists. */
export function queryValues(schema: z.ZodType, search: string): Readonly<Record<string, unknown>> {
  const members = schemaMembers(schema);
  const text = new URLSearchParams(search);
  const entries = [...new Set(text.keys())].map((name) => {
    const node = members.get(name) ?? {};
    const all = text.getAll(name);
    const list = alternativesOf(node).find(({ type }) => type === 'array');
    const [first = ''] = all;
    return [name, list === undefined && all.length === 1 ? asTyped(first, node) : all] as const;
  });
  return Object.fromEntries(entries);
}

function asTyped(text: string, node: SchemaNode): unknown {
  const types = alternativesOf(node).map(({ type }) => type);
  if (types.includes('boolean') && (text === 'true' || text === 'false')) {
    return text === 'true';
  }
  const isNumber = types.includes('integer') || types.includes('number');
  return isNumber && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
