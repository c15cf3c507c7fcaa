// Declares operations of the platform as data.
import * as z from 'zod';
import type { Repeat, RequestClass } from '../../../queue/request.ts';
import { type Page, pageOf } from './shapes.ts';

export type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Operation of the platform, as data. The tables of operations are the only list of paths. */
export interface Operation {
  /** Unique; used in messages and metrics. */
  readonly name: string;
  /** One-line summary, for search. */
  readonly summary: string;
  readonly method: 'GET' | WriteMethod;
  /** Path from `/v1`, with `{parameters}`, relative to the base URL of the connection. */
  readonly path: string;
  readonly query: z.ZodType | null;
  /** Strict: undocumented members are not sent. */
  readonly body: z.ZodType | null;
  /** Lenient: unknown members are kept. Optional if a 204 is possible; null if a success has no body. */
  readonly answer: z.ZodType | null;
  readonly class: RequestClass;
  readonly repeat: Repeat;
  readonly paginated: boolean;
  /** True if the response is a stream of events. */
  readonly streamed: boolean;
  /** Statuses that mean success. */
  readonly success: readonly number[];
}

export interface ReadOperation extends Operation {
  readonly method: 'GET';
  readonly body: null;
  readonly answer: z.ZodType;
  readonly repeat: 'safe';
  readonly streamed: false;
}

export interface PaginatedOperation extends ReadOperation {
  readonly paginated: true;
  readonly item: z.ZodType;
}

export interface WriteOperation extends Operation {
  readonly method: WriteMethod;
  readonly paginated: false;
  readonly streamed: false;
}

/**
 * Operation whose response is a stream of events, each a JSON text, until `done`.
 * Source: docs/platform-notes.md#ask
 */
export interface StreamOperation extends Operation {
  readonly method: 'POST';
  readonly answer: null;
  /** Schema of an event. Lenient, like those of responses. */
  readonly item: z.ZodType;
  readonly paginated: false;
  readonly streamed: true;
}

interface Get<P extends string, Q extends z.ZodType | null, A extends z.ZodType> extends ReadOperation {
  readonly path: P;
  readonly query: Q;
  readonly answer: A;
  readonly paginated: false;
}

interface List<P extends string, Q extends z.ZodType, I extends z.ZodType> extends PaginatedOperation {
  readonly path: P;
  readonly query: Q;
  readonly item: I;
  readonly answer: z.ZodType<Page<z.output<I>>>;
}

interface Write<P extends string, B extends z.ZodType | null, A extends z.ZodType | null> extends WriteOperation {
  readonly path: P;
  readonly query: null;
  readonly body: B;
  readonly answer: A;
}

interface Stream<P extends string, Q extends z.ZodType | null, B extends z.ZodType, I extends z.ZodType>
  extends StreamOperation {
  readonly path: P;
  readonly query: Q;
  readonly body: B;
  readonly item: I;
}

/** Declares a read of one object. */
export function read<const P extends string, A extends z.ZodType, Q extends z.ZodType | null = null>(
  name: string,
  summary: string,
  path: P,
  answer: A,
  rest: { readonly query?: Q; readonly class?: RequestClass } = {},
): Get<P, Q, A> {
  const query = (rest.query ?? null) as Q;
  return {
    name,
    summary,
    method: 'GET',
    path,
    query,
    body: null,
    answer,
    class: rest.class ?? 'read',
    repeat: 'safe',
    paginated: false,
    streamed: false,
    success: [200],
  };
}

const paging = { page: z.string().optional(), limit: z.int().min(0).max(1000).optional() };

const pagingAlone = z.strictObject(paging);

/** Declares a paginated list. `filters` are the query parameters other than `page` and `limit`. */
export function list<const P extends string, I extends z.ZodType, F extends z.ZodRawShape = Record<never, z.ZodType>>(
  name: string,
  summary: string,
  path: P,
  item: I,
  filters?: F,
  rest: { readonly class?: RequestClass } = {},
): List<P, z.ZodObject<typeof paging & F, z.core.$strict>, I> {
  const query = (filters === undefined ? pagingAlone : z.strictObject({ ...filters, ...paging })) as z.ZodObject<
    typeof paging & F,
    z.core.$strict
  >;
  return {
    name,
    summary,
    method: 'GET',
    path,
    query,
    body: null,
    answer: pageOf(item),
    item,
    class: rest.class ?? 'read',
    repeat: 'safe',
    paginated: true,
    streamed: false,
    success: [200],
  };
}

/** Properties of a write without a default. */
export interface WriteShape<B extends z.ZodType | null, A extends z.ZodType | null> {
  readonly body?: B;
  readonly answer?: A;
  readonly class?: RequestClass;
  readonly repeat: Repeat;
  /** Defaults to 200. */
  readonly success?: readonly number[];
}

/** Declares a write other than a deletion. */
export function write<const P extends string, B extends z.ZodType | null = null, A extends z.ZodType | null = null>(
  name: string,
  summary: string,
  method: WriteMethod,
  path: P,
  shape: WriteShape<B, A>,
): Write<P, B, A> {
  return {
    name,
    summary,
    method,
    path,
    query: null,
    body: (shape.body ?? null) as B,
    answer: (shape.answer ?? null) as A,
    class: shape.class ?? 'write',
    repeat: shape.repeat,
    paginated: false,
    streamed: false,
    success: shape.success ?? [200],
  };
}

/**
 * Declares a deletion. 205 (deleted) and 204 (did not exist) are both success.
 * Source: docs/platform-notes.md#deletions
 */
export function remove<const P extends string>(name: string, summary: string, path: P): Write<P, null, null> {
  return write(name, summary, 'DELETE', path, { repeat: 'idempotent', success: [200, 204, 205] });
}

/** Properties of a stream without a default. */
export interface StreamShape<Q extends z.ZodType | null, B extends z.ZodType, I extends z.ZodType> {
  readonly query?: Q;
  readonly body: B;
  readonly item: I;
  readonly class?: RequestClass;
}

/** Declares a request whose response is a stream of events. It changes nothing and can be retried. */
export function stream<
  const P extends string,
  B extends z.ZodType,
  I extends z.ZodType,
  Q extends z.ZodType | null = null,
>(name: string, summary: string, path: P, shape: StreamShape<Q, B, I>): Stream<P, Q, B, I> {
  return {
    name,
    summary,
    method: 'POST',
    path,
    query: (shape.query ?? null) as Q,
    body: shape.body,
    answer: null,
    item: shape.item,
    class: shape.class ?? 'write',
    repeat: 'safe',
    paginated: false,
    streamed: true,
    success: [200],
  };
}

type ParameterName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterName<Rest>
  : never;

type OptionalName<Path extends string> = Extract<ParameterName<Path>, 'organizationId'>;
type RequiredName<Path extends string> = Exclude<ParameterName<Path>, 'organizationId'>;
type PathValues<Path extends string> = { readonly [K in RequiredName<Path>]: string } & {
  readonly [K in OptionalName<Path>]?: string;
};

type PathInput<P extends string> = [RequiredName<P>] extends [never]
  ? { readonly path?: PathValues<P> }
  : { readonly path: PathValues<P> };
type QueryInput<Q> = Q extends z.ZodType
  ? Record<never, never> extends z.input<Q>
    ? { readonly query?: z.input<Q> }
    : { readonly query: z.input<Q> }
  : { readonly query?: undefined };
type BodyInput<B> = B extends z.ZodType ? { readonly body: z.input<B> } : { readonly body?: undefined };

/** Input of an operation. The organization is filled in if it is absent. */
export type Input<O extends Operation> = PathInput<O['path']> & QueryInput<O['query']> & BodyInput<O['body']>;

/** Result of an operation; undefined if a success has no body. */
export type Answer<O extends Operation> = O['answer'] extends z.ZodType ? z.output<O['answer']> : undefined;

/** Item of a paginated operation, or event of a stream. */
export type Item<O extends PaginatedOperation | StreamOperation> = z.output<O['item']>;

/** Input of any operation, as the transport sees it. */
export interface AnyInput {
  readonly path?: Readonly<Record<string, string | undefined>>;
  readonly query?: unknown;
  readonly body?: unknown;
}
