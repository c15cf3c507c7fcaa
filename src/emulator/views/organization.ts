import { type Context, mayIngest } from '../operation.ts';
import type { OrganizationRecord } from '../records.ts';

function permissions(context: Context) {
  const admin = context.caller.permission === 'admin';
  return {
    view: true,
    admin,
    ownTeam: admin,
    createContent: admin,
    createOpenAPISpec: admin,
    ingestConversations: admin && mayIngest(context.caller, context.features),
    viewBilling: admin,
    listMembers: true,
    listTeams: true,
    listIntegrations: true,
    listInstallations: true,
    installIntegration: admin,
  };
}

const PRICE = { monthly: 0, yearly: 0 };
/** Nothing is paid for here. */
const BILLING = {
  interval: 'monthly',
  endDate: null,
  hasPaymentFailed: false,
  isScheduledToCancel: false,
  pricing: { members: { plus_2024: PRICE, pro_2024: PRICE }, sites: { premium: PRICE, ultimate: PRICE } },
  usageAddons: {},
};

/** Organization. Source: docs/platform-notes.md#organizations */
export function viewOrganization(context: Context, organization: OrganizationRecord): unknown {
  const { id } = organization;
  return {
    object: 'organization',
    id,
    title: organization.title,
    createdAt: organization.createdAt,
    emailDomains: organization.emailDomains,
    hostname: organization.hostname,
    type: 'business',
    useCase: 'internalDocs',
    defaultRole: organization.defaultRole,
    defaultContent: organization.defaultContent,
    sso: organization.sso,
    ai: organization.ai,
    inviteLinks: organization.inviteLinks,
    plan: 'enterprise_2024',
    billing: BILLING,
    mergeRules: organization.mergeRules,
    urls: {
      location: `${context.base}/v1/orgs/${id}`,
      app: `${context.base}/app/o/${id}`,
      logo: organization.logo,
    },
    trial: { status: 'notapplicable', count: 0 },
    permissions: permissions(context),
  };
}
