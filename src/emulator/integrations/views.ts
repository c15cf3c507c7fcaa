// Views of integrations, installations and events.

import type { Context } from '../model/operation.ts';
import { pick } from '../model/patch.ts';
import { viewOrganization } from '../organizations/organizations.ts';
import { getStatus, isOwner } from './lifecycle.ts';
import type { InstallationRecord, IntegrationEventRecord, IntegrationRecord } from './records.ts';

function integrationLocation(context: Context, name: string): string {
  return `${context.base}/v1/integrations/${name}`;
}

/** Returns the address of an installation. */
export function installationLocation(context: Context, installation: InstallationRecord): string {
  return `${integrationLocation(context, installation.integration)}/installations/${installation.id}`;
}

/**
 * Integration: images are written as base64 and read as URLs; the script and secrets cannot be read.
 * Source: docs/platform-notes.md#integrations
 */
export function viewIntegration(context: Context, integration: IntegrationRecord): unknown {
  const { store, base } = context;
  const owner = store.organizations.get(integration.organization);
  const assets = `${base}/app/integrations/${integration.id}/assets`;
  const { previewImages, icon } = integration;
  return {
    object: 'integration',
    name: integration.id,
    ...pick(
      integration,
      'version',
      'title',
      'description',
      'summary',
      'target',
      'visibility',
      'scopes',
      'categories',
      'blocks',
      'contentSources',
      'configurations',
      'externalLinks',
      'contentSecurityPolicy',
    ),
    previewImages: previewImages.map((_, at) => `${assets}/preview-${at}`),
    verified: false,
    owner: owner === undefined ? undefined : viewOrganization(context, owner),
    urls: {
      location: integrationLocation(context, integration.id),
      icon: icon === undefined ? undefined : `${assets}/icon`,
      app: `${base}/app/integrations/${integration.id}`,
      assets,
      publicEndpoint: `${base}/integrations/${integration.id}`,
    },
    permissions: { admin: context.caller.permission === 'admin' && isOwner(context, integration) },
  };
}

/**
 * Installation. No operation selects single spaces, so it manages all spaces or none.
 * Source: docs/platform-notes.md#integrations
 */
export function viewInstallation(context: Context, installation: InstallationRecord): unknown {
  const { store, base } = context;
  const { integration, organization, configuration } = installation;
  return {
    ...pick(installation, 'id', 'createdAt', 'updatedAt', 'externalIds'),
    status: getStatus(store.integrations.get(integration), configuration),
    space_selection: installation.spaceSelection,
    site_selection: installation.siteSelection,
    spaces: installation.spaceSelection === 'all' ? store.spaces.count('organization', organization) : 0,
    configuration,
    urls: {
      location: installationLocation(context, installation),
      app: `${base}/app/o/${organization}/integrations/${integration}/${installation.id}`,
      publicEndpoint: `${base}/integrations/${integration}/installations/${installation.id}`,
    },
    target: { organization },
  };
}

/** IntegrationEvent. The id of an integration is its name. Source: docs/platform-notes.md#integration-events */
export function viewIntegrationEvent(_: Context, event: IntegrationEventRecord): unknown {
  return {
    id: event.id,
    integrationId: event.integration,
    installationId: event.installation,
    createdAt: event.createdAt,
    payload: { eventId: event.id, ...event.payload },
    status: 'success',
  };
}
