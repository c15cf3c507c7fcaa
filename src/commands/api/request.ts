/** Builds and checks the request of an `octavo api` command line. */
import { ConfigError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { didYouMean, nearest, quote } from '../../core/text/suggest.ts';
import { withoutTrailingSlashes } from '../../core/url.ts';
import { counted } from '../../plan/render/words.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';
import {
  type LocatedIssue,
  locateIssues,
  memberSchemas,
  type RequestNode,
  type RequestSchema,
} from '../../platform/operations/model/request-schema.ts';
import type { Repeat, RequestClass } from '../../queue/request.ts';
import {
  alternativesOf,
  describeSchema,
  findOperation,
  isNamed,
  METHODS,
  operationsWithPath,
  pathParameters,
  type RequestMethod,
  similarPath,
} from './operations.ts';

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

interface PrepareOptions {
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
  // The last value of a name wins.
  const headers = Object.fromEntries(args.headers.map(readHeader));
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
  const near = found.length > 0 ? null : similarPath(table, path);
  if (!isRaw && found.length > 0) {
    const has = found.map((operation) => `${operation.method} (${operation.name})`).join(', ');
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

/** Sends fields of a GET to the query, and others to the body unless only the query has the field. */
function routeFields(method: RequestMethod, operation: Operation | null, fields: readonly InputField[]) {
  if (method === 'GET') {
    return { query: fields, body: [] };
  }
  const inQuery = memberSchemas(operation?.query?.json ?? {});
  const inBody = memberSchemas(operation?.body?.json ?? {});
  const isQuery = ({ path: [name] }: InputField) =>
    Object.hasOwn(inQuery, String(name)) && !Object.hasOwn(inBody, String(name));
  return { query: fields.filter(isQuery), body: fields.filter((field) => !isQuery(field)) };
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
function queryValues(schema: RequestSchema, search: string): Readonly<Record<string, unknown>> {
  const members = memberSchemas(schema.json);
  const text = new URLSearchParams(search);
  const entries = [...new Set(text.keys())].map((name) => {
    const node = Object.hasOwn(members, name) ? (members[name] ?? {}) : {};
    const all = text.getAll(name);
    const list = alternativesOf(node).find(({ type }) => type === 'array');
    const [first = ''] = all;
    return [name, list === undefined && all.length === 1 ? asTyped(first, node) : all] as const;
  });
  return Object.fromEntries(entries);
}

function asTyped(text: string, node: RequestNode): unknown {
  const types = alternativesOf(node).map(({ type }) => type);
  if (types.includes('boolean') && (text === 'true' || text === 'false')) {
    return text === 'true';
  }
  const isNumber = types.includes('integer') || types.includes('number');
  return isNumber && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** The requested method and path, before placeholders are filled in. */
interface RequestTarget {
  readonly method: RequestMethod;
  /** Path from `/v1`, with `{placeholders}`. */
  readonly path: string;
  /** The query, without `?`. */
  readonly search: string;
  /** True for a full URL, which is used unchanged. */
  readonly isUrl: boolean;
}

/** Known operations, `--method`, and the base URL of the platform, below which full URLs must be. */
type TargetOptions = Pick<PrepareOptions, 'table' | 'baseUrl'> & Pick<RequestArguments, 'method'>;

/** Reads METHOD PATH, PATH alone, or an operation name with the ids of its path. Throws ConfigError. */
export function readTarget(words: readonly string[], options: TargetOptions): RequestTarget {
  const [first, ...rest] = words;
  if (first === undefined) {
    throw new ConfigError(
      'no request given; pass METHOD PATH or an operation name (run octavo api --list to list operations)',
    );
  }
  if (isPath(first)) {
    refuseExtra(rest);
    return { method: parseMethod(options.method ?? 'GET'), ...splitPath(first, options.baseUrl) };
  }
  const [second] = rest;
  if (METHODS.some((method) => method === first.toUpperCase()) || isMethodAndPath(first, second, options.table)) {
    const method = parseMethod(first);
    if (second === undefined) {
      throw new ConfigError(`${method} needs a path, such as /v1/orgs/{organization}/teams`);
    }
    refuseExtra(rest.slice(1));
    return { method, ...splitPath(second, options.baseUrl) };
  }
  return namedTarget(first, rest, options);
}

/** Returns true when a path follows a word that is not an operation name, so the word must be a method. */
function isMethodAndPath(first: string, second: string | undefined, table: readonly Operation[]): boolean {
  return second !== undefined && isPath(second) && !table.some((operation) => isNamed(operation, first));
}

function isPath(word: string): boolean {
  return word.includes('/');
}

function refuseExtra(words: readonly string[]): void {
  const [extra] = words;
  if (extra !== undefined) {
    throw new ConfigError(`${quote(extra)} is an extra argument; pass fields with -f and a body with -d`);
  }
}

function parseMethod(word: string): RequestMethod {
  const method = METHODS.find((known) => known === word.toUpperCase());
  if (method === undefined) {
    throw new ConfigError(`${quote(word)} is not a supported method; use one of ${METHODS.join(', ')}`);
  }
  return method;
}

function namedTarget(name: string, ids: readonly string[], { table, method }: TargetOptions): RequestTarget {
  const names = table.flatMap((operation) => [operation.name, ...(operation.alias === null ? [] : [operation.alias])]);
  const operation = table.find((one) => isNamed(one, name));
  if (operation === undefined) {
    throw new ConfigError(`no operation ${quote(name)}${didYouMean(name, names, howToSearch(name, names))}`);
  }
  if (method !== undefined && parseMethod(method) !== operation.method) {
    throw new ConfigError(`${operation.name} is a ${operation.method} operation, not ${method.toUpperCase()}`);
  }
  const open = pathParameters(operation.path).filter((parameter) => parameter !== ORGANIZATION);
  if (ids.length > open.length) {
    const takes = open.length === 0 ? 'no id' : open.join(', ');
    throw new ConfigError(
      `${operation.name} takes ${takes}, but got ${counted(ids.length, 'argument')}; pass fields with -f`,
    );
  }
  const path = ids.reduce(
    (filled, id, index) => filled.replace(`{${open[index]}}`, encodeId(open[index] ?? '', id)),
    operation.path,
  );
  return { method: operation.method, path, search: '', isUrl: false };
}

/** Hint for an unknown operation: the only name that contains the word, or the command to search with. */
function howToSearch(word: string, names: readonly string[]): string {
  const [only, second] = names.filter((name) => name.toLowerCase().includes(word.toLowerCase()));
  if (only !== undefined && second === undefined) {
    return `; did you mean ${quote(only)}?`;
  }
  const filter = only === undefined ? '' : ` ${word}`;
  return `; run octavo api --list${filter} to list operations, or start a path with /`;
}

/** The path parameter that is filled in from the configuration. */
const ORGANIZATION = 'organizationId';
/** Names that placeholders may use for it. */
const ORGANIZATION_NAMES = [ORGANIZATION, 'organization', 'org', 'orgId'];

type PathParts = Omit<RequestTarget, 'method'>;

function splitPath(word: string, baseUrl: string): PathParts {
  const isUrl = /^https?:\/\//i.test(word);
  const own = isUrl ? pathBelowBase(word, baseUrl) : word;
  const [before = '', ...after] = own.split('?');
  const path = `/${before.replace(/^\/+/, '')}`;
  if (path.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part))) {
    throw new ConfigError(`${quote(maskUrls(word))} is not a valid path: it has a segment of only dots`);
  }
  const search = after.join('?');
  return isUrl ? { path, search, isUrl } : { path: versionedPath(path), search, isUrl };
}

/** Adds `/v1` if the path has no version, and removes trailing slashes. */
function versionedPath(path: string): string {
  const versioned = /^\/v\d+(\/|$)/.test(path) ? path : `/v1${path}`;
  return versioned === '/v1' || versioned === '/v1/' ? '/v1/' : withoutTrailingSlashes(versioned);
}

/**
 * Returns the path and query of a URL, without its fragment. Throws ConfigError for a URL that is not below the base
 * URL, because the token is sent nowhere else.
 */
function pathBelowBase(word: string, baseUrl: string): string {
  const [, authority = '', rest = ''] = /^(https?:\/\/[^/\\?#]*)([^#]*)/i.exec(word) ?? [];
  const base = URL.parse(baseUrl);
  const url = URL.parse(authority);
  const prefix = withoutTrailingSlashes(base?.pathname ?? '');
  const isBelow = rest === prefix || ['/', '?'].some((next) => rest.startsWith(`${prefix}${next}`));
  if (base === null || url === null || url.origin !== base.origin || url.username !== '' || !isBelow) {
    const shown = withoutTrailingSlashes(baseUrl);
    throw new ConfigError(`${quote(maskUrls(word))} is not below ${shown}; the token is sent only there`);
  }
  return rest.slice(prefix.length);
}

/**
 * Fills `{placeholders}` from fields of the same name, and the organization also from the configuration. `:placeholders`
 * are filled only outside of full URLs.
 */
function fillPath({ path, isUrl }: PathParts, fields: readonly InputField[], organization: string) {
  const used = new Set<InputField>();
  const value = (name: string): string => {
    const field = fields.find((one) => one.path.length === 1 && one.path[0] === name);
    if (field !== undefined) {
      used.add(field);
      return String(field.value);
    }
    if (ORGANIZATION_NAMES.includes(name)) {
      return organization;
    }
    throw new ConfigError(
      `${name} is missing; pass the id after the operation name, in the path, or with -f ${name}=ID${similarName(name, fields)}`,
    );
  };
  const parts = path.split('/').map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1] ?? (isUrl ? undefined : /^:(\w+)$/.exec(part)?.[1]);
    return name === undefined ? part : encodeId(name, value(name));
  });
  return { path: encodeText(parts.join('/')), fields: fields.filter((field) => !used.has(field)) };
}

function similarName(name: string, fields: readonly InputField[]): string {
  const names = fields.map((field) => String(field.path[0]));
  const near = nearest(name, names);
  return near === null ? '' : `; ${quote(near)} was given`;
}

/** Encodes an id as one segment of a path. Throws ConfigError for dots, which cannot be encoded, and an empty id. */
function encodeId(name: string, id: string): string {
  if (id === '' || id === '.' || id === '..') {
    throw new ConfigError(`${quote(id)} is not an id for {${name}}`);
  }
  return encodeURIComponent(id);
}

/** Encodes characters that a path or a query cannot contain; existing escapes are kept. */
function encodeText(part: string): string {
  return part.replaceAll(/[^\w\-.~!$&'()*+,;=:@/%?]+/gu, (text) => encodeURIComponent(text.toWellFormed()));
}

/** A `-f` or `-F` argument. */
export interface FieldArgument {
  /** `key=value`; `key[]` alone is an empty list. */
  readonly text: string;
  /** True for `-F`: `true`, `3`, `null` and `@file` are converted. */
  readonly isTyped: boolean;
}

/** A parsed field. */
interface InputField {
  /** The parsed key: `a[b][]` is `a`, `b` and null. */
  readonly path: readonly (string | null)[];
  readonly value: unknown;
  /** True for values of `-f`, which are strings even where they look like a number or a boolean. */
  readonly isText: boolean;
}

/** Reads the file of an `@name` value; `-` is standard input. */
type ReadInput = (name: string) => Promise<string>;

/** Parses `-f` and `-F` arguments. Throws ConfigError. */
async function readFields(typed: readonly FieldArgument[], read: ReadInput): Promise<readonly InputField[]> {
  const fields: InputField[] = [];
  for (const { text, isTyped } of typed) {
    const flag = isTyped ? '-F' : '-f';
    const equals = text.indexOf('=');
    const key = equals < 0 ? text : text.slice(0, equals);
    const path = readKey(key, flag);
    if (equals < 0 && !key.endsWith('[]')) {
      throw new ConfigError(`${flag} ${quote(text)}: expected key=value`);
    }
    const value = text.slice(equals + 1);
    if (equals < 0) {
      fields.push({ path, value: EMPTY_LIST, isText: false });
    } else if (isTyped) {
      const typed = value.startsWith('@') ? await read(value.slice(1)) : parseLiteral(value);
      fields.push({ path, value: typed, isText: false });
    } else {
      fields.push({ path, value, isText: true });
    }
  }
  return fields;
}

/** The value of `key[]` without `=`. */
const EMPTY_LIST = Object.freeze([]);

const KEY = /^[^[\]=]+(\[[^[\]]*\])*$/;

function readKey(key: string, flag: string): InputField['path'] {
  if (!KEY.test(key)) {
    throw new ConfigError(`${flag} ${quote(key)}: expected a field name such as title, scope[mode] or members[]`);
  }
  const [name = '', ...rest] = key.split('[');
  return [name, ...rest.map((part) => (part === ']' ? null : part.slice(0, -1)))];
}

/** Parses a boolean, a number or null; returns any other text unchanged. */
function parseLiteral(text: string): unknown {
  if (text === 'true' || text === 'false') {
    return text === 'true';
  }
  if (text === 'null') {
    return null;
  }
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Merges fields into a copy of an object, in order. Throws ConfigError when two fields conflict. */
function mergeFields(over: Readonly<Record<string, unknown>>, fields: readonly InputField[]): Record<string, unknown> {
  const root: Record<string, unknown> = structuredClone(over);
  for (const field of fields) {
    setField(root, field);
  }
  return root;
}

function setField(root: Record<string, unknown>, { path, value }: InputField): void {
  const [name = '', ...rest] = path;
  let container: Record<string, unknown> | unknown[] = root;
  let key: string | number = name ?? '';
  for (const [index, step] of rest.entries()) {
    const isLast = index === rest.length - 1;
    const inner: unknown = get(container, key) ?? (step === null ? [] : {});
    if (step === null ? !Array.isArray(inner) : !isObject(inner)) {
      throw new ConfigError(
        `the field ${fieldName(path)} conflicts with another field: its parent cannot be both a list and a value`,
      );
    }
    set(container, key, inner);
    container = inner as Record<string, unknown> | unknown[];
    if (step !== null) {
      key = step;
    } else if (value === EMPTY_LIST && isLast) {
      return;
    } else {
      const list = container as unknown[];
      key = isLast ? list.length : itemFor(list, rest[index + 1] ?? null);
    }
  }
  set(container, key, value);
}

/** Index of the object that a member belongs to; as in `gh api`, a repeated member starts the next object. */
function itemFor(list: readonly unknown[], member: string | null): number {
  const last = list.at(-1);
  return isObject(last) && member !== null && !Object.hasOwn(last, member) ? list.length - 1 : list.length;
}

function get(container: Record<string, unknown> | unknown[], key: string | number): unknown {
  return Object.hasOwn(container, key) ? (container as Record<string, unknown>)[key] : undefined;
}

/** Defines an own member, also for a name such as `__proto__`. */
function set(container: Record<string, unknown> | unknown[], key: string | number, value: unknown): void {
  Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Formats a path as a key, such as `a[b][]`. */
function fieldName(path: readonly (string | number | null)[]): string {
  return path
    .map((part, index) => (index === 0 ? String(part) : typeof part === 'string' ? `[${part}]` : '[]'))
    .join('');
}

/** Headers that the client sets, because they describe the connection or the message. */
const OWN = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** Printable Latin-1 and tabs; other characters cannot be sent, or would start another header. */
const VALUE = /^[\t\x20-\x7e\xa0-\xff]*$/;
/** Headers whose values grant access. */
const SECRET_NAME = /auth|cookie|token|secret|key|password|credential|signature|session/;
/** The scheme of `Authorization` is public; the value after it is secret. */
const SCHEME = /^(\w+)\s+/;

/** Parses a `-H` argument (`name: value`) to a lower-case name and its value. Throws ConfigError without the value. */
function readHeader(text: string): readonly [name: string, value: string] {
  const colon = text.indexOf(':');
  if (colon < 0) {
    throw new ConfigError('-H: expected name:value, such as -H "Prefer: return=minimal"');
  }
  const name = text.slice(0, colon).trim().toLowerCase();
  const value = text.slice(colon + 1).trim();
  if (!NAME.test(name)) {
    throw new ConfigError(`-H: ${quote(name)} is not a valid header name`);
  }
  if (OWN.has(name)) {
    throw new ConfigError(`-H: ${name} cannot be set, because Octavo sets it`);
  }
  if (!VALUE.test(value)) {
    throw new ConfigError(`-H ${name}: the value has characters that are not allowed in a header`);
  }
  return [name, value];
}

/** Returns header values that must not be printed. */
export function secretValues(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => SECRET_NAME.test(name))
    .flatMap(([, value]) => [value, value.replace(SCHEME, '')]);
}

/** Returns one line for each problem of a value, with what is expected; `label` names the value as a whole. */
function findProblems(schema: RequestSchema, value: unknown, label: string): readonly string[] {
  const checked = schema.safeParse(value);
  if (checked.success) {
    return [];
  }
  const issues = locateIssues(checked.error);
  return [...new Set(issues.flatMap((found) => describeIssue(found, schema.json, value, label)))];
}

function describeIssue(
  { path, issue }: LocatedIssue,
  root: RequestNode,
  value: unknown,
  label: string,
): readonly string[] {
  const nodes = nodesAt(root, path);
  if (issue.code === 'unrecognized_keys') {
    const known = [...new Set(nodes.flatMap(alternativesOf).flatMap(({ properties = {} }) => Object.keys(properties)))];
    return issue.keys.map((key) => `${fieldName([...path, key])}: no such field${suggestField(key, known)}`);
  }
  const name = path.length === 0 ? label : fieldName(path);
  const expected = nodes.length === 0 ? null : describeSchema({ anyOf: [...nodes] });
  if (expected === null) {
    return [`${name}: ${issue.message}`];
  }
  const given = valueAt(value, path);
  if (given === undefined) {
    return [`${name}: missing; expected ${expected}`];
  }
  if (issue.code === 'custom' && path.length === 0) {
    return [`${name} ${issue.message}`];
  }
  return [`${name}: must be ${expected}${suggestValue(given, nodes)}`];
}

function suggestField(key: string, known: readonly string[]): string {
  return didYouMean(key, known, known.length === 0 ? '' : `; valid fields: ${known.toSorted().join(', ')}`);
}

function suggestValue(given: unknown, nodes: readonly RequestNode[]): string {
  const values = nodes
    .flatMap(alternativesOf)
    .flatMap((node) => (node.enum ?? []).filter((one) => typeof one === 'string'));
  return typeof given === 'string' ? didYouMean(given, values) : '';
}

/** The schemas of the value at a path, from every alternative that has it. */
function nodesAt(root: RequestNode, path: LocatedIssue['path']): readonly RequestNode[] {
  let nodes: readonly RequestNode[] = [root];
  for (const step of path) {
    nodes = nodes.flatMap(alternativesOf).flatMap((node) => childNodes(node, step));
  }
  return nodes;
}

function childNodes(node: RequestNode, step: string | number): readonly RequestNode[] {
  const { properties, items, additionalProperties } = node;
  const member = typeof step === 'number' ? items : (properties?.[step] ?? additionalProperties);
  return typeof member === 'object' ? [member] : [];
}

function valueAt(value: unknown, path: LocatedIssue['path']): unknown {
  return path.reduce<unknown>((place, step) => {
    if (Array.isArray(place)) {
      return place[Number(step)];
    }
    return isObject(place) && Object.hasOwn(place, step) ? place[step] : undefined;
  }, value);
}
