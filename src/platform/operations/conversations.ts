import * as z from 'zod';
import { list } from './operation.ts';
import { optionalFlag, optionalText } from './shapes.ts';

const issuesCluster = z.looseObject({
  id: z.string(),
  label: optionalText,
  /** A rich document or a string (supplement, section 1). */
  summary: z.unknown().optional(),
  muted: optionalFlag,
  impact: optionalText,
});
/** Conversations and what is derived from them. */
export const conversationOperations = {
  listConversationClusters: list(
    'listConversationClusters',
    '/v1/orgs/{organizationId}/conversations-clusters',
    issuesCluster,
    { order: z.enum(['asc', 'desc']).optional(), sort: z.string().optional() },
  ),
};
