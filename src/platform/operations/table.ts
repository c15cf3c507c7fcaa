/** Table of every operation in the platform's documents, which is read when the first operation is used. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import type { Inputs } from './model/inputs.ts';
import type { Get, List, Operation, Stream, Write } from './model/operation.ts';
import { type RequestNode, RequestSchema } from './model/request-schema.ts';
import { pageOf } from './model/shapes.ts';

/** Facts of the table about an operation. Its response is described where it is read. */
type Facts = Omit<Operation, 'name' | 'answer'> & { readonly hasAnswer: boolean };

/** A line of `operations.json`. Members with the usual value are left out. */
export type TableLine = Pick<Operation, 'name' | 'summary' | 'method' | 'path' | 'class' | 'repeat' | 'success'> & {
  readonly alias?: string;
  /** Both, if absent. */
  readonly versions?: readonly string[];
  readonly paginated?: true;
  readonly streamed?: true;
  readonly hasAnswer?: true;
  readonly query?: RequestNode;
  readonly body?: RequestNode;
};

/** Versions of the vendor's documents that the table is made from. */
export const VERSIONS = ['0.146', '0.202'] as const;

let table: ReadonlyMap<string, Facts> | undefined;

function facts(): ReadonlyMap<string, Facts> {
  if (table === undefined) {
    const text = readFileSync(new URL('./operations.json', import.meta.url), 'utf8');
    const lines = JSON.parse(text) as readonly TableLine[];
    table = new Map(lines.map((line) => [line.name, readLine(line)]));
  }
  return table;
}

function readLine({ query, body, ...line }: TableLine): Facts {
  return {
    ...line,
    alias: line.alias ?? null,
    versions: line.versions ?? VERSIONS,
    paginated: line.paginated ?? false,
    streamed: line.streamed ?? false,
    hasAnswer: line.hasAnswer ?? false,
    query: query === undefined ? null : new RequestSchema(query),
    body: body === undefined ? null : new RequestSchema(body),
  };
}

function factsOf(name: string): Facts {
  const found = facts().get(name);
  if (found === undefined) {
    throw new Error(`operations.json has no operation ${name}; run npm run docs`);
  }
  return found;
}

/** Members of an operation that are read from the table. */
const FROM_TABLE = [
  'alias',
  'summary',
  'method',
  'path',
  'versions',
  'query',
  'body',
  'class',
  'repeat',
  'paginated',
  'streamed',
  'success',
] as const;

/** Creates an operation whose other members are looked up in the table when they are read. */
function named<O extends Operation>(own: Pick<O, 'name' | 'answer'> & { readonly item?: z.ZodType }): O {
  const members = FROM_TABLE.map((key) => [key, { get: () => factsOf(own.name)[key], enumerable: true }] as const);
  return Object.defineProperties(own, Object.fromEntries(members)) as unknown as O;
}

/** Declares the response of a read. */
export function read<const N extends keyof Inputs, A extends z.ZodType>(name: N, answer: A): Get<N, A> {
  return named<Get<N, A>>({ name, answer });
}

/** Declares the items of a paginated list. */
export function list<const N extends keyof Inputs, I extends z.ZodType>(name: N, item: I): List<N, I> {
  return named<List<N, I>>({ name, item, answer: pageOf(item) });
}

/** Declares the response of a write; null if a success has no body. */
export function write<const N extends keyof Inputs, A extends z.ZodType | null = null>(
  name: N,
  answer: A = null as A,
): Write<N, A> {
  return named<Write<N, A>>({ name, answer });
}

/** Declares the events of a stream. */
export function stream<const N extends keyof Inputs, I extends z.ZodType>(name: N, item: I): Stream<N, I> {
  return named<Stream<N, I>>({ name, item, answer: null });
}

const anything = z.unknown();
const anyPage = pageOf(anything);

/** Returns every operation, with any response. */
export function allOperations(): readonly Operation[] {
  return [...facts()].map(([name, { hasAnswer, ...rest }]) => ({
    name,
    ...rest,
    answer: rest.paginated ? anyPage : hasAnswer ? anything : null,
    item: anything,
  }));
}

/** Returns the platforms that have an operation which not every platform has, in words; null for any other. */
export function limitedTo({ versions }: Operation): string | null {
  if (VERSIONS.every((version) => versions.includes(version))) {
    return null;
  }
  return versions.length === 0 ? 'some platforms' : `platforms like ${versions.join(' and ')}`;
}
