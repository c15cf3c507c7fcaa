import * as z from 'zod';
import { list, read, write } from '../model/operation.ts';
import { givenText, optionalFlag, optionalNumber, optionalText, string, text, urls } from '../model/shapes.ts';

/**
 * An issue cluster, as read. Versions differ in nearly every field, so only the id is required. Unknown values of
 * `impact` and unknown source names are kept. Source: docs/platform-notes.md#issue-clusters
 */
const issuesCluster = z.looseObject({
  id: string,
  label: optionalText,
  createdAt: optionalText,
  updatedAt: optionalText,
  icon: z.unknown().optional(),
  /** A rich document or a string; some versions call it `details`. */
  summary: z.unknown().optional(),
  details: z.unknown().optional(),
  muted: optionalFlag,
  impact: optionalText,
  /** Of the past three months; that the oldest week comes first is not said, and taken to be so. */
  weeklyPulse: z.array(z.number().nullable()).nullish(),
  /** How many by source. */
  sources: z.record(string, z.number().nullish()).nullish(),
  stats: z.looseObject({ issues: optionalNumber, conversations: optionalNumber }).nullish(),
  urls,
});
/** Conversation; without `processedAt` it was not worked into issues yet. */
const kept = z.looseObject({
  id: string,
  subject: optionalText,
  createdAt: optionalText,
  processedAt: optionalText,
  source: optionalText,
  impact: optionalText,
  urls,
});
/** ConversationIssue, with the conversation that it is from. */
const issueFound = z.looseObject({
  issue: z.looseObject({
    id: string,
    title: optionalText,
    /** A rich document; some versions have a string in `summary`. */
    details: z.unknown().optional(),
    summary: z.unknown().optional(),
    impact: optionalText,
    createdAt: optionalText,
    ingestedAt: optionalText,
    /** The conversation's id. */
    conversation: optionalText,
    /** The cluster's id. */
    cluster: optionalText,
    urls,
  }),
  conversation: kept.nullish(),
});
/** A conversation with what was said in it. */
const keptWithParts = z.looseObject({
  conversation: kept,
  parts: z.array(z.looseObject({ body: string })),
  metadata: z.unknown().optional(),
});
/** A conversation to ingest. Source: docs/platform-notes.md#conversations */
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
/** Conversations and what is derived from them. */
export const conversationOperations = {
  /** What a repeated id does is not documented, so a lost answer is its caller's to deal with. */
  ingestConversations: write(
    'ingestConversations',
    'Sends a conversation, or several, to be analysed.',
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
    'Conversations that were ingested.',
    '/v1/orgs/{organizationId}/conversations',
    kept,
    { source: givenText },
  ),
  getConversation: read(
    'getConversation',
    'A conversation with its parts.',
    '/v1/orgs/{organizationId}/conversations/{conversationId}',
    keptWithParts,
  ),
  listConversationClusters: list(
    'listConversationClusters',
    'Clusters of issues from conversations.',
    '/v1/orgs/{organizationId}/conversations-clusters',
    issuesCluster,
    { order: z.enum(['asc', 'desc']).optional(), sort: givenText },
  ),
  getConversationCluster: read(
    'getConversationCluster',
    'A cluster of issues.',
    '/v1/orgs/{organizationId}/conversations-clusters/{clusterId}',
    issuesCluster,
  ),
  /** The success code is not documented. */
  updateConversationCluster: write(
    'updateConversationCluster',
    'Mutes a cluster for change requests, or unmutes it.',
    'PATCH',
    '/v1/orgs/{organizationId}/conversations-clusters/{clusterId}',
    { body: z.strictObject({ muted: z.boolean() }), answer: issuesCluster, repeat: 'idempotent' },
  ),
  listConversationIssues: list(
    'listConversationIssues',
    'Issues from conversations, each with its conversation.',
    '/v1/orgs/{organizationId}/conversations-issues',
    issueFound,
    {
      cluster: givenText,
      conversation: givenText,
    },
  ),
  getConversationIssue: read(
    'getConversationIssue',
    'An issue, with the conversation that it is from.',
    '/v1/orgs/{organizationId}/conversations-issues/{issueId}',
    issueFound,
  ),
};
