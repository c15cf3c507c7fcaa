/** Integrations and their events: input, views and operations. */

import { z } from 'zod';
import { type ApiAnswer, ApiError, deleted, found, ok } from '../model/answers.ts';
import { refuseLaterValues } from '../model/features.ts';
import { type ApiOperation, type Context, type OperationCall, operation } from '../model/operation.ts';
import { list, listBySeq } from '../model/paging.ts';
import { containsText, pick } from '../model/patch.ts';
import {
  flag,
  INTEGRATION_CATEGORIES,
  INTEGRATION_SCOPES,
  INTEGRATION_TARGETS,
  listQuery,
  text,
} from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import { viewOrganization } from '../organizations/organizations.ts';
import type { EmulatedOrganization } from '../organizations/people.ts';
import {
  getStatus,
  type InstallationRecord,
  type IntegrationEventRecord,
  type IntegrationRecord,
  isOwner,
  MAX_NAME,
  NAME,
  type Publication,
  publication,
  refuseOtherOrganizations,
  requireIntegration,
  requireName,
  requireOwnIntegration,
  uninstall,
} from './lifecycle.ts';

/** A block's domain in a query. */
const blockDomain = text(1, MAX_NAME).refine((value) => NAME.test(value), { error: 'must be a domain' });

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
function viewIntegration(context: Context, integration: IntegrationRecord): unknown {
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
function viewIntegrationEvent(_: Context, event: IntegrationEventRecord): unknown {
  return {
    id: event.id,
    integrationId: event.integration,
    installationId: event.installation,
    createdAt: event.createdAt,
    payload: { eventId: event.id, ...event.payload },
    status: 'success',
  };
}

const NAMED = '/integrations/{integrationName}';

/** Source: docs/platform-notes.md#filters */
const integrationQuery = listQuery.extend({
  search: z.string().optional(),
  category: z.enum(INTEGRATION_CATEGORIES).optional(),
  blockDomain: blockDomain.optional(),
  blocks: flag.optional(),
  contentSources: flag.optional(),
  owner: z.string().optional(),
  scope: z.enum(INTEGRATION_SCOPES).optional(),
  target: z.enum(INTEGRATION_TARGETS).optional(),
});

type Filters = z.output<typeof integrationQuery>;

function has(items: readonly unknown[] | undefined): boolean {
  return (items ?? []).length > 0;
}

/**
 * Reports whether a block unfurls addresses of the domain or of a parent domain: `https://*.figma.com/file` matches
 * `figma.com`.
 */
function unfurls(integration: IntegrationRecord, domain: string): boolean {
  const hosts = (integration.blocks ?? [])
    .flatMap((block) => block.urlUnfurl ?? [])
    .map((pattern) => pattern.replace(/^\w+:\/\//, '').split(/[/:?#]/, 1)[0] ?? '')
    .map((host) => host.replace(/^\*\./, '').toLowerCase());
  const wanted = domain.toLowerCase();
  return hosts.some((host) => host !== '' && (wanted === host || wanted.endsWith(`.${host}`)));
}

function matches(integration: IntegrationRecord, query: Filters): boolean {
  const { search, category, scope } = query;
  return (
    (search === undefined || containsText(integration.title, search) || containsText(integration.id, search)) &&
    (category === undefined || integration.categories.includes(category)) &&
    (query.blockDomain === undefined || unfurls(integration, query.blockDomain)) &&
    (query.blocks === undefined || has(integration.blocks) === query.blocks) &&
    (query.contentSources === undefined || has(integration.contentSources) === query.contentSources) &&
    (scope === undefined || integration.scopes.includes(scope)) &&
    (query.target === undefined || integration.target === query.target)
  );
}

/**
 * Reports whether a list shows an integration: public ones, and all of an owner that the caller is a member of. A
 * decision of this emulator.
 */
function isListed(context: Context, integration: IntegrationRecord, owner: string | undefined): boolean {
  if (owner !== undefined && integration.organization !== owner) {
    return false;
  }
  return integration.visibility === 'public' || (owner !== undefined && isOwner(context, integration));
}

/**
 * Finds the organization that publishes, by its id or its subdomain. Throws a 404 for an unknown one.
 * Source: docs/platform-notes.md#integrations
 */
function publisherOf(store: EmulatorStore, name: string): EmulatedOrganization {
  const byHostname = [...store.organizations.all()].find((organization) => organization.hostname === name);
  return found(store.organizations.get(name) ?? byHostname, 'Organization', name);
}

/** Publishes an integration. A publication replaces the previous one and increases the version. */
function publish(call: OperationCall<typeof NAMED, unknown, Publication>): ApiAnswer {
  const { store } = call;
  const name = requireName(call.params.integrationName);
  const { organization, runtime, ...body } = call.body;
  const publisher = publisherOf(store, organization);
  refuseLaterValues(call, 'visitorClaims', body.scopes, 'body.scopes');
  const before = store.integrations.get(name);
  const integration: IntegrationRecord = {
    id: name,
    seq: before?.seq ?? store.next(),
    organization: publisher.id,
    version: (before?.version ?? 0) + 1,
    visibility: 'private',
    target: 'all',
    categories: [],
    previewImages: [],
    externalLinks: [],
    secrets: {},
    ...body,
  };
  if (before !== undefined && before.organization !== publisher.id) {
    throw new ApiError(403, `Integration "${name}" belongs to another organization`);
  }
  refuseOtherOrganizations(call, integration);
  return ok(viewIntegration(call, store.integrations.put(integration)));
}

function unpublish(call: OperationCall<typeof NAMED>): ApiAnswer {
  const { store } = call;
  const integration = store.integrations.get(requireName(call.params.integrationName));
  if (integration === undefined) {
    return deleted(false);
  }
  refuseOtherOrganizations(call, integration);
  for (const installation of store.installations.by('integration', integration.id)) {
    uninstall(store, installation, call.at);
  }
  for (const event of store.integrationEvents.by('integration', integration.id)) {
    store.integrationEvents.remove(event.id);
  }
  for (const token of store.integrationTokens.by('integration', integration.id)) {
    store.integrationTokens.remove(token.id);
  }
  return deleted(store.integrations.remove(integration.id));
}

const EVENTS = '/integrations/{integrationName}/events';

/** Operations on integrations and their events. */
export const integrationOperations: readonly ApiOperation[] = [
  // Integrations. Source: docs/platform-notes.md#integrations
  operation('listIntegrations', 'GET', '/integrations', { query: integrationQuery }, (call) => {
    const items = [...call.store.integrations.all()]
      .filter((integration) => isListed(call, integration, call.query.owner))
      .filter((integration) => matches(integration, call.query));
    return listBySeq(call, items, viewIntegration);
  }),
  operation('getIntegration', 'GET', NAMED, {}, (call) => ok(viewIntegration(call, requireIntegration(call)))),
  operation('publishIntegration', 'POST', NAMED, { body: publication }, publish),
  operation('unpublishIntegration', 'DELETE', NAMED, {}, unpublish),
  // Events, for members of the organization that owns the integration.
  // Source: docs/platform-notes.md#integration-events
  operation(
    'listIntegrationEvents',
    'GET',
    EVENTS,
    { query: listQuery }, // Newest first: a decision of this emulator, since no order is documented.
    (call) =>
      list(call, {
        items: call.store.integrationEvents.by('integration', requireOwnIntegration(call).id),
        key: (event) => [event.seq, 0],
        descending: true,
        view: viewIntegrationEvent,
      }),
  ),
  operation('getIntegrationEvent', 'GET', `${EVENTS}/{eventId}`, {}, (call) => {
    const integration = requireOwnIntegration(call);
    const event = call.store.integrationEvents.get(call.params.eventId);
    const known = found(event?.integration === integration.id ? event : undefined, 'Event', call.params.eventId);
    return ok({ event: viewIntegrationEvent(call, known), trace: { logs: known.logs } });
  }),
];
