import * as z from 'zod';
import { list, read, write } from './operation.ts';
import { optionalFlag, optionalText, text } from './shapes.ts';

const issuesCluster = z.looseObject({
  id: z.string(),
  label: optionalText,
  /** A rich document or a string (supplement, section 1). */
  summary: z.unknown().optional(),
  muted: optionalFlag,
  impact: optionalText,
  stats: z.looseObject({ issues: z.number(), conversations: z.number() }).optional(),
});
/** Conversation; without `processedAt` it was not worked into issues yet. */
const kept = z.looseObject({
  id: z.string(),
  subject: optionalText,
  processedAt: optionalText,
});
/** A conversation with what was said in it. */
const keptWithParts = z.looseObject({
  conversation: kept,
  parts: z.array(z.looseObject({ body: z.string() })),
  metadata: z.unknown().optional(),
});
/** ConversationInput (supplement, section 8). */
const conversation = z.strictObject({
  id: text(1, 255),
  subject: text(0, 512).optional(),
  parts: z.array(
    z.strictObject({
      type: z.literal('message'),
      role: z.enum(['user', 'assistant', 'team-member']),
      body: z.string(),
    }),
  ),
  metadata: z
    .strictObject({
      url: z.string().optional(),
      attributes: z.record(z.string(), z.string()).optional(),
      createdAt: z.iso.datetime({ offset: true }).optional(),
    })
    .optional(),
});
/** Conversations and what is derived from them. */
export const conversationOperations = {
  /** What a repeated id does is not documented, so a lost answer is its caller's to deal with. */
  ingestConversations: write('ingestConversations', 'POST', '/v1/orgs/{organizationId}/conversations', {
    body: z.union([conversation, z.array(conversation)]),
    class: 'ingest',
    repeat: 'never',
    success: [204],
  }),
  listConversations: list('listConversations', '/v1/orgs/{organizationId}/conversations', kept),
  getConversation: read('getConversation', '/v1/orgs/{organizationId}/conversations/{conversationId}', keptWithParts),
  listConversationClusters: list(
    'listConversationClusters',
    '/v1/orgs/{organizationId}/conversations-clusters',
    issuesCluster,
    { order: z.enum(['asc', 'desc']).optional(), sort: z.string().optional() },
  ),
};
