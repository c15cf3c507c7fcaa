// Operations on integrations.

import { z } from 'zod';
import { type ApiAnswer, ApiError, deleted, found, ok } from '../model/answers.ts';
import { refuseLaterValues } from '../model/features.ts';
import { type ApiOperation, type Context, type OperationCall, operation } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { containsText } from '../model/patch.ts';
import { flag, listQuery } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import { INTEGRATION_CATEGORIES, INTEGRATION_SCOPES, INTEGRATION_TARGETS } from '../model/vocabulary.ts';
import type { EmulatedOrganization } from '../organizations/records.ts';
import { isOwner, refuseOtherOrganizations, requireIntegration, uninstall } from './lifecycle.ts';
import type { IntegrationRecord } from './records.ts';
import { blockDomain, type Publication, publication, requireName } from './schema.ts';
import { viewIntegration } from './views.ts';

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

/** Operations on integrations. Source: docs/platform-notes.md#integrations */
export const integrationOperations: readonly ApiOperation[] = [
  operation('listIntegrations', 'GET', '/integrations', { query: integrationQuery }, (call) => {
    const items = [...call.store.integrations.all()]
      .filter((integration) => isListed(call, integration, call.query.owner))
      .filter((integration) => matches(integration, call.query));
    return listBySeq(call, items, viewIntegration);
  }),
  operation('getIntegration', 'GET', NAMED, {}, (call) => ok(viewIntegration(call, requireIntegration(call)))),
  operation('publishIntegration', 'POST', NAMED, { body: publication }, publish),
  operation('unpublishIntegration', 'DELETE', NAMED, {}, unpublish),
];
