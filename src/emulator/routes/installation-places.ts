import type { InstallationRecord } from '../integration-records.ts';
import { installationAt, statusOf } from '../integration-work.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import { listByRank, listBySeq } from '../paging.ts';
import { listQuery } from '../schema.ts';
import { installationLocation } from '../views/integration.ts';

const INSTALLATION = '/integrations/{integrationName}/installations/{installationId}';

/** Fields that an installation on a space and on a site share. Source: docs/platform-notes.md#integrations */
function viewPlace(context: Context, installation: InstallationRecord, place: string): object {
  const { id, integration, configuration } = installation;
  return {
    integration,
    installation: id,
    status: statusOf(context.store.integrations.get(integration), configuration),
    configuration: {},
    externalIds: [],
    urls: {
      location: `${installationLocation(context, installation)}/${place}`,
      publicEndpoint: `${context.base}/integrations/${integration}/installations/${id}/${place}`,
    },
  };
}

/**
 * Operations on the spaces and sites of an installation. It is installed on all of them, or on none when they are to be
 * selected, since nothing here selects any. A space or site is given by its id.
 * Source: docs/platform-notes.md#integrations
 */
export const installationPlaceOperations: readonly Operation[] = [
  operation({
    name: 'listInstallationSpaces',
    method: 'GET',
    path: `${INSTALLATION}/spaces`,
    query: listQuery,
    handle: (call) => {
      const installation = installationAt(call, call.params.integrationName, call.params.installationId);
      const { organization, spaceSelection } = installation;
      const spaces = spaceSelection === 'all' ? call.store.spaces.by('organization', organization) : [];
      return listByRank(call, spaces, ({ id }) => ({ ...viewPlace(call, installation, `spaces/${id}`), space: id }));
    },
  }),
  operation({
    name: 'listInstallationSites',
    method: 'GET',
    path: `${INSTALLATION}/sites`,
    query: listQuery,
    handle: (call) => {
      const installation = installationAt(call, call.params.integrationName, call.params.installationId);
      const { organization, siteSelection } = installation;
      const sites = siteSelection === 'all' ? call.store.sites.by('organization', organization) : [];
      return listBySeq(call, sites, ({ id }) => ({ ...viewPlace(call, installation, `sites/${id}`), site: id }));
    },
  }),
];
