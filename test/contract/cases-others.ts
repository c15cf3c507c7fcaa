/** Contract cases for integrations and conversations. */
import { expect } from 'vitest';
import { type Cases, type Ids, INTEGRATION, NOWHERE } from './operation-world.ts';

const helper = { integrationName: 'helper' };
const none = { integrationName: 'none' };
const installed = ({ installation }: Ids) => ({ ...helper, installationId: installation });
const notInstalled = { ...helper, installationId: 'none' };
const of = ({ site }: Ids) => ({ siteId: site });
const NONE = { siteId: 'none' };

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
    bad: () => ({ path: none }),
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
    bad: () => ({ path: none }),
  },
  getIntegrationEvent: {
    good: ({ event }) => ({ path: { ...helper, eventId: event } }),
    sees: ({ event }) => ({ event: { id: event, status: 'success' }, trace: { logs: expect.any(Array) } }),
    bad: () => ({ path: { ...helper, eventId: 'none' } }),
  },
  listInstallations: {
    good: () => ({ path: helper }),
    goodBy: 'integration',
    sees: ({ installation }) => ({ items: [{ id: installation, status: 'active' }] }),
    bad: () => ({ path: none }),
  },
  installIntegration: {
    good: () => ({ path: helper, body: { organization: 'org_other' } }),
    sees: () => ({ target: { organization: 'org_other' } }),
    bad: () => ({ path: none, body: { organization: 'org_other' } }),
  },
  getInstallation: {
    good: (ids) => ({ path: installed(ids) }),
    sees: () => ({ space_selection: 'all' }),
    bad: () => ({ path: notInstalled }),
  },
  updateInstallation: {
    good: (ids) => ({
      path: installed(ids),
      body: { externalIds: ['x'], space_selection: 'selected', configuration: {} },
    }),
    sees: () => ({ externalIds: ['x'], space_selection: 'selected' }),
    bad: () => ({ path: notInstalled, body: { externalIds: ['x'] } }),
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
    bad: () => ({ path: notInstalled }),
  },
  listInstallationSites: {
    good: (ids) => ({ path: installed(ids) }),
    sees: ({ site }) => ({ items: [{ site }] }),
    bad: () => ({ path: notInstalled }),
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
    bad: () => ({ path: NOWHERE, body: [] }),
  },
  listConversations: {
    good: () => ({ query: { limit: 1 } }),
    sees: () => ({ items: [{ object: 'conversation' }], next: { page: expect.any(String) } }),
    bad: () => ({ path: NOWHERE }),
  },
  getConversation: {
    good: ({ conversation }) => ({ path: { conversationId: conversation } }),
    sees: ({ conversation }) => ({ conversation: { id: conversation }, parts: [{ role: 'user' }] }),
    bad: () => ({ path: { conversationId: 'none' } }),
  },
  listConversationClusters: {
    good: () => ({ query: { sort: 'updatedAt', order: 'asc' } }),
    sees: ({ cluster }) => ({ items: [{ id: cluster }] }),
    bad: () => ({ path: NOWHERE }),
  },
  getConversationCluster: {
    good: ({ cluster }) => ({ path: { clusterId: cluster } }),
    sees: () => ({ muted: false }),
    bad: () => ({ path: { clusterId: 'none' } }),
  },
  updateConversationCluster: {
    good: ({ cluster }) => ({ path: { clusterId: cluster }, body: { muted: true } }),
    sees: () => ({ muted: true }),
    bad: () => ({ path: { clusterId: 'none' }, body: { muted: true } }),
  },
  listConversationIssues: {
    good: ({ cluster, conversation }) => ({ query: { cluster, conversation } }),
    sees: ({ issue }) => ({ items: [{ issue: { id: issue } }] }),
    bad: () => ({ path: NOWHERE }),
  },
  getConversationIssue: {
    good: ({ issue }) => ({ path: { issueId: issue } }),
    sees: ({ issue, conversation }) => ({ issue: { id: issue }, conversation: { id: conversation } }),
    bad: () => ({ path: { issueId: 'none' } }),
  },
  putContextRecords: {
    good: (ids) => ({ path: of(ids), body: [{ id: 'r-3', type: 'document', title: 'Dark', body: 'Is there one?' }] }),
    bad: () => ({ path: NONE, body: [] }),
  },
  listContextRecords: {
    good: (ids) => ({ path: of(ids), query: { type: 'ticket' } }),
    sees: ({ contextRecord }) => ({ items: expect.arrayContaining([expect.objectContaining({ id: contextRecord })]) }),
    bad: () => ({ path: NONE }),
  },
  getContextRecord: {
    good: (ids) => ({ path: { ...of(ids), contextRecordId: ids.contextRecord } }),
    sees: ({ contextRecord }) => ({ id: contextRecord }),
    bad: (ids) => ({ path: { ...of(ids), contextRecordId: 'none' } }),
  },
  listSiteTopics: {
    good: (ids) => ({ path: of(ids) }),
    sees: ({ topic }) => ({ items: [{ id: topic }] }),
    bad: () => ({ path: NONE }),
  },
  getSiteTopic: {
    good: (ids) => ({ path: { ...of(ids), siteTopicId: ids.topic } }),
    sees: ({ topic }) => ({ id: topic }),
    bad: (ids) => ({ path: { ...of(ids), siteTopicId: 'none' } }),
  },
  updateSiteTopic: {
    good: (ids) => ({
      path: { ...of(ids), siteTopicId: ids.topic },
      body: { usageSettings: { changeRequests: false } },
    }),
    sees: () => ({ usageSettings: { changeRequests: false } }),
    bad: (ids) => ({ path: { ...of(ids), siteTopicId: 'none' }, body: { usageSettings: { changeRequests: false } } }),
  },
  listSiteIssues: {
    good: (ids) => ({ path: of(ids), query: { topic: ids.topic } }),
    sees: ({ finding }) => ({ items: expect.arrayContaining([expect.objectContaining({ id: finding })]) }),
    bad: () => ({ path: NONE }),
  },
  getSiteIssue: {
    good: (ids) => ({ path: { ...of(ids), siteIssueId: ids.finding } }),
    sees: ({ finding }) => ({ id: finding }),
    bad: (ids) => ({ path: { ...of(ids), siteIssueId: 'none' } }),
  },
  updateSiteIssue: {
    good: (ids) => ({ path: { ...of(ids), siteIssueId: ids.finding }, body: { status: 'done' } }),
    sees: () => ({ status: 'done' }),
    bad: (ids) => ({ path: { ...of(ids), siteIssueId: 'none' }, body: { status: 'done' } }),
  },
  listSiteFindings: {
    good: (ids) => ({ path: of(ids), query: { topic: ids.topic } }),
    sees: ({ finding }) => ({ items: expect.arrayContaining([expect.objectContaining({ id: finding })]) }),
    bad: () => ({ path: NONE }),
  },
  getSiteFinding: {
    good: (ids) => ({ path: { ...of(ids), siteFindingId: ids.finding } }),
    sees: ({ finding }) => ({ id: finding }),
    bad: (ids) => ({ path: { ...of(ids), siteFindingId: 'none' } }),
  },
  updateSiteFinding: {
    good: (ids) => ({ path: { ...of(ids), siteFindingId: ids.finding }, body: { status: 'canceled' } }),
    sees: () => ({ status: 'canceled' }),
    bad: (ids) => ({ path: { ...of(ids), siteFindingId: 'none' }, body: { status: 'canceled' } }),
  },
  listFindingChangeRequests: {
    good: (ids) => ({ path: { ...of(ids), siteFindingId: ids.finding } }),
    sees: () => ({ items: [] }),
    bad: (ids) => ({ path: { ...of(ids), siteFindingId: 'none' } }),
  },
  draftFindingChangeRequests: {
    good: (ids) => ({ path: { ...of(ids), siteFindingId: ids.finding } }),
    bad: (ids) => ({ path: { ...of(ids), siteFindingId: 'none' } }),
  },
} satisfies Partial<Cases>;
