/** Finds operations of the platform, and describes them and their fields in words. */
import { ConfigError } from '../../core/errors.ts';
import { shownJson } from '../../core/json.ts';
import { compareText, largest } from '../../core/lists.ts';
import { didYouMean, nearest, quote } from '../../core/text/suggest.ts';
import type { Paint } from '../../plan/render/text-layout.ts';
import { counted } from '../../plan/render/words.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';
import type { RequestNode } from '../../platform/operations/model/request-schema.ts';
import { limitedTo } from '../../platform/operations/table.ts';
import type { Repeat } from '../../queue/request.ts';
import { type CommandContext, paintFor } from '../cli/context.ts';

/** HTTP methods that the platform supports. */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type RequestMethod = (typeof METHODS)[number];

/** Returns the operation of a request, or null. `path` starts with `/v1` and has its parameters filled in. */
export function findOperation(table: readonly Operation[], method: RequestMethod, path: string): Operation | null {
  const found = table.filter((operation) => operation.method === method && matchesTemplate(operation.path, path));
  // The template with the fewest parameters is the most specific.
  return found.toSorted((a, b) => parameterCount(a.path) - parameterCount(b.path))[0] ?? null;
}

/** Returns the operations of a path, for all methods. */
export function operationsWithPath(table: readonly Operation[], path: string): readonly Operation[] {
  return table.filter((operation) => matchesTemplate(operation.path, path));
}

function matchesTemplate(template: string, path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  return wanted.length === given.length && wanted.every((part, index) => matchesPart(part, given[index] ?? ''));
}

function matchesPart(wanted: string, given: string): boolean {
  return isParameter(wanted) ? given !== '' : wanted === given;
}

function isParameter(part: string): boolean {
  return part.startsWith('{');
}

function parameterCount(template: string): number {
  return template.split('/').filter(isParameter).length;
}

/** Returns a known path of the same length in which a single segment differs slightly, or null. */
export function similarPath(table: readonly Operation[], path: string): string | null {
  const given = path.split('/');
  const near = table
    .map((operation) => operation.path)
    .filter((template) => isSimilar(template.split('/'), given))
    .sort();
  return near[0] ?? null;
}

/** Minimum length of a segment that is compared; shorter ones resemble too many others. */
const MIN_LENGTH = 3;

function isSimilar(wanted: readonly string[], given: readonly string[]): boolean {
  if (wanted.length !== given.length) {
    return false;
  }
  const wrong = wanted.flatMap((part, index) => (matchesPart(part, given[index] ?? '') ? [] : [index]));
  const [only, second] = wrong;
  if (only === undefined || second !== undefined) {
    return false;
  }
  const [is, meant] = [given[only] ?? '', wanted[only] ?? ''];
  return Math.min(is.length, meant.length) >= MIN_LENGTH && nearest(is, [meant]) !== null;
}

/** Maximum number of matches that are printed with their fields. */
const FEW = 3;

/** Prints the operations that match, offline. Throws ConfigError when none does. */
export function listOperations(
  table: readonly Operation[],
  expected: readonly string[],
  format: 'text' | 'json',
  { terminal }: CommandContext,
): void {
  const found = matching(table, expected);
  if (format === 'json') {
    terminal.out(`${shownJson({ format: 'octavo.operations/1', operations: found.map(asJson) })}\n`);
    return;
  }
  const paint = paintFor(terminal.isOutTerminal, terminal.env);
  if (found.length <= FEW) {
    terminal.out(found.map((operation) => details(operation, paint)).join('\n'));
    return;
  }
  terminal.out(overview(found, paint, terminal.isOutTerminal ? terminal.columns : null));
  terminal.err(`\n${counted(found.length, 'operation')}; run octavo api --list NAME to show the parameters of one\n`);
}

/** Matches the exact name, else every word in the name or path, else every word in the name, path or summary. */
function matching(table: readonly Operation[], expected: readonly string[]): readonly Operation[] {
  const wanted = expected.map((word) => word.toLowerCase());
  const ways: readonly ((operation: Operation) => boolean)[] = [
    (operation) => wanted.length === 1 && isNamed(operation, wanted[0] ?? ''),
    ({ name, method, path }) => hasAll(`${name} ${method} ${path}`, wanted),
    ({ name, alias, method, path, summary }) => hasAll(`${name} ${alias} ${method} ${path} ${summary}`, wanted),
  ];
  const found = ways.map((way) => table.filter(way)).find((some) => some.length > 0);
  if (found === undefined) {
    const names = table.map(({ name }) => name);
    throw new ConfigError(
      `no operation matches ${quote(expected.join(' '))}${didYouMean(expected.join(''), names, '; run octavo api --list to list all operations')}`,
    );
  }
  return found.toSorted((a, b) => compareText(a.path, b.path));
}

/** Returns true for the name of an operation, or the vendor's name, in any case. */
export function isNamed({ name, alias }: Operation, word: string): boolean {
  const lower = word.toLowerCase();
  return name.toLowerCase() === lower || alias?.toLowerCase() === lower;
}

function hasAll(text: string, expected: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return expected.every((word) => lower.includes(word));
}

function asJson(operation: Operation): object {
  const { name, alias, summary, method, path, versions, paginated, streamed, repeat, success, query, body } = operation;
  return {
    name,
    alias,
    summary,
    method,
    path,
    versions,
    class: operation.class,
    repeat,
    paginated,
    streamed,
    success,
    query: query?.json ?? null,
    body: body?.json ?? null,
  };
}

/** One line per operation; on a narrow terminal the paths are left out and summaries are shortened. */
function overview(found: readonly Operation[], { strong, faint }: Paint, columns: number | null): string {
  const names = largest(found.map(({ name }) => name.length)) + 2;
  const paths = largest(found.map(({ path }) => path.length)) + 2;
  const wide = columns === null || columns - names - METHOD_WIDTH - paths >= LEAST_SUMMARY;
  const room = columns === null ? Number.POSITIVE_INFINITY : columns - names - METHOD_WIDTH - (wide ? paths : 0);
  const lines = found.map(({ name, method, path, summary }) => {
    const text = summary.length <= room ? summary : `${summary.slice(0, Math.max(0, room - 1))}…`;
    return `${strong(name.padEnd(names))}${method.padEnd(METHOD_WIDTH)}${wide ? path.padEnd(paths) : ''}${faint(text)}\n`;
  });
  return lines.join('');
}

const METHOD_WIDTH = 8;
/** Minimum width of the summary column, in characters. */
const LEAST_SUMMARY = 24;

/** An operation with its fields, its rate class and an example. */
function details(operation: Operation, { strong, faint }: Paint): string {
  const { name, method, path, summary, paginated, streamed, repeat } = operation;
  const { parameters, query, body } = describeFields(operation);
  const only = limitedTo(operation);
  const ids = parameters.filter((parameter) => parameter !== 'organizationId');
  const parts = [
    `${strong(name)}  ${method} ${path}`,
    `  ${summary}`,
    ...(operation.alias === null ? [] : [`  ${faint('also')}   ${operation.alias}`]),
    ...(only === null ? [] : [`  ${faint('only')}   ${only}`]),
    ...section('query', query, faint),
    ...(method !== 'GET' && body.length === 0 ? [`  ${faint('no body')}`] : section('body', body, faint)),
    `  ${faint('rate')}   ${operation.class}; ${RETRY_TEXT[repeat]}`,
    ...(paginated ? [`  ${faint('list')}   paginated; --paginate streams all items`] : []),
    ...(streamed ? [`  ${faint('stream')} streamed response, one line per event`] : []),
    `  ${faint('try')}    octavo api ${[name, ...ids.map((id) => id.toUpperCase()), ...example(method === 'GET' ? [] : body)].join(' ')}`,
  ];
  return `${parts.join('\n')}\n`;
}

function section(title: string, fields: readonly FieldDescription[], faint: Paint['faint']): readonly string[] {
  const width = largest(
    fields.map((field) => field.name.length + 1),
    0,
  );
  return fields.map(
    ({ name, isRequired, expected }, index) =>
      `  ${faint((index === 0 ? title : '').padEnd(6))} ${`${name}${isRequired ? '*' : ''}`.padEnd(width)}  ${expected}`,
  );
}

/** The required fields as command-line arguments. */
function example(fields: readonly FieldDescription[]): readonly string[] {
  return fields
    .filter(({ isRequired }) => isRequired)
    .map(({ name, expected }) => {
      const isText = /^(text|a URL|a time|one of|either|")/.test(expected);
      const key = expected.startsWith('either ') ? `${name}[…]` : name;
      return `${isText ? '-f' : '-F'} ${/[[\]]/.test(key) ? `'${key}=…'` : `${key}=…`}`;
    });
}

/** A field of a query or a body. */
export interface FieldDescription {
  /** Its name as `-f` takes it, such as `scope[mode]`. */
  readonly name: string;
  readonly isRequired: boolean;
  /** The values that it takes, in words. */
  readonly expected: string;
}

/** Lists the parameters and fields of an operation. */
export function describeFields({ path, query, body }: Operation) {
  return {
    parameters: pathParameters(path),
    query: query === null ? [] : fieldsOf(query.json),
    body: body === null ? [] : fieldsOf(body.json),
  };
}

/** The names of the parameters in a path, in order. */
export function pathParameters(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Retry behavior of an operation when a response is lost, in words. */
const RETRY_TEXT: Readonly<Record<Repeat, string>> = {
  safe: 'read-only; retried if there is no response',
  idempotent: 'idempotent; retried if there is no response',
  never: 'not idempotent; never retried, and may have taken effect if there is no response',
};

/** A field with the schemas of its value, from all alternatives. */
interface Row extends FieldDescription {
  readonly nodes: readonly RequestNode[];
}

function fieldsOf(root: RequestNode): readonly Row[] {
  const options = alternativesOf(root);
  const lists = options.filter(({ type }) => type === 'array');
  const objects = options.filter((option) => !lists.includes(option));
  const isNeeded = (name: string) => objects.every(({ required }) => required?.includes(name));
  const rows =
    objects.length > 1
      ? merged(objects.flatMap((option) => memberFields(option, '', false))).map((row) => ({
          ...row,
          isRequired: isNeeded(row.name),
        }))
      : objects.flatMap((option) => memberFields(option, '', true));
  return lists.length === 0 || rows.length === 0
    ? [...rows, ...lists.flatMap((list) => itemFields(list, '', true))]
    : [...rows, { name: '[]', isRequired: false, expected: 'or a list of these objects, with -d', nodes: [] }];
}

/** The members of an object, including those of nested objects. */
function memberFields(node: RequestNode, prefix: string, isNeeded: boolean): readonly Row[] {
  const { properties = {}, required = [] } = node;
  const needed = ([key]: readonly [string, RequestNode]) => (required.includes(key) ? 0 : 1);
  const members = Object.entries(properties).toSorted((a, b) => needed(a) - needed(b));
  const fields = members.flatMap(([key, member]) => {
    const rows = valueFields(member, prefix === '' ? key : `${prefix}[${key}]`, isNeeded && required.includes(key));
    const { only } = member;
    return only === undefined ? rows : rows.map((row) => ({ ...row, expected: `${row.expected} (${only})` }));
  });
  const values = valueSchema(node);
  return values === null
    ? fields
    : [...fields, { name: `${prefix}[NAME]`, isRequired: false, expected: describeSchema(values), nodes: [] }];
}

function valueFields(node: RequestNode, name: string, isRequired: boolean): readonly Row[] {
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

function partFields(node: RequestNode, name: string, isRequired: boolean): readonly Row[] {
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

function itemFields(list: RequestNode, name: string, isRequired: boolean): readonly Row[] {
  const items = list.items ?? {};
  const least = (list.minItems ?? 0) > 0 ? `, at least ${list.minItems}` : '';
  const options = alternativesOf(items);
  if (!options.some(isStructured)) {
    return [{ name: `${name}[]`, isRequired, expected: `${describeSchema(items)}${least}`, nodes: [items] }];
  }
  return valueFields(items, `${name}[]`, isRequired);
}

/** Returns true for lists and objects whose members `-f` can name. */
function isStructured(node: RequestNode): boolean {
  const { type, title, properties } = node;
  const hasMembers = properties !== undefined || valueSchema(node) !== null;
  return title === undefined && (type === 'array' || (type === 'object' && hasMembers));
}

/** Describes an alternative by its members, with their fixed values. */
function describeAlternative(option: RequestNode): string {
  if (option.type !== 'object' || option.title !== undefined) {
    return describeSchema(option);
  }
  const members = Object.entries(option.properties ?? {});
  return members.map(([name, member]) => describeMember(name, member)).join(' and ');
}

/** Describes the values that a schema accepts, such as `text of 1 to 64 characters`. */
export function describeSchema(node: RequestNode): string {
  const options = alternativesOf(node);
  const named = options.flatMap((option) => option.enum ?? []);
  const [first] = options;
  if (named.length > 0 && options.every((option) => (option.enum ?? []).length > 0 || option.type === 'null')) {
    const isNullable = options.some(({ type }) => type === 'null');
    return `${describeValues(named)}${isNullable ? ' or null' : ''}`;
  }
  if (options.length === 1 && first !== undefined) {
    return describeType(first);
  }
  return [...new Set(options.map(describeType))].join(' or ');
}

/** Returns the alternatives of a schema; a list of types counts as one alternative per type. */
export function alternativesOf(node: RequestNode): readonly RequestNode[] {
  const { anyOf, type, enum: values } = node;
  if (anyOf !== undefined) {
    return anyOf.flatMap(alternativesOf);
  }
  if (!Array.isArray(type)) {
    return [node];
  }
  const named = values === undefined ? {} : { enum: values.filter((value) => value !== null) };
  return type.map((single: string) => (single === 'null' ? { type: single } : { ...node, ...named, type: single }));
}

/** Returns the schema of the values of an object with arbitrary keys; null for other objects. */
function valueSchema({ additionalProperties }: RequestNode): RequestNode | null {
  return typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
    ? additionalProperties
    : null;
}

function describeValues(values: readonly unknown[]): string {
  const all = [...new Set(values)].map((value) => JSON.stringify(value));
  return all.length === 1 ? (all[0] ?? '') : `one of ${all.join(', ')}`;
}

function describeType(node: RequestNode): string {
  if (node.title !== undefined) {
    return `a ${node.title}`;
  }
  switch (node.type) {
    case 'string':
      return describeString(node);
    case 'integer':
      return `a whole number${describeNumber(node)}`;
    case 'number':
      return `a number${describeNumber(node)}`;
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'array':
      return describeList(node);
    case 'object':
      return describeObject(node);
    default:
      return 'anything';
  }
}

/** Texts that have a format. */
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'a time such as 2026-01-31T09:00:00Z',
  date: 'a date such as 2026-01-31',
  email: 'an email address',
  uuid: 'a UUID',
  base64: 'a file as Base64',
};

function describeString({ minLength = 0, maxLength, format, pattern }: RequestNode): string {
  const range = describeRange(minLength > 0 ? minLength : null, maxLength ?? null, 'of');
  const length = range === '' ? '' : `${range} ${(maxLength ?? minLength) === 1 ? 'character' : 'characters'}`;
  if (format === 'uri') {
    return `a URL${length}`;
  }
  const named = FORMATS[format ?? ''];
  if (named !== undefined) {
    return named;
  }
  return `text${length}${pattern === undefined ? '' : ` like ${pattern}`}`;
}

function describeNumber({ minimum, maximum }: RequestNode): string {
  return describeRange(minimum ?? null, maximum ?? null, 'from');
}

function describeRange(least: number | null, most: number | null, preposition: 'of' | 'from'): string {
  if (least !== null && most !== null) {
    return ` ${preposition} ${least} to ${most}`;
  }
  return least !== null ? ` of at least ${least}` : most !== null ? ` of at most ${most}` : '';
}

function describeList(node: RequestNode): string {
  const { minItems = 0, maxItems } = node;
  const what = describeSchema(node.items ?? {});
  const least = minItems > 0 ? `, at least ${minItems}` : '';
  return `a list of ${what}${least}${maxItems === undefined ? '' : `, at most ${maxItems}`}`;
}

function describeObject(node: RequestNode): string {
  const { properties = {}, required = [], minProperties, maxProperties } = node;
  const names = required.length > 0 ? required : Object.keys(properties);
  if (minProperties === 1 && required.length === 0) {
    return `an object with ${maxProperties === 1 ? '' : 'at least '}one of ${names.join(', ')}`;
  }
  if (names.length > 0) {
    return `an object with ${names.map((name) => describeMember(name, properties[name] ?? {})).join(', ')}`;
  }
  const values = valueSchema(node);
  return values === null ? 'an object' : `an object of ${describeSchema(values)} by name`;
}

/** Formats a member, with its value if it is fixed: `object=site`. */
function describeMember(name: string, node: RequestNode): string {
  const fixed = node.enum ?? [];
  return fixed.length === 1 ? `${name}=${String(fixed[0])}` : name;
}
