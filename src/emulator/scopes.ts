/*
 * Permissions of the tokens of integrations and installations. Decisions of this emulator, since it is not documented
 * which operation requires which scope: what is not permitted answers 403.
 * Source: docs/platform-notes.md#integration-scopes
 */
import { ApiError } from './answers.ts';
import type { IntegrationScope } from './integration-vocabulary.ts';
import type { Caller, Context, Method, Operation } from './operation.ts';

interface Need {
  /** Where the operations lie; the first that matches counts. */
  readonly path: RegExp;
  /** The scope for reading; undefined where no token of an installation may. */
  readonly read?: IntegrationScope;
  readonly write?: IntegrationScope;
}

const NEEDS: readonly Need[] = [
  { path: /^\/orgs\/\{organizationId\}\/conversations$/, write: 'conversations:ingest' },
  { path: /\/context-records$/, write: 'conversations:ingest' },
  { path: /^\/orgs\/\{organizationId\}\/openapi/, read: 'openapi:read', write: 'openapi:write' },
  { path: /\/adaptive-schema/, read: 'site:adaptive:read', write: 'site:adaptive:write' },
  { path: /^\/orgs\/\{organizationId\}\/sites/, read: 'site:metadata:read' },
  { path: /^\/spaces\/\{spaceId\}$/, read: 'space:metadata:read', write: 'space:metadata:write' },
  { path: /^\/spaces\/\{spaceId\}\//, read: 'space:content:read', write: 'space:content:write' },
];

/** What both kinds of token may do to their own integration. */
const OWN: ReadonlySet<string> = new Set([
  'getIntegration',
  'listInstallations',
  'getInstallation',
  'updateInstallation',
  'createInstallationToken',
  'listIntegrationEvents',
  'getIntegrationEvent',
]);

/** What every token may read: the first to find out what it stands for. */
const FREE: ReadonlySet<string> = new Set(['getVersion', 'getOrganization']);

type Params = Readonly<Record<string, string>>;

function isWithinScopes(scopes: readonly IntegrationScope[], method: Method, path: string): boolean {
  const need = NEEDS.find((each) => each.path.test(path));
  const scope = method === 'GET' ? need?.read : need?.write;
  return scope !== undefined && scopes.includes(scope);
}

/** Whether what the path names belongs to another organization than the token. */
function isElsewhere({ store }: Pick<Context, 'store'>, organization: string, params: Params): boolean {
  const named = params.organizationId ?? store.spaces.get(params.spaceId ?? '')?.organization;
  return named !== undefined && named !== organization;
}

function may(context: Pick<Context, 'store'>, caller: Caller, operation: Operation, params: Params): boolean {
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

/** 403 for what the token of an integration or an installation may not do. */
export function refuseBeyondScope(
  context: Pick<Context, 'store'>,
  caller: Caller,
  operation: Operation,
  params: Params,
): void {
  if (!may(context, caller, operation, params)) {
    throw new ApiError(403, `${caller.user} has no scope for this`);
  }
}
