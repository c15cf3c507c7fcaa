import { type Answer, ApiError, errorBody, invalid } from './answers.ts';
import type { Caller, Context, Operation } from './operation.ts';
import { settle } from './processing.ts';
import { readJson, readQuery } from './receive.ts';
import { type Match, Router } from './router.ts';
import { OPERATIONS } from './routes/registry.ts';
import { refuseBeyondScope } from './scopes.ts';

/** What of a request the API looks at. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** With its question mark, or empty. */
  readonly search: string;
  readonly contentType: string | undefined;
  readonly prefer?: string | string[] | undefined;
  /** Null when it was longer than a request may be. */
  readonly body: Buffer | null;
}

/** A router over every operation. */
export function apiRouter(): Router {
  return new Router(OPERATIONS.flat());
}

function isOn(operation: Operation, context: Omit<Context, 'caller'>): boolean {
  return operation.feature === undefined || context.features[operation.feature];
}

/** What a valid token's user may not do is 403; what the API does not have is 404, for everybody. */
function authorize(match: Match | undefined, caller: Caller | undefined, context: Omit<Context, 'caller'>): Match {
  if (match === undefined || !isOn(match.operation, context)) {
    throw new ApiError(404, 'No such operation');
  }
  if (caller?.permission === 'none' || (caller?.permission === 'read' && match.operation.writes)) {
    throw new ApiError(403, `${caller.user} may not do this`);
  }
  return match;
}

/** Ids of this kind may have other characters: names, slugs, addresses of people and pages. */
const FREE_NAMES = new Set(['integrationName', 'specSlug', 'pagePath', 'hostname', 'subdomain']);

/**
 * Throws a 400 for an invalid id in the path, where the version checks them. Source: docs/platform-notes.md#conventions
 */
function requireIds(params: Readonly<Record<string, string>>, { features }: Pick<Context, 'features'>): void {
  for (const [name, id] of features.strictPatterns ? Object.entries(params) : []) {
    if (!FREE_NAMES.has(name) && !/^[a-zA-Z0-9_-]+$/.test(id)) {
      throw invalid(`path.${name}`, 'must match ^[a-zA-Z0-9_-]+$');
    }
  }
}

const MINIMAL = 'return=minimal';

/**
 * Removes the body of a success when the request prefers that and the version supports it.
 * Source: docs/platform-notes.md#answers-without-a-body
 */
function preferred(
  answer: Answer,
  { minimal }: Operation,
  { prefer }: ApiRequest,
  { features }: Pick<Context, 'features'>,
): Answer {
  return minimal && features.minimalAnswers && prefer === MINIMAL ? { status: 204, preference: MINIMAL } : answer;
}

/**
 * Answers one request: authenticates the caller, checks the operation, reads the input and runs it. Errors become error
 * answers. Source: docs/platform-notes.md#errors
 */
export function answer(
  context: Omit<Context, 'caller'>,
  caller: Caller | undefined,
  match: Match | undefined,
  request: ApiRequest,
): Answer {
  try {
    if (caller === undefined) {
      throw new ApiError(401, 'A valid bearer token is required');
    }
    const { operation, params } = authorize(match, caller, context);
    settle(context.store, context.now);
    const query = readQuery(request.search);
    const body = readJson(request.body, request.contentType, operation.maxBytes);
    requireIds(params, context);
    refuseBeyondScope(context, caller, operation, params);
    return preferred(operation.run({ ...context, caller }, params, query, body), operation, request, context);
  } catch (error) {
    return error instanceof ApiError
      ? { status: error.status, body: errorBody(error.status, error.message) }
      : { status: 500, body: errorBody(500, `The emulator failed: ${String(error)}`) };
  }
}
