/** Responses about conversations and clusters, and about the records, topics and findings of sites that follow them. */
import * as z from 'zod';
import { optionalFlag, optionalNumber, optionalText, string, urls } from './model/shapes.ts';
import { list, read, stream, write } from './table.ts';

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
const conversation = z.looseObject({
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
    /** Id of the conversation. */
    conversation: optionalText,
    /** Id of the cluster. */
    cluster: optionalText,
    urls,
  }),
  conversation: conversation.nullish(),
});

/** SiteTopic. */
const siteTopic = z.looseObject({
  id: string,
  label: optionalText,
  createdAt: optionalText,
  updatedAt: optionalText,
  icon: z.unknown().optional(),
  /** A rich document or a text. */
  summary: z.unknown().optional(),
  /** `changeRequests` false: muted for change requests. */
  usageSettings: z.looseObject({ changeRequests: optionalFlag }).nullish(),
  records: optionalNumber,
  findings: z.looseObject({ open: optionalNumber, total: optionalNumber }).nullish(),
  urls,
});

/** SiteFinding; in 0.167 an issue, with a `priority` for its `severity`. */
const siteFinding = z.looseObject({
  id: string,
  /** The topic's id; null where it is of none. */
  topic: optionalText,
  title: optionalText,
  /** `open`, `done`, `canceled`; from 0.181 on also `candidate`. */
  status: optionalText,
  /** `low`, `medium` or `high`. */
  severity: optionalText,
  priority: optionalText,
  /** A rich document or a text. */
  description: z.unknown().optional(),
  createdAt: optionalText,
  updatedAt: optionalText,
  urls,
});

/** Event of a response: the answer so far, a rich document or Markdown. Source: docs/platform-notes.md#ask */
const answered = z.looseObject({
  type: optionalText,
  answer: z.looseObject({ answer: z.unknown().optional() }).nullish(),
});

/** Operations on conversations and on the context of sites. Source: docs/platform-notes.md#context-records */
export const conversationOperations = {
  /** The effect of a repeated id is not documented, so callers must handle a lost response. */
  ingestConversations: write('ingestConversations'),
  listConversations: list('listConversations', conversation),
  getConversation: read(
    'getConversation',
    z.looseObject({ conversation, parts: z.array(z.looseObject({ body: string })) }),
  ),
  listConversationClusters: list('listConversationClusters', issuesCluster),
  getConversationCluster: read('getConversationCluster', issuesCluster),
  updateConversationCluster: write('updateConversationCluster', issuesCluster),
  listConversationIssues: list('listConversationIssues', issueFound),
  putContextRecords: write('putContextRecords'),
  /** All of them: this list has no pages. */
  listSiteTopics: read('listSiteTopics', z.looseObject({ items: z.array(siteTopic) })),
  getSiteTopic: read('getSiteTopic', siteTopic),
  updateSiteTopic: write('updateSiteTopic', siteTopic),
  listSiteIssues: list('listSiteIssues', siteFinding),
  listSiteFindings: list('listSiteFindings', siteFinding),
  askSite: stream('askSite', answered),
};
