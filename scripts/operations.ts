/**
 * Makes the table of operations from the OpenAPI documents of the vendor's packages: names, types and limits, without
 * their prose. Source: docs/platform-notes.md#sources-of-facts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { operations } from '../src/platform/operations/index.ts';
import type { Operation } from '../src/platform/operations/model/operation.ts';
import type { RequestNode } from '../src/platform/operations/model/request-schema.ts';
import { type TableLine, VERSIONS } from '../src/platform/operations/table.ts';
import { correct, INGEST, REPEATS } from './operation-corrections.ts';
import { NAMES } from './operation-names.ts';
import { type Components, mergeVersions, readSchema, resolve, type VendorSchema } from './vendor-schemas.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: VendorSchema;
}

type Content = Readonly<Record<string, { readonly schema: VendorSchema }>>;

interface VendorOperation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, VendorOperation>>>>;
  readonly components: Components;
}

/** Facts of a document about an operation. */
interface Found {
  readonly id: string;
  readonly method: Operation['method'];
  readonly path: string;
  readonly versions: readonly string[];
  readonly statuses: readonly number[];
  readonly types: readonly string[];
  readonly query: RequestNode | undefined;
  readonly body: RequestNode | undefined;
}

/** Returns the files that are made from the documents, by path: the table, and the types of the inputs that code gives. */
export function operationFiles(): ReadonlyMap<string, string> {
  const lines = operationLines();
  return new Map([
    ['src/platform/operations/operations.json', operationsTable(lines)],
    [
      'src/platform/operations/model/inputs.ts',
      inputTypes(lines.filter(({ name }) => Object.hasOwn(operations, name))),
    ],
  ]);
}

/** Returns one line for each operation, by path. */
function operationsTable(lines: readonly TableLine[]): string {
  return `[\n${lines.map((line) => JSON.stringify(line, sortedKeys)).join(',\n')}\n]\n`;
}

function sortedKeys(_key: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}

function operationLines(): readonly TableLine[] {
  const found = new Map<string, Found>();
  for (const version of VERSIONS.toReversed()) {
    for (const operation of readDocument(version)) {
      const key = `${operation.method} ${operation.path}`;
      const newer = found.get(key);
      found.set(key, newer === undefined ? operation : merge(newer, operation));
    }
  }
  const lines = correct([...found.values()].map(toLine));
  const names = new Set(lines.map(({ name }) => name));
  // The vendor's name of one operation may be the name of another.
  const distinct = lines.map(({ alias, ...line }) =>
    alias === undefined || names.has(alias) ? line : { ...line, alias },
  );
  return distinct.toSorted((a, b) => (`${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1));
}

function readDocument(version: string): readonly Found[] {
  const file = new URL(`../node_modules/gitbook-api-${version}/spec/openapi.json`, import.meta.url);
  const { paths, components } = JSON.parse(readFileSync(file, 'utf8')) as Document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]) => {
        const shared = (methods.parameters ?? []) as unknown as readonly Parameter[];
        const given = [...shared, ...(operation.parameters ?? [])].map((one) => resolve(components, one));
        const body = resolve(components, operation.requestBody)?.content['application/json']?.schema;
        const responses = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
        return {
          id: operation.operationId,
          method: method.toUpperCase() as Operation['method'],
          path: `/v1${path}`,
          versions: [version],
          statuses: responses.map(([status]) => Number(status)),
          types: responses.flatMap(([, response]) => Object.keys(resolve(components, response).content ?? {})),
          query: querySchema(
            components,
            given.filter((one) => one.in === 'query'),
          ),
          body: body === undefined ? undefined : readSchema(components, body),
        };
      }),
  );
}

function querySchema(components: Components, parameters: readonly Parameter[]): RequestNode | undefined {
  if (parameters.length === 0) {
    return undefined;
  }
  const required = parameters.filter((one) => one.required === true).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      // A page has a whole number of items.
      parameters.map(({ name, schema }) => [
        name,
        { ...readSchema(components, schema), ...(name === 'limit' ? { type: 'integer' } : {}) },
      ]),
    ),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function merge(newer: Found, older: Found): Found {
  const both = (a: RequestNode | undefined, b: RequestNode | undefined) =>
    a === undefined || b === undefined ? (a ?? b) : mergeVersions(a, b);
  return {
    ...newer,
    versions: [...older.versions, ...newer.versions],
    statuses: [...new Set([...newer.statuses, ...older.statuses])].sort(),
    types: [...newer.types, ...older.types],
    query: both(newer.query, older.query),
    body: both(newer.body, older.body),
  };
}

function toLine({ id, method, path, versions, statuses, types, query, body }: Found): TableLine {
  const known = NAMES[id];
  const [name, summary] = typeof known === 'object' ? known : [id, known ?? summaryOf(id)];
  const { page, limit } = query?.properties ?? {};
  return {
    name,
    ...(name === id ? {} : { alias: id }),
    summary,
    method,
    path,
    ...(versions.length === VERSIONS.length ? {} : { versions }),
    class: INGEST.includes(name) ? 'ingest' : classOf(method, path),
    repeat: REPEATS[name] ?? (method === 'GET' ? 'safe' : method === 'POST' ? 'never' : 'idempotent'),
    ...(page !== undefined && limit !== undefined && method === 'GET' ? { paginated: true } : {}),
    ...(types.includes('text/event-stream') ? { streamed: true } : {}),
    ...(types.includes('application/json') ? { hasAnswer: true } : {}),
    success: statuses,
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
  };
}

function classOf(method: string, path: string): TableLine['class'] {
  if (path.endsWith('/search')) {
    return 'search';
  }
  return method === 'GET' ? 'read' : 'write';
}

/** Verbs that are said otherwise than by their name and an `s`. */
const VERBS: Readonly<Record<string, string>> = { get: 'returns', search: 'searches', upsert: 'creates or replaces' };

/** Returns a sentence from a name: `listSiteChannels` is `Lists site channels.` */
function summaryOf(id: string): string {
  const words = id
    .replaceAll(/([a-z])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3 $2')
    .split(' ')
    .map((word) => (/^[A-Z]{2,}/.test(word) ? word : word.toLowerCase()));
  const [verb = '', ...rest] = words
    .join(' ')
    .replace(/ by (id|name|slug)$/, '')
    .split(' ');
  const said = `${VERBS[verb] ?? `${verb}s`} ${rest.join(' ')}`;
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

function inputTypes(lines: readonly TableLine[]): string {
  const members = lines
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((line) => `  readonly ${line.name}: ${inputType(line)};\n`);
  return `/** Inputs of the operations that code calls. Made from the vendor's documents by "npm run docs". */
import type { RichDocument } from '../../rich-text/node.ts';

/** Inputs of operations, by name. The organization in a path is filled in if it is absent. */
export interface Inputs {
${members.join('')}}
`;
}

function inputType({ path, query, body }: TableLine): string {
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const parts = [
    ...(ids.length === 0 ? [] : [member('path', idsType(ids), ids.every(isFilledIn))]),
    query === undefined ? 'readonly query?: undefined' : member('query', typeOf(query), query.required === undefined),
    body === undefined ? 'readonly body?: undefined' : member('body', typeOf(body), false),
  ];
  return `{ ${parts.join('; ')} }`;
}

const isFilledIn = (name: string) => name === 'organizationId';

function idsType(ids: readonly string[]): string {
  return `{ ${ids.map((name) => member(name, 'string', isFilledIn(name))).join('; ')} }`;
}

function member(name: string, type: string, isOptional: boolean): string {
  const key = /^\w+$/.test(name) ? name : `'${name}'`;
  return `readonly ${key}${isOptional ? '?' : ''}: ${type}`;
}

/** Returns the type of the values that a schema accepts. */
function typeOf(node: RequestNode): string {
  return [...new Set(alternativesOf(node))].join(' | ');
}

function alternativesOf(node: RequestNode): readonly string[] {
  const { title, type, enum: values, anyOf, items, properties, required = [], additionalProperties } = node;
  if (title === 'rich document') {
    return ['RichDocument'];
  }
  if (anyOf !== undefined) {
    return anyOf.flatMap(alternativesOf);
  }
  if (values !== undefined) {
    return values.map((value) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value)));
  }
  if (Array.isArray(type)) {
    return type.flatMap((one: string) => alternativesOf({ ...node, type: one }));
  }
  if (type === 'array') {
    const item = typeOf(items ?? {});
    return [`readonly ${/[|]|^readonly/.test(item) ? `(${item})` : item}[]`];
  }
  if (properties !== undefined || type === 'object') {
    const members = Object.entries(properties ?? {}).map(([name, one]) =>
      member(name, typeOf(one), !required.includes(name)),
    );
    const more = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown';
    const open =
      additionalProperties === false ? [] : [`readonly [name: string]: ${members.length > 0 ? 'unknown' : more}`];
    return [`{ ${[...members, ...open].join('; ')} }`];
  }
  return [type === 'integer' ? 'number' : ((type as string | undefined) ?? 'unknown')];
}

if (import.meta.main) {
  const isCheck = process.argv[2] === '--check';
  for (const [path, content] of operationFiles()) {
    const file = new URL(`../${path}`, import.meta.url);
    if (!isCheck) {
      writeFileSync(file, content);
    } else if (readFileSync(file, 'utf8') !== content) {
      process.stdout.write(`${path} is not up to date; run npm run docs\n`);
      process.exitCode = 1;
    }
  }
}
