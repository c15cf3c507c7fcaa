import type { InstallationRecord } from '../integration-records.ts';
import { installationAt, statusOf } from '../integration-work.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import { listByRank, listBySeq } from '../paging.ts';
import { listQuery } from '../schema.ts';
import { installationLocation } from '../views/integration.ts';

const INSTALLATION = '/integrations/{integrationName}/installations/{installationId}';

/** What is alike of an installation on a space and on a site (the vendor's published document). */
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
 * What an installation is on (supplement, section 7): all there is, or nothing where it is on what was selected, which
 * nothing here does. A space or site is told by its id, as the vendor's published document lets it.
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
