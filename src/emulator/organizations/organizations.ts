// Operations on organizations, and on the platform itself.

import { z } from 'zod';
import { ApiError, ok, referenced } from '../model/answers.ts';
import { findVersion, refuseLaterValues } from '../model/features.ts';
import { type ApiOperation, type Context, canIngest, ORGANIZATION, operation } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { omitUndefined, patched, pick } from '../model/patch.ts';
import { getRuleNames, id, listQuery, nullableRole, standaloneMergeRules, text, url } from '../model/schema.ts';
import { findCallingUser, requireOrganization, viewUserOf } from './people.ts';
import type { EmulatedOrganization } from './records.ts';

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
  const { id } = organization;
  return {
    object: 'organization',
    id,
    ...pick(
      organization,
      'title',
      'createdAt',
      'emailDomains',
      'hostname',
      'defaultRole',
      'defaultContent',
      'sso',
      'ai',
      'inviteLinks',
      'mergeRules',
    ),
    type: 'business',
    useCase: 'internalDocs',
    plan: 'enterprise_2024',
    billing: BILLING,
    urls: {
      location: `${context.base}/v1/orgs/${id}`,
      app: `${context.base}/app/o/${id}`,
      logo: organization.logo,
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

/** Organizations: list, read, update. */
export const organizationOperations: readonly ApiOperation[] = [
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
];

/**
 * `GET /v1/`, and `GET /v1/user`: the user of the token.
 * Source: docs/platform-notes.md#operations-beyond-the-api-document
 */
export const platformOperations: readonly ApiOperation[] = [
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
];
