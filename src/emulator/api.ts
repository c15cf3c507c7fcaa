/** Answers to requests to the API: callers of tokens, permissions, input and the operation itself. */

import type { Clock } from '../core/clock.ts';
import { OPERATIONS } from './families.ts';
import { readJson, readQuery } from './http/receive.ts';
import { type Match, Router } from './http/router.ts';
import { type ApiAnswer, ApiError, errorBody, invalid } from './model/answers.ts';
import { withCurrentFields } from './model/current-fields.ts';
import type { ApiOperation, Caller, Context, Method } from './model/operation.ts';
import type { IntegrationScope } from './model/schema.ts';
import type { EmulatorStore } from './model/store.ts';

/** Parts of a request that the API reads. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Query with its question mark, or empty. */
  readonly search: string;
  readonly contentType: string | undefined;
  readonly prefer?: string | string[] | undefined;
  /** True for an operation of the platform that is not emulated. */
  readonly isUnserved?: boolean;
  /** Null if it was longer than the size limit. */
  readonly body: Buffer | null;
}

/**
 * Throws a 404, for every caller, if this version does not have the operation, a 501 if it has one that is not emulated,
 * and a 403 if the token may not use it.
 */
function authorize(
  match: Match | undefined,
  caller: Caller | undefined,
  context: Omit<Context, 'caller'>,
  isUnserved = false,
): Match {
  if (match === undefined || (match.operation.feature && !context.features[match.operation.feature])) {
    throw isUnserved
      ? new ApiError(501, 'The platform has this operation, but the embedded platform does not')
      : new ApiError(404, 'No such operation');
  }
  if (caller?.permission === 'none' || (caller?.permission === 'read' && match.operation.writes)) {
    throw new ApiError(403, `${caller.user} may not do this`);
  }
  return match;
}

/** Creates the router for all operations. */
export function apiRouter(): Router {
  return new Router(OPERATIONS);
}

/** Path parameters that may have other characters than ids: names, slugs, email addresses and page paths. */
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
 * Removes the body of a successful answer if the request prefers that and the version supports it. Source:
 * docs/platform-notes.md#answers-without-a-body
 */
function preferred(
  answer: ApiAnswer,
  { minimal }: ApiOperation,
  { prefer }: ApiRequest,
  { features }: Pick<Context, 'features'>,
): ApiAnswer {
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
): ApiAnswer {
  try {
    if (caller === undefined) {
      throw new ApiError(401, 'A valid bearer token is required');
    }
    const { operation, params } = authorize(match, caller, context, request.isUnserved);
    context.store.settle(context.now);
    const query = readQuery(request.search);
    const body = readJson(request.body, request.contentType, operation.maxBytes);
    requireIds(params, context);
    refuseBeyondScope(context, caller, operation, params);
    const result = preferred(operation.run({ ...context, caller }, params, query, body), operation, request, context);
    return context.features.currentFields && result.body !== undefined
      ? { ...result, body: withCurrentFields(result.body) }
      : result;
  } catch (error) {
    return error instanceof ApiError
      ? { status: error.status, body: errorBody(error.status, error.message) }
      : { status: 500, body: errorBody(500, `The emulator failed: ${String(error)}`) };
  }
}

/*
 * Permissions of the tokens of integrations and installations. Decisions of this emulator, since it is not documented
 * which operation requires which scope: a request that is not permitted is answered with 403.
 * Source: docs/platform-notes.md#integration-scopes
 */
/** Scopes that reading and writing require; the first path that matches wins. Without a scope, tokens may not. */
const NEEDS: readonly { path: RegExp; read?: IntegrationScope; write?: IntegrationScope }[] = [
  { path: /^\/orgs\/\{organizationId\}\/conversations$/, write: 'conversations:ingest' },
  { path: /\/context-records$/, write: 'conversations:ingest' },
  { path: /^\/orgs\/\{organizationId\}\/openapi/, read: 'openapi:read', write: 'openapi:write' },
  { path: /\/adaptive-schema/, read: 'site:adaptive:read', write: 'site:adaptive:write' },
  { path: /^\/orgs\/\{organizationId\}\/sites/, read: 'site:metadata:read' },
  { path: /^\/spaces\/\{spaceId\}$/, read: 'space:metadata:read', write: 'space:metadata:write' },
  { path: /^\/spaces\/\{spaceId\}\//, read: 'space:content:read', write: 'space:content:write' },
];

/** Operations that both kinds of token may use on their own integration. */
const OWN: ReadonlySet<string> = new Set([
  'getIntegration',
  'listInstallations',
  'getInstallation',
  'updateInstallation',
  'createInstallationToken',
  'listIntegrationEvents',
  'getIntegrationEvent',
]);

/** Operations that every installation token may use, to find out which organization it belongs to. */
const FREE: ReadonlySet<string> = new Set(['getVersion', 'getOrganization']);
type Params = Readonly<Record<string, string>>;

function isWithinScopes(scopes: readonly IntegrationScope[], method: Method, path: string): boolean {
  const need = NEEDS.find((each) => each.path.test(path));
  const scope = method === 'GET' ? need?.read : need?.write;
  return scope !== undefined && scopes.includes(scope);
}

/** Reports whether the path names a resource outside the token's organization. */
function isElsewhere({ store }: Pick<Context, 'store'>, organization: string, params: Params): boolean {
  const named = params.organizationId ?? store.spaces.get(params.spaceId ?? '')?.organization;
  return named !== undefined && named !== organization;
}

function may(context: Pick<Context, 'store'>, caller: Caller, operation: ApiOperation, params: Params): boolean {
  if (caller.integration === undefined) {
    return true;
  }
  if (params.integrationName !== undefined) {
    return params.integrationName === caller.integration && OWN.has(operation.name);
  }
  const { installation } = caller;
  if (installation === undefined || isElsewhere(context, installation.organization, params)) {
    return operation.name === 'getVersion';
  }
  return FREE.has(operation.name) || isWithinScopes(installation.scopes, operation.method, operation.path);
}

/** Throws a 403 for an operation that the token of an integration or installation may not use. */
function refuseBeyondScope(
  context: Pick<Context, 'store'>,
  caller: Caller,
  operation: ApiOperation,
  params: Params,
): void {
  if (!may(context, caller, operation, params)) {
    throw new ApiError(403, `${caller.user} has no scope for this`);
  }
}

/** Returns the first organization, to which the admin token belongs; empty if there is none. */
export function firstOrganization(store: EmulatorStore): string {
  const [first] = store.organizations.all();
  return first?.id ?? '';
}

/** Returns the email address of the admin token's user. */
function firstAdmin(store: EmulatorStore): string {
  const members = store.members.by('organization', firstOrganization(store));
  const admin = members.find((member) => member.role === 'admin') ?? members[0];
  return (admin === undefined ? undefined : store.users.get(admin.user)?.email) ?? 'nobody@emulator.example';
}

/**
 * Finds the caller of an integration's or installation's token. The token determines the source of what it ingests.
 * Source: docs/platform-notes.md#conversations
 */
function integrationOf(store: EmulatorStore, now: number, given: string): Caller | undefined {
  const token = store.integrationTokens.get(given);
  const integration = token === undefined ? undefined : store.integrations.get(token.integration);
  if (token === undefined || integration === undefined || (token.expiresAt ?? Number.POSITIVE_INFINITY) <= now) {
    return undefined;
  }
  if (token.installation === undefined) {
    return { user: `integration:${integration.id}`, permission: 'admin', integration: integration.id };
  }
  const source = `integration:${integration.id}:${token.installation}`;
  const organization = store.installations.get(token.installation)?.organization ?? '';
  return {
    user: source,
    permission: 'admin',
    source,
    integration: integration.id,
    installation: { organization, scopes: integration.scopes },
  };
}

/** Returns the caller of a token: the admin, a user of the options, or an integration. */
export function createCallerLookup(
  store: EmulatorStore,
  clock: Clock,
  token: string,
  tokens: Readonly<Record<string, Caller>> | undefined,
): (token: string) => Caller | undefined {
  return (given) => {
    if (given === token) {
      return { user: firstAdmin(store), permission: 'admin' };
    }
    return tokens !== undefined && Object.hasOwn(tokens, given)
      ? tokens[given]
      : integrationOf(store, clock.now(), given);
  };
}
