/** Schema of the configuration file. */
import * as z from 'zod';
import { isScope } from '../core/scope.ts';
import { clustersSchema } from './clusters.ts';
import { conversationsSchema } from './conversations.ts';
import { fleetSchema } from './fleet/leases.ts';
import { storeSchema } from './fleet/store.ts';
import { forgeSchema } from './forge.ts';
import { choice, count, cron, flag, positive, setting, text, token } from './model/settings.ts';
import { PUBLIC_API, readBaseUrl, readEmail, readListen, readText, readTimezone } from './model/values.ts';
import { notificationsSchema } from './notifications.ts';
import { uiSchema } from './ui.ts';

/** Resources of a kind that a plan may delete. See docs/concepts.md#ownership-and-deletion. */
export type Prune = 'owned' | 'never' | 'all';
const PRUNES = ['owned', 'never', 'all'] as const;

/** Properties of a resource kind that the settings depend on. The registry of kinds lists all of them. */
export interface ConfigKind {
  readonly name: string;
  /** Deletions need approval by default. See docs/approvals.md#what-needs-approval. */
  readonly deletionNeedsApproval?: boolean;
}

function sourceSchema() {
  const git = z.strictObject({
    url: text('the URL of a repository, such as https://git.example/acme/docs.git'),
    ref: text('a branch, a tag or a full commit id').prefault('main'),
    path: setting('a directory in the repository, such as manifests', readFolder).prefault('.'),
    pollInterval: positive('the fetch interval, such as 30s').prefault('30s'),
    recordApplied: flag().prefault(false),
  });
  return z.strictObject({
    git: git.optional(),
    directory: text('a directory, such as /manifests').optional(),
  });
}

/** Reads an explicit scope, as opposed to one derived from the directory. */
function readScope(value: unknown): string | undefined {
  const scope = readText(value);
  return scope !== undefined && isScope(scope) ? scope : undefined;
}

/** Reads a relative directory that does not leave its parent. */
function readFolder(value: unknown): string | undefined {
  const folder = readText(value);
  return folder?.startsWith('/') || folder?.split('/').includes('..') ? undefined : folder;
}

function pruneSchema(kinds: readonly string[]) {
  const byKind = z.strictObject(Object.fromEntries(kinds.map((kind) => [kind, choice(PRUNES).optional()])));
  return z
    .unknown()
    .transform((value, context) => {
      if (typeof value !== 'string') {
        return value;
      }
      if (!PRUNES.some((known) => known === value)) {
        context.issues.push({
          code: 'custom',
          input: value,
          message: `one of ${PRUNES.join(', ')}, or a mapping by kind`,
        });
        return z.NEVER;
      }
      return Object.fromEntries(kinds.map((kind) => [kind, value]));
    })
    .pipe(byKind)
    .transform(
      (map): Readonly<Record<string, Prune>> => Object.fromEntries(kinds.map((kind) => [kind, map[kind] ?? 'owned'])),
    )
    .prefault('owned');
}

function windowSchema() {
  return z.strictObject({
    allow: cron().optional(),
    deny: cron().optional(),
    duration: positive('the length of the window, such as 2h'),
    timezone: setting('a time zone such as Europe/Berlin', readTimezone).prefault('UTC'),
  });
}

function organizationSchema(known: readonly ConfigKind[]) {
  const kinds = known.map(({ name }) => name);
  return z.strictObject({
    id: text('the id of the organization, such as org_1'),
    token: token().optional(),
    scope: setting('a scope, such as docs or teams/docs', readScope).optional(),
    source: sourceSchema().optional(),
    forge: forgeSchema().optional(),
    prune: pruneSchema(kinds),
    requireApproval: z
      .array(choice(kinds))
      .prefault(known.filter((kind) => kind.deletionNeedsApproval === true).map(({ name }) => name)),
    limits: z
      .strictObject({ maxDeletions: count(0, 1_000_000).prefault(5), maxChangedPercent: count(0, 100).prefault(30) })
      .prefault({}),
    approvals: z.strictObject({ count: count(1, 10).prefault(1), notAuthor: flag().prefault(false) }).prefault({}),
    selfHeal: flag().prefault(true),
    schedule: z.strictObject({ drift: cron().default('*/5 * * * *') }).prefault({}),
    syncWindows: z.array(windowSchema()).prefault([]),
    conversations: conversationsSchema(),
    clusters: clustersSchema(),
  });
}

/** Schemas by their kinds: creating one takes longer than reading a file with it. */
const SCHEMAS = new WeakMap<readonly ConfigKind[], ReturnType<typeof createSchema>>();

/**
 * Schema of `config.yaml`: checks, types and defaults in one place. `kinds` are the resource kinds of the registry.
 * See docs/configuration.md#all-settings.
 */
export function configSchema(kinds: readonly ConfigKind[]) {
  const schema = SCHEMAS.get(kinds) ?? createSchema(kinds);
  SCHEMAS.set(kinds, schema);
  return schema;
}

/** Compiling a schema, which is the default of zod, takes longer than reading a few files with it. */
export const READ_SELDOM = { jitless: true };

function createSchema(kinds: readonly ConfigKind[]) {
  return z.strictObject({
    platform: z
      .strictObject({
        baseUrl: setting(`an http or https URL without a query, such as ${PUBLIC_API}`, readBaseUrl).prefault(
          PUBLIC_API,
        ),
        token: token().optional(),
        user: setting('an email address', readEmail).optional(),
        timeout: positive('the timeout of one request, such as 30s').prefault('30s'),
        insecure: flag().prefault(false),
      })
      .prefault({}),
    organizations: z.array(organizationSchema(kinds)),
    queue: z
      .strictObject({
        concurrency: count(1, 1_000).prefault(10),
        deadline: positive('the maximum time for waiting and retries of a request, such as 10m').prefault('10m'),
      })
      .prefault({}),
    store: storeSchema(),
    fleet: fleetSchema(),
    runtime: z.strictObject({ directory: text('a directory, such as octavo-runtime').optional() }).prefault({}),
    server: z
      .strictObject({
        listen: setting('an address such as 127.0.0.1:8080', readListen).prefault('127.0.0.1:8080'),
        /** Undefined: webhooks are sent to another address, which Octavo does not know. */
        publicUrl: setting('the URL that forges send webhooks to', readBaseUrl).optional(),
      })
      .prefault({}),
    ui: uiSchema(),
    notifications: notificationsSchema(),
    log: z
      .strictObject({
        level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal']).prefault('info'),
        format: choice(['auto', 'json', 'pretty']).prefault('auto'),
      })
      .prefault({}),
  });
}

/** Validated content of `config.yaml`. */
export type ParsedConfig = z.output<ReturnType<typeof configSchema>>;
