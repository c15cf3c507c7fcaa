import { ConfigError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { quote } from '../../core/text/suggest.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';
import type { Repeat, RequestClass } from '../../queue/model/request.ts';
import { faultsOf } from './check.ts';
import { readData } from './data.ts';
import { type Field, layFields, literalOf, nameOf, type ReadNamed, readFields, type TypedField } from './fields.ts';
import { isUnlisted, type Method, nearestPath, operationOf, operationsAt } from './find.ts';
import { readHeaders } from './headers.ts';
import { queryText, queryValues, routeFields } from './query.ts';
import { fillPath, readTarget } from './target.ts';

/** A request that is ready to be sent. */
export interface Prepared {
  /** For messages: the operation's name, else method and path. */
  readonly name: string;
  readonly method: Method;
  /** From `/v1`, encoded, with the query. */
  readonly path: string;
  /** JSON text, or null. */
  readonly body: string | null;
  /** Headers of `-H`, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly class: RequestClass;
  readonly repeat: Repeat;
  /** Null where the table has no such operation. */
  readonly operation: Operation | null;
  /** What a person should know before it is sent. */
  readonly notes: readonly string[];
}

/** What the command line says of a request. */
export interface Wish {
  readonly words: readonly string[];
  readonly method: string | undefined;
  readonly fields: readonly TypedField[];
  readonly data: string | undefined;
  /** What `-H` gives, as `name: value`. */
  readonly headers: readonly string[];
  /** Whether it is sent whatever the table says of it. */
  readonly isRaw: boolean;
}

export interface Preparing {
  readonly table: readonly Operation[];
  /** The organization's id, for placeholders. */
  readonly organization: string;
  readonly baseUrl: string;
  readonly read: ReadNamed;
}

/**
 * Makes a request of a command line: names and placeholders are filled in, and what the table knows is checked. Throws
 * ConfigError that says all that is wrong.
 */
export async function prepare(wish: Wish, { table, organization, baseUrl, read }: Preparing): Promise<Prepared> {
  const asked = readTarget(wish.words, { table, method: wish.method, baseUrl });
  const given = await readFields(wish.fields, read);
  const headers = readHeaders(wish.headers);
  const { path, fields } = fillPath(asked, given, organization);
  const operation = operationOf(table, asked.method, path);
  const notes = operation === null && !asked.isUrl ? unknownNotes(asked.method, path, table, wish.isRaw) : [];
  const routed = routeFields(asked.method, operation, fields);
  const search = queryText(asked, routed.query);
  const body = await bodyOf(asked.method, operation, routed.body, wish, read);
  if (operation !== null && !wish.isRaw) {
    const faults = bodyFaults(operation, body);
    // The same body with the values that -F would have sent: what is wrong with both is not a matter of the flag.
    const retyped = faults.length === 0 ? body : layTyped(body, routed.body);
    const hints = typedHints(faults, bodyFaults(operation, retyped), routed.body);
    mustFit(operation, [...queryFaults(operation, search), ...hints]);
  }
  return {
    name: operation?.name ?? `${asked.method} ${path}`,
    method: asked.method,
    path: search === '' ? path : `${path}?${search}`,
    body: body === undefined ? null : JSON.stringify(body),
    headers,
    class: operation?.class ?? (asked.method === 'GET' ? 'read' : 'write'),
    repeat: operation?.repeat ?? (asked.method === 'GET' ? 'safe' : 'never'),
    operation,
    notes,
  };
}

/** What is not in the table is sent with a note, and refused where it looks like a slip. */
function unknownNotes(method: Method, path: string, table: readonly Operation[], isRaw: boolean): readonly string[] {
  const found = operationsAt(table, path);
  const there = isUnlisted(method, found) ? [] : found;
  const near = there.length > 0 ? null : nearestPath(table, path);
  if (!isRaw && there.length > 0) {
    const has = there.map((operation) => `${operation.method} (${operation.name})`).join(', ');
    throw new ConfigError(`no operation ${method} ${path}; this path supports ${has}; ${RAW}`);
  }
  if (!isRaw && near !== null) {
    throw new ConfigError(`no operation ${method} ${path}; did you mean ${near}? ${RAW}`);
  }
  return [`${method} ${path} is not a known operation; it is sent unchecked`];
}

const RAW = 'pass --raw to send it unchecked';

async function bodyOf(
  method: Method,
  operation: Operation | null,
  fields: readonly Field[],
  wish: Wish,
  read: ReadNamed,
): Promise<unknown> {
  if (wish.data === undefined && fields.length === 0) {
    // What the platform wants a body for has at least an empty one.
    return operation !== null && operation.body !== null ? {} : undefined;
  }
  if (method === 'GET') {
    throw new ConfigError('-d cannot be used with GET, which has no body; pass a method such as POST');
  }
  const data = wish.data === undefined ? {} : await readData(wish.data, read);
  if (fields.length === 0) {
    return data;
  }
  if (!isObject(data)) {
    throw new ConfigError('-f can add fields only to an object, and -d is not an object');
  }
  return layFields(data, fields);
}

function queryFaults(operation: Operation, search: string): readonly string[] {
  if (operation.query === null) {
    const [extra] = new URLSearchParams(search).keys();
    return extra === undefined ? [] : [`${extra}: ${operation.name} has no query parameters`];
  }
  return faultsOf(operation.query, queryValues(operation.query, search), 'the query');
}

function bodyFaults(operation: Operation, body: unknown): readonly string[] {
  if (operation.body === null) {
    return body === undefined ? [] : [`${operation.name} has no body; leave out -f and -d`];
  }
  return faultsOf(operation.body, body, 'the body');
}

function mustFit(operation: Operation, faults: readonly string[]): void {
  if (faults.length === 0) {
    return;
  }
  const [only = '', second] = faults;
  const more = `run octavo api --list ${operation.name} to show its fields, or ${RAW}`;
  throw new ConfigError(
    second === undefined
      ? `${operation.name} is not sent: ${only}${only.endsWith('?') ? '' : ';'} ${more}`
      : `${operation.name} is not sent:\n${faults.map((line) => `  ${line}\n`).join('')}${more}`,
  );
}

/** A body whose text fields of `-f` have the values that `-F` would have given them. */
function layTyped(body: unknown, fields: readonly Field[]): unknown {
  const typed = fields.map((field) => (field.isText ? { ...field, value: literalOf(String(field.value)) } : field));
  return isObject(body) ? layFields(body, typed) : body;
}

/** Faults, with the advice to use `-F` where that would fix one of them. */
function typedHints(
  faults: readonly string[],
  retyped: readonly string[],
  fields: readonly Field[],
): readonly string[] {
  return faults.map((fault) => {
    const text = fields.find(({ path, isText }) => isText && fault.startsWith(`${nameOf(path)}: must be`));
    if (text === undefined || retyped.includes(fault)) {
      return fault;
    }
    const field = quote(`${nameOf(text.path)}=${String(text.value)}`).slice(1, -1);
    return `${fault}; -f sends strings; use -F ${field} to send the value`;
  });
}
