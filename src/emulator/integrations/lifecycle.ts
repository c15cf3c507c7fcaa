/** Records of integrations, and their installation, events and tokens. */

import type { Json, JsonObject } from '../../core/json.ts';
import { ApiError, found, notFound } from '../model/answers.ts';
import type { Context, PathContext } from '../model/operation.ts';
import type {
  InstallationSelection,
  InstallationStatus,
  IntegrationCategory,
  IntegrationScope,
  IntegrationTarget,
  IntegrationVisibility,
  LogLevel,
} from '../model/schema.ts';
import { type EmulatorStore, type Entity, IndexedTable } from '../model/store.ts';
import { findCallingUser } from '../organizations/people.ts';

/** One property of an integration's configuration. Source: docs/platform-notes.md#integrations */
export interface ConfigurationProperty {
  readonly type: 'string' | 'number' | 'boolean' | 'button';
  readonly default?: Json | undefined;
  readonly enum?: readonly string[] | undefined;
}

/** Schema of a configuration: properties, or a component of the integration that asks for them. */
export interface ConfigurationSchema {
  readonly properties?: Readonly<Record<string, ConfigurationProperty>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly componentId?: string | undefined;
}

/** A block of an integration, as it was published. */
export interface IntegrationBlock {
  readonly id: string;
  readonly title: string;
  readonly urlUnfurl?: readonly string[] | undefined;
}

/** A published integration. Its `id` is its name. */
export interface IntegrationRecord extends Entity {
  /** Owner: the organization that it was first published for. */
  readonly organization: string;
  /** Counts from 1. */
  readonly version: number;
  readonly title: string;
  readonly description: string;
  readonly summary?: string | undefined;
  /** Base64. */
  readonly icon?: string | undefined;
  /** Base64. */
  readonly previewImages: readonly string[];
  readonly visibility: IntegrationVisibility;
  readonly target: IntegrationTarget;
  readonly scopes: readonly IntegrationScope[];
  readonly categories: readonly IntegrationCategory[];
  readonly blocks?: readonly IntegrationBlock[] | undefined;
  readonly contentSources?: readonly JsonObject[] | undefined;
  readonly externalLinks: readonly JsonObject[];
  readonly configurations?: Readonly<Partial<Record<'account' | 'space' | 'site', ConfigurationSchema>>> | undefined;
  readonly contentSecurityPolicy?: Json | undefined;
  /** Never shown. */
  readonly script: string;
  /** Never shown. */
  readonly secrets: Readonly<Record<string, string>>;
}

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

/** Payload of an integration event, without its id. Source: docs/platform-notes.md#integration-events */
export type EventPayload =
  | {
      readonly type: 'installation_setup';
      readonly installationId: string;
      readonly status: InstallationStatus;
      readonly previous?: { readonly status: InstallationStatus; readonly configuration: JsonObject } | undefined;
    }
  | {
      readonly type: 'installation_deleted';
      readonly installationId: string;
      readonly previous: { readonly configuration: JsonObject };
    }
  | {
      readonly type: 'space_content_updated';
      readonly installationId: string;
      readonly spaceId: string;
      readonly revisionId: string;
    };

/** One line of an event's trace. */
export interface EventLog {
  readonly message: string;
  readonly timestamp: string;
  readonly level: LogLevel;
}

export interface IntegrationEventRecord extends Entity {
  readonly integration: string;
  readonly installation: string;
  readonly createdAt: string;
  readonly payload: EventPayload;
  readonly logs: readonly EventLog[];
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

/** Returns the integration with that name, or throws a 404 where the caller cannot see it. */
function integrationByName(context: Context, name: string): IntegrationRecord {
  const integration = found(context.store.integrations.get(requireName(name)), 'Integration', name);
  if (integration.visibility === 'private' && !isOwner(context, integration)) {
    throw notFound('Integration', name);
  }
  return integration;
}

/** Returns the integration that the path names, or throws a 404. */
export function requireIntegration(call: Context & PathContext<'integrationName'>): IntegrationRecord {
  return integrationByName(call, call.params.integrationName);
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

/** Returns the status: pending while a required property has neither a value nor a default. */
export function getStatus(integration: IntegrationRecord | undefined, configuration: JsonObject): InstallationStatus {
  const account = integration?.configurations?.account;
  const missing = (account?.required ?? []).some(
    (name) => configuration[name] === undefined && account?.properties?.[name]?.default === undefined,
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
    const allowed = property.enum;
    return allowed === undefined || allowed.includes(String(value))
      ? []
      : [`body.configuration.${name}: must be one of ${allowed.join(', ')}`];
  });
}

/** Stores an event of an installation. */
export function recordEvent(
  store: EmulatorStore,
  installation: InstallationRecord,
  payload: EventPayload,
  at: string,
): void {
  const { version } = found(store.integrations.get(installation.integration), 'Integration', installation.integration);
  const { integration, id } = installation;
  store.integrationEvents.put({
    ...store.identify('evt'),
    integration,
    installation: id,
    createdAt: at,
    payload,
    logs: [
      { message: `${payload.type} for installation ${id}`, timestamp: at, level: 'debug' },
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
      const payload = { type: 'space_content_updated', installationId: installation.id, spaceId, revisionId } as const;
      recordEvent(store, installation, payload, at);
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
  const payload = {
    type: 'installation_deleted',
    installationId: installation.id,
    previous: { configuration },
  } as const;
  recordEvent(store, installation, payload, at);
  for (const token of store.integrationTokens.by('installation', installation.id)) {
    store.integrationTokens.remove(token.id);
  }
  store.installations.remove(installation.id);
}
