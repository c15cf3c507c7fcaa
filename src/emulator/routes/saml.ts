import { z } from 'zod';
import { created, deleted, notFound, ok } from '../answers.ts';
import { withDefaults } from '../creation-defaults.ts';
import { organizationAt, referenced } from '../lookup.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { present } from '../patch.ts';
import type { SamlRecord } from '../records.ts';
import { id, listQuery, nullableRole, text, url } from '../schema.ts';
import type { Store } from '../store.ts';
import { viewTeam } from '../views/people.ts';

/** `defaultTeam` cannot be cleared. Source: docs/platform-notes.md#writable-fields */
const settings = {
  entityID: text(0, 1024).optional(),
  certificate: text(0, 10_000).optional(),
  ssoURL: url().optional(),
  defaultTeam: id.optional(),
  defaultRole: nullableRole.optional(),
};
const label = text(1, 30);

function samlLocation(context: Context, provider: SamlRecord): string {
  return `${context.base}/v1/orgs/${provider.organization}/saml/${provider.id}`;
}

function isActive(provider: SamlRecord): boolean {
  return Boolean(provider.entityID && provider.certificate && provider.ssoURL);
}

function service(context: Context, provider: SamlRecord) {
  const root = `${context.base}/saml/${provider.id}`;
  return { acsURL: `${root}/acs`, startURL: `${root}/start`, entityID: `${root}/metadata` };
}

function viewSaml(context: Context, provider: SamlRecord): unknown {
  const team = provider.defaultTeam === undefined ? undefined : context.store.teams.get(provider.defaultTeam);
  return {
    object: 'saml-provider',
    id: provider.id,
    label: provider.label,
    ssoURL: provider.ssoURL,
    entityID: provider.entityID,
    certificate: provider.certificate,
    defaultTeam: team === undefined ? undefined : viewTeam(context, team),
    defaultRole: provider.defaultRole ?? null,
    createdAt: provider.createdAt,
    status: isActive(provider) ? 'active' : 'pending',
    service: service(context, provider),
    urls: { location: samlLocation(context, provider) },
  };
}

function samlAt(store: Store, organization: string, id: string): SamlRecord {
  organizationAt(store, organization);
  const provider = store.samlProviders.get(id);
  if (provider?.organization !== organization) {
    throw notFound('SAML provider', id);
  }
  return provider;
}

function checkTeam(store: Store, organization: string, team: string | undefined): void {
  if (team !== undefined) {
    const record = store.teams.get(team);
    const usable = record?.organization === organization ? record : undefined;
    referenced(usable, 'body.defaultTeam', 'team', team);
  }
}

/** Operations on SAML providers. Source: docs/platform-notes.md#saml */
export const samlOperations: readonly Operation[] = [
  operation({
    name: 'listSamlProviders',
    method: 'GET',
    path: '/orgs/{organizationId}/saml',
    query: listQuery,
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const providers = call.store.samlProviders.by('organization', organization.id);
      return listBySeq(call, providers, (provider) => viewSaml(call, provider));
    },
  }),
  operation({
    name: 'createSamlProvider',
    method: 'POST',
    path: '/orgs/{organizationId}/saml',
    body: z.strictObject({ label, ...settings }),
    handle: (call) => {
      const { store, body } = call;
      const organization = organizationAt(store, call.params.organizationId);
      checkTeam(store, organization.id, body.defaultTeam);
      const made = { ...store.identify('saml'), organization: organization.id, ...body, createdAt: call.at };
      const provider = store.samlProviders.put(withDefaults<SamlRecord>(made, body, call.defaults.samlProvider));
      return created(viewSaml(call, provider), samlLocation(call, provider));
    },
  }),
  operation({
    name: 'getSamlProvider',
    method: 'GET',
    path: '/orgs/{organizationId}/saml/{samlProviderId}',
    handle: (call) => ok(viewSaml(call, samlAt(call.store, call.params.organizationId, call.params.samlProviderId))),
  }),
  operation({
    name: 'updateSamlProvider',
    method: 'PATCH',
    path: '/orgs/{organizationId}/saml/{samlProviderId}',
    body: z.strictObject({ label: label.optional(), ...settings }),
    handle: (call) => {
      const provider = samlAt(call.store, call.params.organizationId, call.params.samlProviderId);
      checkTeam(call.store, provider.organization, call.body.defaultTeam);
      return ok(viewSaml(call, call.store.samlProviders.put({ ...provider, ...present(call.body) })));
    },
  }),
  operation({
    name: 'deleteSamlProvider',
    method: 'DELETE',
    path: '/orgs/{organizationId}/saml/{samlProviderId}',
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const provider = call.store.samlProviders.get(call.params.samlProviderId);
      const existed = provider?.organization === organization.id && call.store.samlProviders.remove(provider.id);
      return deleted(existed);
    },
  }),
  operation({
    name: 'listSsoLogins',
    method: 'GET',
    path: '/orgs/{organizationId}/sso',
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const items = call.store.samlProviders
        .by('organization', organization.id)
        .filter(isActive)
        .map((provider) => ({
          id: provider.id,
          label: provider.label,
          startURL: service(call, provider).startURL,
        }));
      return ok({ items });
    },
  }),
];
