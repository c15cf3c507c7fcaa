/** Declaration of operations, and the context in which they run. */

import type { z } from 'zod';
import type { ApiAnswer } from './answers.ts';
import type { Features } from './features.ts';
import type { CreationDefaults } from './patch.ts';
import { type IntegrationScope, noBody, noQuery, parse } from './schema.ts';
import type { EmulatorStore } from './store.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Permission of a token: everything, reads only, or nothing. */
export type Permission = 'admin' | 'read' | 'none';

/** Caller of an operation. */
export interface Caller {
  /** Email of the token's user, or the installation whose token it is. */
  readonly user: string;
  readonly permission: Permission;
  /** Source of the conversations that it ingests, for the token of an installation. */
  readonly source?: string | undefined;
  /** Name of the integration, for the token of an integration or installation. */
  readonly integration?: string | undefined;
  /** Organization and scopes of an installation's token. */
  readonly installation?: { readonly organization: string; readonly scopes: readonly IntegrationScope[] } | undefined;
}

/** Durations of processing, in milliseconds. */
export interface Processing {
  readonly openapi: number;
  readonly translation: number;
  /** From the ingestion of a conversation to its issue and cluster. */
  readonly conversations: number;
}

/** The rate limit that a request counts against. */
export type LimitClass = 'read' | 'write' | 'ingest';

/** Context of an operation. */
export interface Context {
  readonly store: EmulatorStore;
  /** Milliseconds since the epoch, by the injected clock. */
  readonly now: number;
  /** `now` as ISO 8601. */
  readonly at: string;
  readonly caller: Caller;
  /** Address of the emulator, without a path. */
  readonly base: string;
  readonly features: Features;
  readonly processing: Processing;
  /** Values of new resources for fields that their creation leaves out. */
  readonly defaults: CreationDefaults;
  readonly pageSize: number;
}

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

/** Ids that a path names, by name. */
export type Params<Path extends string> = Readonly<Record<ParamNames<Path>, string>>;

/** A request whose path names these ids. */
export type PathContext<Names extends string> = Pick<Context, 'store'> & {
  readonly params: Readonly<Record<Names, string>>;
};

/** A request to an operation, with checked query and body. */
export interface OperationCall<Path extends string = string, Query = unknown, Body = unknown> extends Context {
  readonly operation: string;
  readonly params: Params<Path>;
  readonly query: Query;
  readonly body: Body;
}

/** Properties of an operation that not every operation has. */
interface Options<Query, Body> {
  readonly feature?: keyof Features;
  /** Permits tokens with read permission to call it, although it is not a GET. */
  readonly allowsReaders?: boolean;
  /** Answers 204 without a body where the request prefers that, in versions that support it. */
  readonly minimal?: boolean;
  /** The rate limit that it counts against, where it is not that of its method. */
  readonly limit?: LimitClass;
  /** Largest request body in bytes, where it is smaller than the general limit. */
  readonly maxBytes?: number;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
}

/** An operation of the API, ready for the router. */
export interface ApiOperation {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly feature: keyof Features | undefined;
  readonly writes: boolean;
  readonly minimal: boolean;
  readonly limit: LimitClass;
  readonly maxBytes: number | undefined;
  /** Schemas of its input. */
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  run(context: Context, params: Readonly<Record<string, string>>, query: unknown, body: unknown): ApiAnswer;
}

/**
 * Declares an operation. Its query and body are checked before it is handled; unknown members are refused.
 * `path` is below `/v1` and has `{names}` for ids.
 */
export function operation<const Path extends string, Query = Record<string, never>, Body = undefined>(
  name: string,
  method: Method,
  path: Path,
  options: Options<Query, Body>,
  handle: (call: OperationCall<Path, Query, Body>) => ApiAnswer,
): ApiOperation {
  const query = options.query ?? (noQuery as unknown as z.ZodType<Query>);
  const body = options.body ?? (noBody as unknown as z.ZodType<Body>);
  return {
    name,
    method,
    path,
    feature: options.feature,
    writes: method !== 'GET' && options.allowsReaders !== true,
    minimal: options.minimal === true,
    limit: options.limit ?? (method === 'GET' ? 'read' : 'write'),
    maxBytes: options.maxBytes,
    query,
    body,
    run: (context, params, givenQuery, givenBody) =>
      handle({
        ...context,
        operation: name,
        params: params as Params<Path>,
        query: parse('query', query, givenQuery),
        body: parse('body', body, givenBody),
      }),
  };
}

/** Returns operations that only versions with a feature have. */
export function ofFeature(feature: keyof Features, operations: readonly ApiOperation[]): ApiOperation[] {
  return operations.map((each) => ({ ...each, feature }));
}

/** Reports whether a caller with write permission may also ingest conversations. */
export function canIngest(caller: Caller, features: Features): boolean {
  const mayAtAll = features.ingestionByUsers || caller.source !== undefined;
  const isInScope = caller.installation?.scopes.includes('conversations:ingest') ?? true;
  return features.conversations && mayAtAll && isInScope;
}

/** Paths, below `/v1`, of the resources that other resources belong to. */
export const ORGANIZATION = '/orgs/{organizationId}';

export const SITE = `${ORGANIZATION}/sites/{siteId}` as const;

export const SPACE = '/spaces/{spaceId}';

export const CHANGE_REQUEST = `${SPACE}/change-requests/{changeRequestId}` as const;
