/** Builds and checks the request of an `octavo api` command line. */
import type * as z from 'zod';
import { ConfigError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { quote } from '../../core/text/suggest.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';
import type { Repeat, RequestClass } from '../../queue/request.ts';
import { findProblems } from './check.ts';
import {
  type FieldArgument,
  fieldName,
  type InputField,
  mergeFields,
  parseLiteral,
  type ReadInput,
  readFields,
} from './fields.ts';
import { findOperation, isUnlisted, operationsWithPath, type RequestMethod, similarPath } from './find.ts';
import { readHeaders } from './headers.ts';
import { alternativesOf, type SchemaNode, toJsonSchema } from './schema-text.ts';
import { encodeText, fillPath, type RequestTarget, readTarget } from './target.ts';

/** A request that is ready to send. */
export interface PreparedRequest {
  /** Name in messages: the operation's name, else method and path. */
  readonly name: string;
  readonly method: RequestMethod;
  /** Encoded path from `/v1`, with the query. */
  readonly path: string;
  /** JSON text, or null. */
  readonly body: string | null;
  /** Headers of `-H` by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly class: RequestClass;
  readonly repeat: Repeat;
  /** Null for a request that is not a known operation. */
  readonly operation: Operation | null;
  /** Warnings to print before sending. */
  readonly notes: readonly string[];
}

/** The parts of the command line that define a request. */
export interface RequestArguments {
  readonly words: readonly string[];
  readonly method: string | undefined;
  readonly fields: readonly FieldArgument[];
  readonly data: string | undefined;
  /** `-H` arguments. */
  readonly headers: readonly string[];
  /** True with `--raw`: the request is sent unchecked. */
  readonly isRaw: boolean;
}

export interface PrepareOptions {
  readonly table: readonly Operation[];
  /** The organization's id, for placeholders. */
  readonly organization: string;
  readonly baseUrl: string;
  readonly read: ReadInput;
}

/**
 * Builds a request from a command line: fills in placeholders and checks the fields of known operations. Throws
 * ConfigError that lists every problem.
 */
export async function prepare(
  args: RequestArguments,
  { table, organization, baseUrl, read }: PrepareOptions,
): Promise<PreparedRequest> {
  const target = readTarget(args.words, { table, method: args.method, baseUrl });
  const given = await readFields(args.fields, read);
  const headers = readHeaders(args.headers);
  const { path, fields } = fillPath(target, given, organization);
  const operation = findOperation(table, target.method, path);
  const notes = operation === null && !target.isUrl ? unknownNotes(target.method, path, table, args.isRaw) : [];
  const routed = routeFields(target.method, operation, fields);
  const search = queryText(target, routed.query);
  const body = await readBody(target.method, operation, routed.body, args, read);
  if (operation !== null && !args.isRaw) {
    const problems = bodyProblems(operation, body);
    // Problems that disappear with the values of -F are caused by using -f.
    const retyped = problems.length === 0 ? body : mergeTyped(body, routed.body);
    const hints = addTypedHints(problems, bodyProblems(operation, retyped), routed.body);
    refuseInvalid(operation, [...queryProblems(operation, search), ...hints]);
  }
  return {
    name: operation?.name ?? `${target.method} ${path}`,
    method: target.method,
    path: search === '' ? path : `${path}?${search}`,
    body: body === undefined ? null : JSON.stringify(body),
    headers,
    class: operation?.class ?? (target.method === 'GET' ? 'read' : 'write'),
    repeat: operation?.repeat ?? (target.method === 'GET' ? 'safe' : 'never'),
    operation,
    notes,
  };
}

/** Returns the note for an unknown request. Throws ConfigError when it looks like a typing error. */
function unknownNotes(
  method: RequestMethod,
  path: string,
  table: readonly Operation[],
  isRaw: boolean,
): readonly string[] {
  const found = operationsWithPath(table, path);
  const supported = isUnlisted(method, found) ? [] : found;
  const near = supported.length > 0 ? null : similarPath(table, path);
  if (!isRaw && supported.length > 0) {
    const has = supported.map((operation) => `${operation.method} (${operation.name})`).join(', ');
    throw new ConfigError(`no operation ${method} ${path}; this path supports ${has}; ${RAW}`);
  }
  if (!isRaw && near !== null) {
    throw new ConfigError(`no operation ${method} ${path}; did you mean ${near}? ${RAW}`);
  }
  return [`${method} ${path} is not a known operation; it is sent unchecked`];
}

const RAW = 'pass --raw to send it unchecked';

async function readBody(
  method: RequestMethod,
  operation: Operation | null,
  fields: readonly InputField[],
  args: RequestArguments,
  read: ReadInput,
): Promise<unknown> {
  if (args.data === undefined && fields.length === 0) {
    // An operation with a body is sent at least an empty object.
    return operation !== null && operation.body !== null ? {} : undefined;
  }
  if (method === 'GET') {
    throw new ConfigError('-d cannot be used with GET, which has no body; pass a method such as POST');
  }
  const data = args.data === undefined ? {} : await readData(args.data, read);
  if (fields.length === 0) {
    return data;
  }
  if (!isObject(data)) {
    throw new ConfigError('-f can add fields only to an object, and -d is not an object');
  }
  return mergeFields(data, fields);
}

/** Reads the body of `-d`: JSON, `@file`, or `-` for standard input. Throws ConfigError. */
async function readData(data: string, read: ReadInput): Promise<unknown> {
  const name = data === '-' ? '-' : data.startsWith('@') ? data.slice(1) : null;
  const text = name === null ? data : await read(name);
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    // The original message quotes the input, which may be secret; the position is enough.
    const at = /position (\d+)/.exec((error as Error).message)?.[1];
    const where = at === undefined ? '' : ` (${positionText(text, Number(at))})`;
    throw new ConfigError(
      `-d is not valid JSON${where}; use -d '{"title":"Writers"}', -d @body.json, or -d - for standard input`,
      { cause: error },
    );
  }
}

function positionText(text: string, position: number): string {
  const lines = text.slice(0, position).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

function queryProblems(operation: Operation, search: string): readonly string[] {
  if (operation.query === null) {
    const [extra] = new URLSearchParams(search).keys();
    return extra === undefined ? [] : [`${extra}: ${operation.name} has no query parameters`];
  }
  return findProblems(operation.query, queryValues(operation.query, search), 'the query');
}

function bodyProblems(operation: Operation, body: unknown): readonly string[] {
  if (operation.body === null) {
    return body === undefined ? [] : [`${operation.name} has no body; leave out -f and -d`];
  }
  return findProblems(operation.body, body, 'the body');
}

function refuseInvalid(operation: Operation, problems: readonly string[]): void {
  if (problems.length === 0) {
    return;
  }
  const [only = '', second] = problems;
  const more = `run octavo api --list ${operation.name} to show its fields, or ${RAW}`;
  throw new ConfigError(
    second === undefined
      ? `${operation.name} is not sent: ${only}${only.endsWith('?') ? '' : ';'} ${more}`
      : `${operation.name} is not sent:\n${problems.map((line) => `  ${line}\n`).join('')}${more}`,
  );
}

/** Returns the body with the values that `-F` would send for the fields of `-f`. */
function mergeTyped(body: unknown, fields: readonly InputField[]): unknown {
  const typed = fields.map((field) => (field.isText ? { ...field, value: parseLiteral(String(field.value)) } : field));
  return isObject(body) ? mergeFields(body, typed) : body;
}

/** Adds the advice to use `-F` to the problems that it would fix. */
function addTypedHints(
  problems: readonly string[],
  retyped: readonly string[],
  fields: readonly InputField[],
): readonly string[] {
  return problems.map((problem) => {
    const text = fields.find(({ path, isText }) => isText && problem.startsWith(`${fieldName(path)}: must be`));
    if (text === undefined || retyped.includes(problem)) {
      return problem;
    }
    const field = quote(`${fieldName(text.path)}=${String(text.value)}`).slice(1, -1);
    return `${problem}; -f sends strings; use -F ${field} to send the value`;
  });
}

/** Fields of the query and of the body. */
interface RoutedFields {
  readonly query: readonly InputField[];
  readonly body: readonly InputField[];
}

/** Sends fields of a GET to the query, and others to the body unless only the query has the field. */
function routeFields(method: RequestMethod, operation: Operation | null, fields: readonly InputField[]): RoutedFields {
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
function queryText({ search, isUrl }: Pick<RequestTarget, 'search' | 'isUrl'>, fields: readonly InputField[]): string {
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
function queryValues(schema: z.ZodType, search: string): Readonly<Record<string, unknown>> {
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
