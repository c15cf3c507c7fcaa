// Operations on SAML providers.

import { z } from 'zod';
import { created, ok, referenced } from '../model/answers.ts';
import { withDefaults } from '../model/creation-defaults.ts';
import { type ApiOperation, type Context, ORGANIZATION, operation, type PathContext } from '../model/operation.ts';
import { omitUndefined, pick } from '../model/patch.ts';
import { id, listQuery, nullableRole, text, url } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import { deleteOwned, listOwned, requireOrganization, requireOwned, viewTeam } from './people.ts';
import type { SamlRecord } from './records.ts';

const PROVIDER = `${ORGANIZATION}/saml/{samlProviderId}` as const;

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
    ...pick(provider, 'id', 'label', 'ssoURL', 'entityID', 'certificate', 'createdAt'),
    defaultTeam: team === undefined ? undefined : viewTeam(context, team),
    defaultRole: provider.defaultRole ?? null,
    status: isActive(provider) ? 'active' : 'pending',
    service: service(context, provider),
    urls: { location: samlLocation(context, provider) },
  };
}

function requireSamlProvider(call: PathContext<'organizationId' | 'samlProviderId'>): SamlRecord {
  const { samlProviderId } = call.params;
  return requireOwned(call, call.store.samlProviders.get(samlProviderId), 'SAML provider', samlProviderId);
}

function checkTeam(store: EmulatorStore, organization: string, team: string | undefined): void {
  if (team !== undefined) {
    const record = store.teams.get(team);
    const usable = record?.organization === organization ? record : undefined;
    referenced(usable, 'body.defaultTeam', 'team', team);
  }
}

const createSamlProviderBody = z.strictObject({ label, ...settings });
const updateSamlProviderBody = z.strictObject({ label: label.optional(), ...settings });

/** Operations on SAML providers. Source: docs/platform-notes.md#saml */
export const samlOperations: readonly ApiOperation[] = [
  operation('listSamlProviders', 'GET', `${ORGANIZATION}/saml`, { query: listQuery }, (call) =>
    listOwned(call, call.store.samlProviders, viewSaml),
  ),
  operation('createSamlProvider', 'POST', `${ORGANIZATION}/saml`, { body: createSamlProviderBody }, (call) => {
    const { store, body } = call;
    const organization = requireOrganization(call);
    checkTeam(store, organization.id, body.defaultTeam);
    const made = { ...store.identify('saml'), organization: organization.id, ...body, createdAt: call.at };
    const provider = store.samlProviders.put(withDefaults<SamlRecord>(made, body, call.defaults.samlProvider));
    return created(viewSaml(call, provider), samlLocation(call, provider));
  }),
  operation('getSamlProvider', 'GET', PROVIDER, {}, (call) => ok(viewSaml(call, requireSamlProvider(call)))),
  operation('updateSamlProvider', 'PATCH', PROVIDER, { body: updateSamlProviderBody }, (call) => {
    const provider = requireSamlProvider(call);
    checkTeam(call.store, provider.organization, call.body.defaultTeam);
    return ok(viewSaml(call, call.store.samlProviders.put({ ...provider, ...omitUndefined(call.body) })));
  }),
  operation('deleteSamlProvider', 'DELETE', PROVIDER, {}, (call) =>
    deleteOwned(call, call.store.samlProviders, call.params.samlProviderId),
  ),
  operation('getSsoLogins', 'GET', `${ORGANIZATION}/sso`, {}, (call) => {
    const organization = requireOrganization(call);
    const items = call.store.samlProviders
      .by('organization', organization.id)
      .filter(isActive)
      .map((provider) => ({
        id: provider.id,
        label: provider.label,
        startURL: service(call, provider).startURL,
      }));
    return ok({ items });
  }),
];
