/** Contract cases for integrations and conversations. */
import { expect } from 'vitest';
import { type Cases, type Ids, INTEGRATION } from './operation-world.ts';

const helper = { integrationName: 'helper' };
const installed = ({ installation }: Ids) => ({ ...helper, installationId: installation });
const notInstalled = { ...helper, installationId: 'none' };
const of = ({ site }: Ids) => ({ siteId: site });

/** Integrations and where they are installed. */
export const integrationCases = {
  listIntegrations: {
    good: () => ({ query: { search: 'HELP', scope: 'space:content:read', target: 'all', blocks: false } }),
    sees: () => ({ items: [{ name: 'helper', version: 1 }] }),
    bad: () => ({ query: { page: 'none' } }),
    status: 400,
  },
  getIntegration: {
    good: () => ({ path: helper }),
    sees: () => ({ title: 'Helper', scopes: ['space:content:read'] }),
  },
  publishIntegration: {
    good: () => ({
      path: helper,
      body: {
        ...INTEGRATION,
        runtime: 'v1',
        summary: 'Helps a lot',
        target: 'site',
        categories: ['analytics'],
        blocks: [
          { id: 'b', title: 'Block', markdown: { codeblock: 'help', body: 'text' }, urlUnfurl: ['https://x.example'] },
        ],
        contentSources: [{ id: 'c', title: 'Source', configuration: { componentId: 'k' } }],
        externalLinks: [{ url: 'https://acme.example', label: 'Acme' }],
        configurations: { account: { properties: { key: { type: 'string', title: 'Key' } }, required: ['key'] } },
        secrets: { key: 'hidden' },
        contentSecurityPolicy: { 'default-src': "'self'" },
      },
    }),
    sees: () => ({ version: 2, target: 'site', categories: ['analytics'] }),
    bad: () => ({ path: helper, body: { ...INTEGRATION, organization: 'none' } }),
  },
  unpublishIntegration: {
    good: () => ({ path: helper }),
    bad: () => ({ path: helper }),
    badBy: 'stranger',
    status: 401,
  },
  listIntegrationEvents: {
    good: () => ({ path: helper }),
    sees: ({ event }) => ({ items: expect.arrayContaining([expect.objectContaining({ id: event })]) }),
  },
  getIntegrationEvent: {
    good: ({ event }) => ({ path: { ...helper, eventId: event } }),
    sees: ({ event }) => ({ event: { id: event, status: 'success' }, trace: { logs: expect.any(Array) } }),
  },
  listInstallations: {
    good: () => ({ path: helper }),
    goodBy: 'integration',
    sees: ({ installation }) => ({ items: [{ id: installation, status: 'active' }] }),
  },
  installIntegration: {
    good: () => ({ path: helper, body: { organization: 'org_other' } }),
    sees: () => ({ target: { organization: 'org_other' } }),
  },
  getInstallation: {
    good: (ids) => ({ path: installed(ids) }),
    sees: () => ({ space_selection: 'all' }),
  },
  updateInstallation: {
    good: (ids) => ({
      path: installed(ids),
      body: { externalIds: ['x'], space_selection: 'selected', configuration: {} },
    }),
    sees: () => ({ externalIds: ['x'], space_selection: 'selected' }),
  },
  deleteInstallation: {
    good: (ids) => ({ path: installed(ids) }),
    bad: (ids) => ({ path: installed(ids) }),
    badBy: 'stranger',
    status: 401,
  },
  listInstallationSpaces: {
    good: (ids) => ({ path: installed(ids) }),
    sees: ({ space }) => ({ items: expect.arrayContaining([expect.objectContaining({ space })]) }),
  },
  listInstallationSites: {
    good: (ids) => ({ path: installed(ids) }),
    sees: ({ site }) => ({ items: [{ site }] }),
  },
  createInstallationToken: {
    good: (ids) => ({ path: installed(ids) }),
    goodBy: 'integration',
    sees: () => ({ token: expect.any(String) }),
    bad: () => ({ path: notInstalled }),
    badBy: 'integration',
  },
} satisfies Partial<Cases>;

/** Conversations and their replacement. */
export const conversationCases = {
  ingestConversations: {
    good: () => ({
      body: {
        id: 'z-3',
        subject: 'Dark theme',
        parts: [{ type: 'message', role: 'team-member', body: 'Is there one?' }],
        metadata: { url: 'https://desk.example/3', attributes: { tag: 'ui' }, createdAt: '2026-01-02T03:04:05Z' },
      },
    }),
  },
  listConversations: {
    good: () => ({ query: { limit: 1 } }),
    sees: () => ({ items: [{ object: 'conversation' }], next: { page: expect.any(String) } }),
  },
  getConversation: {
    good: ({ conversation }) => ({ path: { conversationId: conversation } }),
    sees: ({ conversation }) => ({ conversation: { id: conversation }, parts: [{ role: 'user' }] }),
  },
  listConversationClusters: {
    good: () => ({ query: { sort: 'updatedAt', order: 'asc' } }),
    sees: ({ cluster }) => ({ items: [{ id: cluster }] }),
  },
  getConversationCluster: {
    good: ({ cluster }) => ({ path: { clusterId: cluster } }),
    sees: () => ({ muted: false }),
  },
  updateConversationCluster: {
    good: ({ cluster }) => ({ path: { clusterId: cluster }, body: { muted: true } }),
    sees: () => ({ muted: true }),
  },
  listConversationIssues: {
    good: ({ cluster, conversation }) => ({ query: { cluster, conversation } }),
    sees: ({ issue }) => ({ items: [{ issue: { id: issue } }] }),
  },
  getConversationIssue: {
    good: ({ issue }) => ({ path: { issueId: issue } }),
    sees: ({ issue, conversation }) => ({ issue: { id: issue }, conversation: { id: conversation } }),
  },
  putContextRecords: {
    good: (ids) => ({ path: of(ids), body: [{ id: 'r-3', type: 'document', title: 'Dark', body: 'Is there one?' }] }),
  },
  listContextRecords: {
    good: (ids) => ({ path: of(ids), query: { type: 'ticket' } }),
    sees: ({ contextRecord }) => ({ items: expect.arrayContaining([expect.objectContaining({ id: contextRecord })]) }),
  },
  getContextRecord: {
    good: (ids) => ({ path: { ...of(ids), contextRecordId: ids.contextRecord } }),
    sees: ({ contextRecord }) => ({ id: contextRecord }),
  },
  listSiteTopics: {
    good: (ids) => ({ path: of(ids) }),
    sees: ({ topic }) => ({ items: [{ id: topic }] }),
  },
  getSiteTopic: {
    good: (ids) => ({ path: { ...of(ids), siteTopicId: ids.topic } }),
    sees: ({ topic }) => ({ id: topic }),
  },
  updateSiteTopic: {
    good: (ids) => ({
      path: { ...of(ids), siteTopicId: ids.topic },
      body: { usageSettings: { changeRequests: false } },
    }),
    sees: () => ({ usageSettings: { changeRequests: false } }),
  },
  listSiteIssues: {
    good: (ids) => ({ path: of(ids), query: { topic: ids.topic } }),
    sees: ({ finding }) => ({ items: expect.arrayContaining([expect.objectContaining({ id: finding })]) }),
  },
  getSiteIssue: {
    good: (ids) => ({ path: { ...of(ids), siteIssueId: ids.finding } }),
    sees: ({ finding }) => ({ id: finding }),
  },
  updateSiteIssue: {
    good: (ids) => ({ path: { ...of(ids), siteIssueId: ids.finding }, body: { status: 'done' } }),
    sees: () => ({ status: 'done' }),
  },
  listSiteFindings: {
    good: (ids) => ({ path: of(ids), query: { topic: ids.topic } }),
    sees: ({ finding }) => ({ items: expect.arrayContaining([expect.objectContaining({ id: finding })]) }),
  },
  getSiteFinding: {
    good: (ids) => ({ path: { ...of(ids), siteFindingId: ids.finding } }),
    sees: ({ finding }) => ({ id: finding }),
  },
  updateSiteFinding: {
    good: (ids) => ({ path: { ...of(ids), siteFindingId: ids.finding }, body: { status: 'canceled' } }),
    sees: () => ({ status: 'canceled' }),
  },
  listFindingChangeRequests: {
    good: (ids) => ({ path: { ...of(ids), siteFindingId: ids.finding } }),
    sees: () => ({ items: [] }),
  },
  draftFindingChangeRequests: {
    good: (ids) => ({ path: { ...of(ids), siteFindingId: ids.finding } }),
  },
} satisfies Partial<Cases>;
