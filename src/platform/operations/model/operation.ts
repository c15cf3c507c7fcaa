/** Describes operations of the platform: what a request takes, how it is sent, and what its response is. */
import type * as z from 'zod';
import type { Repeat, RequestClass } from '../../../queue/request.ts';
import type { Inputs } from './inputs.ts';
import type { RequestSchema } from './request-schema.ts';
import type { Page } from './shapes.ts';

export type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Operation of the platform, as data. The table of operations is the only list of paths. */
export interface Operation {
  /** Unique; used in messages and metrics. */
  readonly name: string;
  /** The vendor's name, if it is another. */
  readonly alias: string | null;
  /** One-line summary, for search. */
  readonly summary: string;
  readonly method: 'GET' | WriteMethod;
  /** Path from `/v1`, with `{parameters}`, relative to the base URL of the connection. */
  readonly path: string;
  /** Versions whose documents have it; empty if only the API document has it. */
  readonly versions: readonly string[];
  readonly query: RequestSchema | null;
  readonly body: RequestSchema | null;
  /** Lenient: unknown members are kept. Optional if a 204 is possible; null if a success has no body. */
  readonly answer: z.ZodType | null;
  readonly class: RequestClass;
  readonly repeat: Repeat;
  readonly paginated: boolean;
  /** True if the response is a stream of events. */
  readonly streamed: boolean;
  /** Documented statuses that mean success. */
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

/** Input of any operation, as the transport sees it. */
export interface AnyInput {
  readonly path?: Readonly<Record<string, string | undefined>>;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** Input of an operation. The organization is filled in if it is absent. */
export type Input<O extends Operation> = O['name'] extends keyof Inputs ? Inputs[O['name']] : AnyInput;

/** Result of an operation; undefined if a success has no body. */
export type Answer<O extends Operation> = O['answer'] extends z.ZodType ? z.output<O['answer']> : undefined;

/** Item of a paginated operation, or event of a stream. */
export type Item<O extends PaginatedOperation | StreamOperation> = z.output<O['item']>;

/** Read of one object, by its name in the table. */
export interface Get<N extends keyof Inputs, A extends z.ZodType> extends ReadOperation {
  readonly name: N;
  readonly answer: A;
  readonly paginated: false;
}

/** Paginated list, by its name in the table. */
export interface List<N extends keyof Inputs, I extends z.ZodType> extends PaginatedOperation {
  readonly name: N;
  readonly item: I;
  readonly answer: z.ZodType<Page<z.output<I>>>;
}

/** Write, by its name in the table. */
export interface Write<N extends keyof Inputs, A extends z.ZodType | null> extends WriteOperation {
  readonly name: N;
  readonly answer: A;
}

/** Request for a stream, by its name in the table. */
export interface Stream<N extends keyof Inputs, I extends z.ZodType> extends StreamOperation {
  readonly name: N;
  readonly item: I;
}
