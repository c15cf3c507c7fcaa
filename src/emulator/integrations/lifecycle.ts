/** Records of integrations, and their installation, events and tokens. */

import { z } from 'zod';
import type { Json, JsonObject } from '../../core/json.ts';
import { ApiError, found } from '../model/answers.ts';
import type { Context, PathContext } from '../model/operation.ts';
import {
  INTEGRATION_CATEGORIES,
  INTEGRATION_SCOPES,
  INTEGRATION_TARGETS,
  INTEGRATION_VISIBILITIES,
  type InstallationSelection,
  type InstallationStatus,
  id,
  type LogLevel,
  text,
  url,
} from '../model/schema.ts';
import { type EmulatorStore, type Entity, IndexedTable } from '../model/store.ts';
import { findCallingUser } from '../organizations/people.ts';

/*
 * Input for publishing an integration. Fields without a documented limit, such as the script, are limited by the size
 * of the request only. The lengths of blocks, content sources and configurations follow the vendor's OpenAPI document.
 * Source: docs/platform-notes.md#integrations
 */

const base64 = z.base64({ error: 'must be base64' });
const property = { title: text(0, 30).optional(), description: text(0, 100).optional() };

/**
 * A property of a configuration. Types other than `string` are from the vendor's OpenAPI document.
 * Source: docs/platform-notes.md#integrations
 */
const configurationProperty = z.discriminatedUnion('type', [
  z.strictObject({
    ...property,
    type: z.literal('string'),
    default: z.string().optional(),
    completion_url: z.string().optional(),
    enum: z.array(z.string()).optional(),
  }),
  z.strictObject({ ...property, type: z.literal('number'), default: z.number().optional() }),
  z.strictObject({ ...property, type: z.literal('boolean'), default: z.boolean().optional() }),
  z.strictObject({ ...property, type: z.literal('button'), callback_url: z.string(), button_text: z.string() }),
]);

/** Properties or a component; required properties must be defined. */
const configuration = z
  .strictObject({
    properties: z.record(z.string(), configurationProperty).optional(),
    required: z.array(z.string()).optional(),
    componentId: id.optional(),
  })
  .refine((given) => (given.properties === undefined) !== (given.componentId === undefined), {
    error: 'must have either properties or a componentId',
  })
  .refine((given) => (given.required ?? []).every((name) => Object.hasOwn(given.properties ?? {}, name)), {
    error: 'requires a property that it does not define',
  });

const described = { id, title: text(2, 40), description: text(0, 150).optional(), icon: z.string().optional() };

const block = z.strictObject({
  ...described,
  urlUnfurl: z.array(z.string()).optional(),
  markdown: z.strictObject({ codeblock: z.string(), body: z.string() }).optional(),
});

const contentSource = z.strictObject({ ...described, configuration: z.strictObject({ componentId: id }) });

/** Directives as one header, or by their names. */
const contentSecurityPolicy = z.union([z.string(), z.record(z.string().regex(/^[a-z]+(?:-[a-z]+)*$/), z.string())], {
  error: 'must be a policy, or directives by name',
});

function atMost<T>(items: z.ZodType<T>, most: number) {
  return z.array(items).max(most, { error: `must have at most ${most}` });
}

/** Required fields are those of the vendor's OpenAPI document. Source: docs/platform-notes.md#integrations */
export const publication = z.strictObject({
  organization: id,
  title: text(2, 30),
  description: text(0, 100),
  script: z.string(),
  scopes: z.array(z.enum(INTEGRATION_SCOPES)),
  /** The vendor's own command line sends `v2`. Source: docs/platform-notes.md#enumerations */
  runtime: z.enum(['v1', 'v2']).optional(),
  icon: base64.optional(),
  summary: text(0, 2048).optional(),
  previewImages: atMost(base64, 3).optional(),
  visibility: z.enum(INTEGRATION_VISIBILITIES).optional(),
  target: z.enum(INTEGRATION_TARGETS).optional(),
  categories: z.array(z.enum(INTEGRATION_CATEGORIES)).optional(),
  blocks: z.array(block).optional(),
  contentSources: z.array(contentSource).optional(),
  externalLinks: atMost(z.strictObject({ url: url(), label: z.string() }), 5).optional(),
  configurations: z
    .strictObject({
      account: configuration.optional(),
      space: configuration.optional(),
      site: configuration.optional(),
    })
    .optional(),
  secrets: z
    .record(z.string(), z.string())
    .refine((given) => Object.keys(given).length <= 20, { error: 'must have at most 20' })
    .optional(),
  contentSecurityPolicy: contentSecurityPolicy.optional(),
});

export type Publication = z.output<typeof publication>;

/** Fields that every integration has, although a publication may leave them out. */
type Defaulted = 'previewImages' | 'visibility' | 'target' | 'categories' | 'externalLinks' | 'secrets';

/**
 * A published integration. Its `id` is its name, and its organization the one that it was first published for. The
 * script and the secrets are never shown.
 */
export type IntegrationRecord = Entity &
  Omit<Publication, 'runtime' | Defaulted> & {
    readonly [Field in Defaulted]: NonNullable<Publication[Field]>;
  } & {
    /** Counts from 1. */
    readonly version: number;
  };

/** An integration in an organization. Its status follows from its configuration. */
export interface InstallationRecord extends Entity {
  readonly integration: string;
  readonly organization: string;
  readonly spaceSelection: InstallationSelection;
  readonly siteSelection: InstallationSelection;
  readonly configuration: JsonObject;
  readonly externalIds: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface IntegrationEventRecord extends Entity {
  readonly integration: string;
  readonly installation: string;
  readonly createdAt: string;
  /** Without the id of the event. Source: docs/platform-notes.md#integration-events */
  readonly payload: JsonObject;
  /** The trace. */
  readonly logs: readonly { readonly message: string; readonly timestamp: string; readonly level: LogLevel }[];
}

/** A token of an integration, or a temporary one of an installation of it. Its `id` is the token. */
export interface IntegrationTokenRecord extends Entity {
  readonly integration: string;
  readonly installation?: string | undefined;
  /** Milliseconds since the epoch; absent if it does not expire. */
  readonly expiresAt?: number | undefined;
}

/** Tables of integrations, installations, events and tokens. */
export function integrationTables() {
  return {
    integrations: new IndexedTable<IntegrationRecord>({}),
    installations: new IndexedTable<InstallationRecord, 'integration' | 'organization'>({
      integration: (record) => record.integration,
      organization: (record) => record.organization,
    }),
    integrationEvents: new IndexedTable<IntegrationEventRecord, 'integration'>({
      integration: (record) => record.integration,
    }),
    integrationTokens: new IndexedTable<IntegrationTokenRecord, 'integration' | 'installation'>({
      integration: (record) => record.integration,
      installation: (record) => record.installation,
    }),
  };
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof integrationTables> {}
}

/*
 * Publishing, installing and recording events of integrations. Only one type of event and one status are documented in
 * the API document (docs/platform-notes.md#integration-events). Decisions of this emulator:
 * - An integration belongs to the organization that it was first published for. Publishing it for another one is
 *   refused (403). Users who are not members of the owner do not see a private integration (404), and only the owner
 *   may install it (403).
 * - Unpublishing an integration removes its installations and events.
 * - An organization installs an integration once (409).
 * - An installation is pending until its configuration has what the integration's account configuration requires.
 * - An integration receives an event for its installation, for every change of its configuration, for its removal and, with the
 *   scope `space:content:read`, for every new revision of a space of its organization. Every event succeeds.
 */

/**
 * Reports whether the token's user is a member of the organization that owns the integration, or the token is the
 * integration's own.
 */
export function isOwner(context: Context, integration: IntegrationRecord): boolean {
  const user = findCallingUser(context)?.id;
  const isMember = context.store.members.get(`${integration.organization}/${user}`) !== undefined;
  return isMember || context.caller.integration === integration.id;
}

export const NAME = /^[a-zA-Z0-9-_.]+$/;
export const MAX_NAME = 100;

/**
 * Returns the name in the path. Throws a 400 for one that does not match the pattern.
 * Source: docs/platform-notes.md#limits
 */
export function requireName(name: string): string {
  if (!NAME.test(name) || name.length > MAX_NAME) {
    throw new ApiError(
      400,
      `path.integrationName: must be 1-${MAX_NAME} letters, digits, dots, hyphens or underscores`,
    );
  }
  return name;
}

/** Returns the integration that the path names, or throws a 404 where the caller cannot see it. */
export function requireIntegration(call: Context & PathContext<'integrationName'>): IntegrationRecord {
  const name = requireName(call.params.integrationName);
  const integration = call.store.integrations.get(name);
  const isHidden = integration?.visibility === 'private' && !isOwner(call, integration);
  return found(isHidden ? undefined : integration, 'Integration', name);
}

/** Returns the integration that the path names, or throws a 403 for callers that do not own it. */
export function requireOwnIntegration(call: Context & PathContext<'integrationName'>): IntegrationRecord {
  const integration = requireIntegration(call);
  refuseOtherOrganizations(call, integration);
  return integration;
}

/** Throws a 403 for an integration of an organization that the caller does not belong to. */
export function refuseOtherOrganizations(context: Context, integration: IntegrationRecord): void {
  if (!isOwner(context, integration)) {
    throw new ApiError(403, `Integration "${integration.id}" belongs to another organization`);
  }
}

/** Returns the installation that the path names, or throws a 404. */
export function requireInstallation(
  call: Context & PathContext<'integrationName' | 'installationId'>,
): InstallationRecord {
  const { installationId } = call.params;
  const integration = requireIntegration(call);
  const installation = call.store.installations.get(installationId);
  return found(installation?.integration === integration.id ? installation : undefined, 'Installation', installationId);
}

function hasDefault(property: object | undefined): boolean {
  return property !== undefined && 'default' in property && property.default !== undefined;
}

/** Returns the status: pending while a required property has neither a value nor a default. */
export function getStatus(integration: IntegrationRecord | undefined, configuration: JsonObject): InstallationStatus {
  const account = integration?.configurations?.account;
  const missing = (account?.required ?? []).some(
    (name) => configuration[name] === undefined && !hasDefault(account?.properties?.[name]),
  );
  return missing ? 'pending' : 'active';
}

/** Returns the problems of a configuration. Properties that the integration does not define are not checked. */
export function findConfigurationProblems(integration: IntegrationRecord, configuration: JsonObject): string[] {
  const properties = integration.configurations?.account?.properties ?? {};
  return Object.entries(properties).flatMap(([name, property]) => {
    const value: Json | undefined = configuration[name];
    if (value === undefined || property.type === 'button') {
      return [];
    }
    if (typeof value !== property.type) {
      return [`body.configuration.${name}: must be a ${property.type}`];
    }
    const allowed = property.type === 'string' ? property.enum : undefined;
    return allowed === undefined || allowed.includes(String(value))
      ? []
      : [`body.configuration.${name}: must be one of ${allowed.join(', ')}`];
  });
}

/** Stores an event of an installation. */
export function recordEvent(
  store: EmulatorStore,
  installation: InstallationRecord,
  type: 'installation_setup' | 'installation_deleted' | 'space_content_updated',
  details: JsonObject,
  at: string,
): void {
  const { version } = found(store.integrations.get(installation.integration), 'Integration', installation.integration);
  const { integration, id } = installation;
  store.integrationEvents.put({
    ...store.identify('evt'),
    integration,
    installation: id,
    createdAt: at,
    payload: { type, installationId: id, ...details },
    logs: [
      { message: `${type} for installation ${id}`, timestamp: at, level: 'debug' },
      { message: `handled by version ${version} of ${integration}`, timestamp: at, level: 'info' },
    ],
  });
}

/** Stores an event of a new revision for every installation that may read the space. */
export function notifyRevision(store: EmulatorStore, spaceId: string, revisionId: string, at: string): void {
  const organization = store.spaces.get(spaceId)?.organization ?? '';
  for (const installation of store.installations.by('organization', organization)) {
    const scopes = store.integrations.get(installation.integration)?.scopes ?? [];
    if (installation.spaceSelection === 'all' && scopes.includes('space:content:read')) {
      recordEvent(store, installation, 'space_content_updated', { spaceId, revisionId }, at);
    }
  }
}

/** Creates the token that an integration uses at run time. It is valid as long as the integration exists. */
export function createToken(store: EmulatorStore, name: string): string {
  const { id: integration } = found(store.integrations.get(name), 'Integration', name);
  return store.integrationTokens.put({ ...store.identify('itk'), integration }).id;
}

/** Deletes an installation and its tokens; its events stay. */
export function uninstall(store: EmulatorStore, installation: InstallationRecord, at: string): void {
  const { configuration } = installation;
  recordEvent(store, installation, 'installation_deleted', { previous: { configuration } }, at);
  for (const token of store.integrationTokens.by('installation', installation.id)) {
    store.integrationTokens.remove(token.id);
  }
  store.installations.remove(installation.id);
}
