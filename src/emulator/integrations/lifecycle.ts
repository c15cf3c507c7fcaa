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
import type { Json, JsonObject } from '../../core/json.ts';
import { ApiError, found, notFound } from '../model/answers.ts';
import type { Context, PathContext } from '../model/operation.ts';
import type { EmulatorStore } from '../model/store.ts';
import type { InstallationStatus } from '../model/vocabulary.ts';
import { findCallingUser } from '../organizations/people.ts';
import type { EventPayload, InstallationRecord, IntegrationRecord } from './records.ts';
import { requireName } from './schema.ts';

/**
 * Reports whether the token's user is a member of the organization that owns the integration, or the token is the
 * integration's own.
 */
export function isOwner(context: Context, integration: IntegrationRecord): boolean {
  const user = findCallingUser(context)?.id;
  const isMember = context.store.members.get(`${integration.organization}/${user}`) !== undefined;
  return isMember || context.caller.integration === integration.id;
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
