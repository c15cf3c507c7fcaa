/** Operations on installations of integrations. */

import { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import { type ApiAnswer, ApiError, created, deleted, ok } from '../model/answers.ts';
import { type ApiOperation, type Context, type OperationCall, operation } from '../model/operation.ts';
import { listByRank, listBySeq } from '../model/paging.ts';
import { omitUndefined } from '../model/patch.ts';
import { INSTALLATION_SELECTIONS, id, listQuery } from '../model/schema.ts';
import { organizationById } from '../organizations/people.ts';
import { installationLocation, viewInstallation } from './integrations.ts';
import {
  findConfigurationProblems,
  getStatus,
  type InstallationRecord,
  recordEvent,
  requireInstallation,
  requireIntegration,
  requireName,
  requireOwnIntegration,
  uninstall,
} from './lifecycle.ts';

const INSTALLATIONS = '/integrations/{integrationName}/installations';
const INSTALLATION = `${INSTALLATIONS}/{installationId}` as const;

/**
 * Lifetime of an installation's token, in milliseconds. Not documented.
 * Source: docs/platform-notes.md#integration-tokens
 */
const TOKEN_LIFE = 60 * 60 * 1000;

/** Source: docs/platform-notes.md#limits */
const externalIds = z.array(z.string()).max(5, { error: 'must have at most 5' });
const selection = z.enum(INSTALLATION_SELECTIONS);

const installationUpdate = z.strictObject({
  configuration: z.record(z.string(), z.json()).optional(),
  externalIds: externalIds.optional(),
  space_selection: selection.optional(),
  site_selection: selection.optional(),
});

/**
 * Without the feature `installationsByUsers`, only an integration's own token may see its installations.
 * Source: docs/platform-notes.md#integration-tokens
 */
function refuseUsers({ caller, features }: Context, name: string): void {
  if (!features.installationsByUsers && caller.integration !== name) {
    throw new ApiError(403, "Only the integration's own token may do this");
  }
}

function install(call: OperationCall<typeof INSTALLATIONS, unknown, { readonly organization: string }>): ApiAnswer {
  const { store } = call;
  const integration = requireIntegration(call);
  const organization = organizationById(store, call.body.organization);
  if (integration.visibility === 'private' && integration.organization !== organization.id) {
    throw new ApiError(403, `Integration "${integration.id}" is private to its owner`);
  }
  const others = store.installations.by('integration', integration.id);
  if (others.some((other) => other.organization === organization.id)) {
    throw new ApiError(409, `Integration "${integration.id}" is already installed there`);
  }
  const installation = store.installations.put({
    ...store.identify('ins'),
    integration: integration.id,
    organization: organization.id,
    spaceSelection: 'all',
    siteSelection: 'all',
    configuration: {},
    externalIds: [],
    createdAt: call.at,
    updatedAt: call.at,
  });
  const status = getStatus(integration, {});
  recordEvent(store, installation, 'installation_setup', { status }, call.at);
  return created(viewInstallation(call, installation), installationLocation(call, installation));
}

function update(call: OperationCall<typeof INSTALLATION, unknown, z.output<typeof installationUpdate>>): ApiAnswer {
  const { store, body } = call;
  const integration = requireIntegration(call);
  const before = requireInstallation(call);
  const configuration = body.configuration as JsonObject | undefined;
  const faults = configuration === undefined ? [] : findConfigurationProblems(integration, configuration);
  if (faults.length > 0) {
    throw new ApiError(400, faults.join('; '));
  }
  const installation: InstallationRecord = store.installations.put({
    ...before,
    ...omitUndefined({
      configuration,
      externalIds: body.externalIds,
      spaceSelection: body.space_selection,
      siteSelection: body.site_selection,
    }),
    updatedAt: call.at,
  });
  if (configuration !== undefined) {
    const status = getStatus(integration, configuration);
    const previous = { status: getStatus(integration, before.configuration), configuration: before.configuration };
    recordEvent(store, installation, 'installation_setup', { status, previous }, call.at);
  }
  return ok(viewInstallation(call, installation));
}

function remove(call: OperationCall<typeof INSTALLATION>): ApiAnswer {
  const { store, params } = call;
  const name = requireName(params.integrationName);
  const installation = store.installations.get(params.installationId);
  if (installation?.integration !== name) {
    return deleted(false);
  }
  uninstall(store, installation, call.at);
  return deleted(true);
}

const listInstallationsQuery = listQuery.extend({ externalId: z.string().optional() });

/** Fields that an installation on a space and on a site share. Source: docs/platform-notes.md#integrations */
function viewPlace(context: Context, installation: InstallationRecord, place: string): object {
  const { id, integration, configuration } = installation;
  return {
    integration,
    installation: id,
    status: getStatus(context.store.integrations.get(integration), configuration),
    configuration: {},
    externalIds: [],
    urls: {
      location: `${installationLocation(context, installation)}/${place}`,
      publicEndpoint: `${context.base}/integrations/${integration}/installations/${id}/${place}`,
    },
  };
}

/** Operations on installations of integrations. */
export const installationOperations: readonly ApiOperation[] = [
  // Installations of integrations. Source: docs/platform-notes.md#integrations
  operation('listInstallations', 'GET', INSTALLATIONS, { query: listInstallationsQuery }, (call) => {
    const integration = requireIntegration(call);
    refuseUsers(call, integration.id);
    const { externalId } = call.query;
    const items = call.store.installations
      .by('integration', integration.id)
      .filter((installation) => externalId === undefined || installation.externalIds.includes(externalId));
    return listBySeq(call, items, viewInstallation);
  }),
  operation('installIntegration', 'POST', INSTALLATIONS, { body: z.strictObject({ organization: id }) }, install),
  operation('getInstallation', 'GET', INSTALLATION, {}, (call) =>
    ok(viewInstallation(call, requireInstallation(call))),
  ),
  operation('updateInstallation', 'PATCH', INSTALLATION, { body: installationUpdate }, update),
  operation('deleteInstallation', 'DELETE', INSTALLATION, {}, remove),
  operation('createInstallationToken', 'POST', `${INSTALLATION}/tokens`, {}, (call) => {
    const installation = requireInstallation(call);
    const integration = requireOwnIntegration(call);
    refuseUsers(call, integration.id);
    const token = call.store.integrationTokens.put({
      ...call.store.identify('itk'),
      integration: integration.id,
      installation: installation.id,
      expiresAt: call.now + TOKEN_LIFE,
    });
    return ok({ token: token.id });
  }),
  // Spaces and sites of an installation: all of them, or none if they are to be selected, since no operation selects any.
  // A space or site is identified by its id. Source: docs/platform-notes.md#integrations
  operation('listInstallationSpaces', 'GET', `${INSTALLATION}/spaces`, { query: listQuery }, (call) => {
    const installation = requireInstallation(call);
    const { organization, spaceSelection } = installation;
    const spaces = spaceSelection === 'all' ? call.store.spaces.by('organization', organization) : [];
    return listByRank(call, spaces, (_, { id }) => ({ ...viewPlace(call, installation, `spaces/${id}`), space: id }));
  }),
  operation('listInstallationSites', 'GET', `${INSTALLATION}/sites`, { query: listQuery }, (call) => {
    const installation = requireInstallation(call);
    const { organization, siteSelection } = installation;
    const sites = siteSelection === 'all' ? call.store.sites.by('organization', organization) : [];
    return listBySeq(call, sites, (_, { id }) => ({ ...viewPlace(call, installation, `sites/${id}`), site: id }));
  }),
];
