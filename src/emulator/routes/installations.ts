import { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import { type Answer, ApiError, created, deleted, ok } from '../answers.ts';
import type { InstallationRecord } from '../integration-records.ts';
import { requireName } from '../integration-schema.ts';
import { INSTALLATION_SELECTIONS } from '../integration-vocabulary.ts';
import {
  configurationFaults,
  installationAt,
  integrationAt,
  ownIntegrationAt,
  record,
  statusOf,
  uninstall,
} from '../integration-work.ts';
import { organizationAt } from '../lookup.ts';
import { type Call, type Context, type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { present } from '../patch.ts';
import { id, listQuery } from '../schema.ts';
import { installationLocation, viewInstallation } from '../views/integration.ts';

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

function install(call: Call<typeof INSTALLATIONS, unknown, { readonly organization: string }>): Answer {
  const { store } = call;
  const integration = integrationAt(call, call.params.integrationName);
  const organization = organizationAt(store, call.body.organization);
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
  const status = statusOf(integration, {});
  record(store, installation, { type: 'installation_setup', installationId: installation.id, status }, call.at);
  return created(viewInstallation(call, installation), installationLocation(call, installation));
}

function update(call: Call<typeof INSTALLATION, unknown, z.output<typeof installationUpdate>>): Answer {
  const { store, params, body } = call;
  const integration = integrationAt(call, params.integrationName);
  const before = installationAt(call, integration.id, params.installationId);
  const configuration = body.configuration as JsonObject | undefined;
  const faults = configuration === undefined ? [] : configurationFaults(integration, configuration);
  if (faults.length > 0) {
    throw new ApiError(400, faults.join('; '));
  }
  const installation: InstallationRecord = store.installations.put({
    ...before,
    ...present({
      configuration,
      externalIds: body.externalIds,
      spaceSelection: body.space_selection,
      siteSelection: body.site_selection,
    }),
    updatedAt: call.at,
  });
  if (configuration !== undefined) {
    const status = statusOf(integration, configuration);
    const previous = { status: statusOf(integration, before.configuration), configuration: before.configuration };
    const payload = { type: 'installation_setup', installationId: installation.id, status, previous } as const;
    record(store, installation, payload, call.at);
  }
  return ok(viewInstallation(call, installation));
}

function remove(call: Call<typeof INSTALLATION>): Answer {
  const { store, params } = call;
  const name = requireName(params.integrationName);
  const installation = store.installations.get(params.installationId);
  if (installation?.integration !== name) {
    return deleted(false);
  }
  uninstall(store, installation, call.at);
  return deleted(true);
}

const one: readonly Operation[] = [
  operation({
    name: 'getInstallation',
    method: 'GET',
    path: INSTALLATION,
    handle: (call) =>
      ok(viewInstallation(call, installationAt(call, call.params.integrationName, call.params.installationId))),
  }),
  operation({
    name: 'updateInstallation',
    method: 'PATCH',
    path: INSTALLATION,
    body: installationUpdate,
    handle: update,
  }),
  operation({ name: 'uninstallIntegration', method: 'DELETE', path: INSTALLATION, handle: remove }),
  operation({
    name: 'createInstallationToken',
    method: 'POST',
    path: `${INSTALLATION}/tokens`,
    handle: (call) => {
      const installation = installationAt(call, call.params.integrationName, call.params.installationId);
      const integration = ownIntegrationAt(call, installation.integration);
      refuseUsers(call, integration.id);
      const token = call.store.integrationTokens.put({
        ...call.store.identify('itk'),
        integration: integration.id,
        installation: installation.id,
        expiresAt: call.now + TOKEN_LIFE,
      });
      return ok({ token: token.id });
    },
  }),
];

/** Operations on installations of integrations. Source: docs/platform-notes.md#integrations */
export const installationOperations: readonly Operation[] = [
  operation({
    name: 'listInstallations',
    method: 'GET',
    path: INSTALLATIONS,
    query: listQuery.extend({ externalId: z.string().optional() }),
    handle: (call) => {
      const integration = integrationAt(call, call.params.integrationName);
      refuseUsers(call, integration.id);
      const { externalId } = call.query;
      const items = call.store.installations
        .by('integration', integration.id)
        .filter((installation) => externalId === undefined || installation.externalIds.includes(externalId));
      return listBySeq(call, items, (installation) => viewInstallation(call, installation));
    },
  }),
  operation({
    name: 'installIntegration',
    method: 'POST',
    path: INSTALLATIONS,
    body: z.strictObject({ organization: id }),
    handle: install,
  }),
  ...one,
];
