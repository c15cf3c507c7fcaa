import { expect } from 'vitest';
import { type Cases, document, NOWHERE } from './operation-world.ts';

const MISSING = { query: { page: 'none' } };

/** The organization, its people, and how they sign in. */
export const organizationCases = {
  getVersion: {
    good: () => ({}),
    sees: () => ({ version: '0.146.0' }),
    bad: () => ({}),
    badBy: 'stranger',
    status: 401,
  },
  getAuthenticatedUser: {
    good: () => ({}),
    sees: () => ({ object: 'user' }),
    bad: () => ({}),
    badBy: 'stranger',
    status: 401,
  },
  listOrganizations: {
    good: () => ({}),
    sees: () => ({ items: [{ id: 'org_acme' }, {}] }),
    bad: () => MISSING,
    status: 400,
  },
  getOrganization: { good: () => ({}), sees: () => ({ title: 'Acme' }) },
  updateOrganization: {
    good: ({ site }) => ({
      body: {
        title: 'New',
        defaultRole: null,
        defaultContent: { type: 'site', site },
        mergeRules: { type: 'rules', rules: [{ rule: 'require_agent_review' }] },
      },
    }),
    sees: () => ({ title: 'New', defaultRole: null }),
    bad: () => ({ body: { defaultContent: { type: 'site', site: 'none' } } }),
    status: 400,
  },
  getAgentInstructions: {
    good: () => ({}),
    sees: () => ({ instructions: { object: 'document' } }),
  },
  updateAgentInstructions: {
    good: () => ({ body: { instructions: document } }),
    sees: () => ({ instructions: { ...document } }),
  },
  listMembers: {
    good: () => ({ query: { role: 'admin', search: 'ANA', sort: 'joinedAt', order: 'asc' } }),
    sees: ({ ana }) => ({ items: [{ id: ana, role: 'admin' }] }),
  },
  getMember: {
    good: ({ bo }) => ({ path: { userId: bo } }),
    sees: () => ({ role: 'edit', user: { email: 'bo@acme.example' } }),
  },
  updateMember: {
    good: ({ bo }) => ({ path: { userId: bo }, body: { role: null } }),
    sees: () => ({ role: null }),
    bad: ({ ana }) => ({ path: { userId: ana }, body: { role: 'read' } }),
    status: 400,
  },
  deleteMember: {
    good: ({ bo }) => ({ path: { userId: bo } }),
    bad: ({ ana }) => ({ path: { userId: ana } }),
    status: 400,
  },
  markMemberSso: {
    good: ({ bo }) => ({ path: { userId: bo } }),
    sees: () => ({ sso: true }),
  },
  listMemberSpaces: {
    good: ({ bo }) => ({ path: { userId: bo }, query: { order: 'asc' } }),
    sees: () => ({ items: expect.arrayContaining([expect.objectContaining({ permission: 'edit' })]) }),
  },
  listMemberTeams: {
    good: ({ bo }) => ({ path: { userId: bo }, query: { title: 'WRIT' } }),
    sees: ({ team }) => ({ items: [{ team: { id: team }, member: { role: 'member' } }] }),
  },
  pingOrganization: { good: () => ({}), sees: () => ({}) },
  listInviteLinks: {
    good: () => ({}),
    sees: ({ invite }) => ({ items: [{ id: invite, role: 'read' }] }),
  },
  createInviteLink: {
    good: () => ({ body: { role: null } }),
    sees: () => ({ role: null }),
  },
  getInviteLink: {
    good: ({ invite }) => ({ path: { inviteId: invite } }),
    sees: () => ({ role: 'read' }),
  },
  updateInviteLink: {
    good: ({ invite }) => ({ path: { inviteId: invite }, body: { role: 'edit' } }),
    sees: () => ({ role: 'edit' }),
  },
  deleteInviteLink: {
    good: ({ invite }) => ({ path: { inviteId: invite } }),
    bad: ({ invite }) => ({ path: { ...NOWHERE, inviteId: invite } }),
  },
  joinOrganization: {
    good: () => ({}),
    goodBy: 'newcomer',
    bad: () => ({ path: { organizationId: 'org_other' } }),
    badBy: 'newcomer',
    status: 400,
  },
  listTeams: {
    good: () => ({ query: { title: 'wri' } }),
    sees: () => ({ items: [{ title: 'Writers', members: 1 }] }),
  },
  createTeam: {
    good: ({ ana }) => ({ body: { title: 'Editors', members: [ana] } }),
    sees: () => ({ title: 'Editors', members: 1 }),
    bad: () => ({ body: { title: 'Editors', members: ['none'] } }),
    status: 400,
  },
  getTeam: {
    good: ({ team }) => ({ path: { teamId: team } }),
    sees: () => ({ title: 'Writers' }),
  },
  updateTeam: {
    good: ({ team }) => ({ path: { teamId: team }, body: { title: 'Editors' } }),
    sees: () => ({ title: 'Editors' }),
  },
  deleteTeam: {
    good: ({ team }) => ({ path: { teamId: team } }),
    bad: ({ team }) => ({ path: { ...NOWHERE, teamId: team } }),
  },
  listTeamMembers: {
    good: ({ team }) => ({ path: { teamId: team } }),
    sees: ({ bo }) => ({ items: [{ organization: { id: bo }, team: { role: 'member' } }] }),
  },
  updateTeamMembers: {
    good: ({ team, ana, bo }) => ({
      path: { teamId: team },
      body: { add: ['ana@acme.example'], remove: [bo], memberships: { [ana]: { role: 'owner' } } },
    }),
    bad: ({ team }) => ({ path: { teamId: team }, body: { add: ['zoe@acme.example'] } }),
    status: 400,
  },
  setTeamMember: {
    good: ({ team, ana }) => ({ path: { teamId: team, userId: ana }, body: { role: 'owner' } }),
  },
  deleteTeamMember: {
    good: ({ team, bo }) => ({ path: { teamId: team, userId: bo } }),
    bad: ({ bo }) => ({ path: { teamId: 'none', userId: bo } }),
  },
  listSamlProviders: {
    good: () => ({}),
    sees: () => ({ items: [{ label: 'Okta', status: 'pending' }] }),
  },
  createSamlProvider: {
    good: ({ team }) => ({
      body: { label: 'Entra', ssoURL: 'https://sso.acme.example', defaultTeam: team, defaultRole: null },
    }),
    sees: ({ team }) => ({ label: 'Entra', defaultTeam: { id: team } }),
    bad: () => ({ body: { label: 'Entra', defaultTeam: 'none' } }),
    status: 400,
  },
  getSamlProvider: {
    good: ({ saml }) => ({ path: { samlProviderId: saml } }),
    sees: () => ({ label: 'Okta' }),
  },
  updateSamlProvider: {
    good: ({ saml }) => ({ path: { samlProviderId: saml }, body: { entityID: 'e' } }),
    sees: () => ({ entityID: 'e' }),
  },
  deleteSamlProvider: {
    good: ({ saml }) => ({ path: { samlProviderId: saml } }),
    bad: ({ saml }) => ({ path: { ...NOWHERE, samlProviderId: saml } }),
  },
  getSsoLogins: { good: () => ({}), sees: () => ({ items: [] }) },
} satisfies Partial<Cases>;
