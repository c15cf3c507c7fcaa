// Operations on conversations, and on the issues and clusters that the platform finds in them.

import * as z from 'zod';
import { list, read, write } from '../model/operation.ts';
import { givenText, optionalFlag, optionalNumber, optionalText, string, text, urls } from '../model/shapes.ts';

/**
 * Issue cluster, as read. Versions differ in nearly every field, so only the id is required. Unknown values of
 * `impact` and unknown source names are kept. Source: docs/platform-notes.md#issue-clusters
 */
const issuesCluster = z.looseObject({
  id: string,
  label: optionalText,
  createdAt: optionalText,
  updatedAt: optionalText,
  icon: z.unknown().optional(),
  /** Rich document or string; some versions call it `details`. */
  summary: z.unknown().optional(),
  details: z.unknown().optional(),
  muted: optionalFlag,
  impact: optionalText,
  /** Counts of the past three months. The order is not documented; the oldest week is assumed to be first. */
  weeklyPulse: z.array(z.number().nullable()).nullish(),
  /** Counts by source. */
  sources: z.record(string, z.number().nullish()).nullish(),
  stats: z.looseObject({ issues: optionalNumber, conversations: optionalNumber }).nullish(),
  urls,
});
/** Conversation; without `processedAt` it has not been processed into issues yet. */
const kept = z.looseObject({
  id: string,
  subject: optionalText,
  createdAt: optionalText,
  processedAt: optionalText,
  source: optionalText,
  impact: optionalText,
  urls,
});
/** ConversationIssue, with its conversation. */
const issueFound = z.looseObject({
  issue: z.looseObject({
    id: string,
    title: optionalText,
    /** Rich document; some versions have a string in `summary`. */
    details: z.unknown().optional(),
    summary: z.unknown().optional(),
    impact: optionalText,
    createdAt: optionalText,
    ingestedAt: optionalText,
    /** Id of the conversation. */
    conversation: optionalText,
    /** Id of the cluster. */
    cluster: optionalText,
    urls,
  }),
  conversation: kept.nullish(),
});
/** Conversation with its messages. */
const keptWithParts = z.looseObject({
  conversation: kept,
  parts: z.array(z.looseObject({ body: string })),
  metadata: z.unknown().optional(),
});
/** Input for ingesting a conversation. Source: docs/platform-notes.md#conversations */
const conversation = z.strictObject({
  id: text(1, 255),
  subject: text(0, 512).optional(),
  parts: z.array(
    z.strictObject({
      type: z.literal('message'),
      role: z.enum(['user', 'assistant', 'team-member']),
      body: string,
    }),
  ),
  metadata: z
    .strictObject({
      url: givenText,
      attributes: z.record(string, string).optional(),
      createdAt: z.iso.datetime({ offset: true }).optional(),
    })
    .optional(),
});
/** Operations on conversations, issues and clusters. */
export const conversationOperations = {
  /** The effect of a repeated id is not documented, so callers must handle a lost response. */
  ingestConversations: write(
    'ingestConversations',
    'Ingests one or more conversations.',
    'POST',
    '/v1/orgs/{organizationId}/conversations',
    {
      body: z.union([conversation, z.array(conversation)]),
      class: 'ingest',
      repeat: 'never',
      success: [204],
    },
  ),
  listConversations: list(
    'listConversations',
    'Lists the ingested conversations.',
    '/v1/orgs/{organizationId}/conversations',
    kept,
    { source: givenText },
  ),
  getConversation: read(
    'getConversation',
    'Returns a conversation with its parts.',
    '/v1/orgs/{organizationId}/conversations/{conversationId}',
    keptWithParts,
  ),
  listConversationClusters: list(
    'listConversationClusters',
    'Lists the issue clusters.',
    '/v1/orgs/{organizationId}/conversations-clusters',
    issuesCluster,
    { order: z.enum(['asc', 'desc']).optional(), sort: givenText },
  ),
  getConversationCluster: read(
    'getConversationCluster',
    'Returns an issue cluster.',
    '/v1/orgs/{organizationId}/conversations-clusters/{clusterId}',
    issuesCluster,
  ),
  /** The success code is not documented. */
  updateConversationCluster: write(
    'updateConversationCluster',
    'Mutes an issue cluster for change requests, or unmutes it.',
    'PATCH',
    '/v1/orgs/{organizationId}/conversations-clusters/{clusterId}',
    { body: z.strictObject({ muted: z.boolean() }), answer: issuesCluster, repeat: 'idempotent' },
  ),
  listConversationIssues: list(
    'listConversationIssues',
    'Lists the issues of conversations, each with its conversation.',
    '/v1/orgs/{organizationId}/conversations-issues',
    issueFound,
    {
      cluster: givenText,
      conversation: givenText,
    },
  ),
  getConversationIssue: read(
    'getConversationIssue',
    'Returns an issue with its conversation.',
    '/v1/orgs/{organizationId}/conversations-issues/{issueId}',
    issueFound,
  ),
};
