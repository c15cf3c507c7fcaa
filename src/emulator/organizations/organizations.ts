/** Operations on organizations, their settings, and the platform itself. */

import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import { requireDocument, richDocument } from '../documents/rich-document.ts';
import { ApiError, created, ok, referenced } from '../model/answers.ts';
import { findVersion, refuseLaterValues } from '../model/features.ts';
import { type ApiOperation, type Context, canIngest, ORGANIZATION, operation } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { omitUndefined, patched, pick, withDefaults } from '../model/patch.ts';
import { getRuleNames, id, listQuery, nullableRole, standaloneMergeRules, text, url } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import {
  deleteOwned,
  type EmulatedOrganization,
  findCallingUser,
  listOwned,
  ownedLookup,
  requireOrganization,
  type SamlRecord,
  viewTeam,
  viewUserOf,
} from './people.ts';

function permissions(context: Context) {
  const admin = context.caller.permission === 'admin';
  return {
    view: true,
    admin,
    ownTeam: admin,
    createContent: admin,
    createOpenAPISpec: admin,
    ingestConversations: admin && canIngest(context.caller, context.features),
    viewBilling: admin,
    listMembers: true,
    listTeams: true,
    listIntegrations: true,
    listInstallations: true,
    installIntegration: admin,
  };
}

const PRICE = { monthly: 0, yearly: 0 };

/** Billing of an organization; nothing is charged. */
const BILLING = {
  interval: 'monthly',
  endDate: null,
  hasPaymentFailed: false,
  isScheduledToCancel: false,
  pricing: { members: { plus_2024: PRICE, pro_2024: PRICE }, sites: { premium: PRICE, ultimate: PRICE } },
  usageAddons: {},
};

/** Organization. Source: docs/platform-notes.md#organizations */
export function viewOrganization(context: Context, organization: EmulatedOrganization): unknown {
  const { seq, logo, agentInstructions, ...fields } = organization;
  const { id } = organization;
  return {
    object: 'organization',
    ...fields,
    type: 'business',
    useCase: 'internalDocs',
    plan: 'enterprise_2024',
    billing: BILLING,
    urls: {
      location: `${context.base}/v1/orgs/${id}`,
      app: `${context.base}/app/o/${id}`,
      logo,
    },
    trial: { status: 'notapplicable', count: 0 },
    permissions: permissions(context),
  };
}

/** Source: docs/platform-notes.md#writable-fields */
const organizationUpdate = z.strictObject({
  title: text(2, 255)
    .refine((title) => /\S.*\S/.test(title), { error: 'must match \\S.*\\S' })
    .optional(),
  emailDomains: z.array(z.string()).optional(),
  hostname: text(3, 32).optional(),
  defaultRole: nullableRole.optional(),
  defaultContent: z
    .strictObject({ type: z.literal('site'), site: id })
    .nullable()
    .optional(),
  logo: url().nullable().optional(),
  sso: z.boolean().optional(),
  ai: z.boolean().optional(),
  inviteLinks: z.boolean().optional(),
  mergeRules: standaloneMergeRules.optional(),
});

const INSTRUCTIONS = '/orgs/{organizationId}/agent-instructions';

/**
 * Returns empty instructions for organizations without instructions. Their author is the longest-standing member, since
 * the answer must name one.
 */
function unwritten({ store }: Context, organization: EmulatedOrganization) {
  const [first] = store.members.by('organization', organization.id);
  return { document: richDocument([]) as Json, updatedAt: organization.createdAt, updatedBy: first?.user ?? '' };
}

function viewInstructions(context: Context, organization: EmulatedOrganization): unknown {
  const { document, updatedAt, updatedBy } = organization.agentInstructions ?? unwritten(context, organization);
  return {
    object: 'agent-instructions',
    instructions: document,
    updatedAt,
    updatedBy,
    urls: { location: `${context.base}/v1/orgs/${organization.id}/agent-instructions` },
  };
}

const updateAgentInstructionsBody = z.strictObject({ instructions: z.unknown() });

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

const requireSamlProvider = ownedLookup('SAML provider', 'samlProviderId', ({ samlProviders }) => samlProviders);

function checkTeam(store: EmulatorStore, organization: string, team: string | undefined): void {
  if (team !== undefined) {
    const record = store.teams.get(team);
    const usable = record?.organization === organization ? record : undefined;
    referenced(usable, 'body.defaultTeam', 'team', team);
  }
}

const createSamlProviderBody = z.strictObject({ label, ...settings });
const updateSamlProviderBody = z.strictObject({ label: label.optional(), ...settings });

/** Operations on organizations, their settings, and the platform itself. */
export const organizationOperations: readonly ApiOperation[] = [
  // Organizations: list, read, update.
  operation('listOrganizations', 'GET', '/orgs', { query: listQuery }, (call) =>
    listBySeq(call, [...call.store.organizations.all()], viewOrganization),
  ),
  operation('getOrganization', 'GET', ORGANIZATION, {}, (call) =>
    ok(viewOrganization(call, requireOrganization(call))),
  ),
  operation('updateOrganization', 'PATCH', ORGANIZATION, { body: organizationUpdate }, (call) => {
    const { store } = call;
    const organization = requireOrganization(call);
    const { logo, defaultContent, ...rest } = call.body;
    refuseLaterValues(call, 'authorMergeRules', getRuleNames(rest.mergeRules), 'body.mergeRules.rules');
    if (defaultContent) {
      const site = store.sites.get(defaultContent.site);
      const usable = site?.organization === organization.id ? site : undefined;
      referenced(usable, 'body.defaultContent.site', 'site', defaultContent.site);
    }
    const updated = store.organizations.put({
      ...organization,
      ...omitUndefined(rest),
      logo: patched(organization.logo, logo),
      defaultContent: patched(organization.defaultContent, defaultContent),
    });
    return ok(viewOrganization(call, updated));
  }),
  // The platform, and the user of the token. Source: docs/platform-notes.md#operations-beyond-the-api-document
  operation('getVersion', 'GET', '/', {}, ({ features }) =>
    ok({ version: `${findVersion(features)}.0`, build: 'emulator' }),
  ),
  operation('getAuthenticatedUser', 'GET', '/user', {}, (call) => {
    const user = findCallingUser(call);
    if (user === undefined) {
      throw new ApiError(404, 'The token does not belong to a user');
    }
    return ok(viewUserOf(call, user.id));
  }),
  // Instructions of an organization's documentation agent. Source: docs/platform-notes.md#organizations
  operation('getAgentInstructions', 'GET', INSTRUCTIONS, {}, (call) =>
    ok(viewInstructions(call, requireOrganization(call))),
  ),
  operation('updateAgentInstructions', 'PUT', INSTRUCTIONS, { body: updateAgentInstructionsBody }, (call) => {
    const organization = requireOrganization(call);
    const document = requireDocument(call.body.instructions, 'body.instructions');
    const updatedBy = findCallingUser(call)?.id ?? call.caller.user;
    const agentInstructions = { document, updatedAt: call.at, updatedBy };
    return ok(viewInstructions(call, call.store.organizations.put({ ...organization, agentInstructions })));
  }),
  // SAML providers. Source: docs/platform-notes.md#saml
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
