/** Conversations, issues and clusters of an organization: operations and views. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { bullets, linkParagraph, paragraph, richDocument } from '../documents/rich-document.ts';
import { type ApiAnswer, ApiError, noContent, ok } from '../model/answers.ts';
import {
  type ApiOperation,
  type Context,
  canIngest,
  type OperationCall,
  ORGANIZATION,
  ofFeature,
  operation,
} from '../model/operation.ts';
import { list, listBySeq } from '../model/paging.ts';
import { pick } from '../model/patch.ts';
import { listQuery, parse } from '../model/schema.ts';
import { startRun } from '../model/store.ts';
import { ownedLookup, requireOrganization } from '../organizations/people.ts';
import { byTypicality, rateCluster } from './processing.ts';
import {
  type ClusterRecord,
  type ConversationInput,
  type ConversationRecord,
  conversationInput,
  getScope,
  type IssueRecord,
  originKey,
  WEEK,
  WEEKS,
} from './records.ts';

/** Number of issues that a summary names. */
const EXAMPLES = 5;
const ICONS = { low: 'circle-info', medium: 'circle-exclamation', high: 'triangle-exclamation' } as const;

const orgUrl = (context: Context, organization: string) => `${context.base}/v1/orgs/${organization}`;

/** Conversation. Source: docs/platform-notes.md#conversations */
function viewConversation(context: Context, conversation: ConversationRecord): unknown {
  return {
    object: 'conversation',
    ...pick(conversation, 'id', 'createdAt', 'processedAt', 'source'),
    subject: conversation.content.subject,
    impact: context.store.conversationIssues.one('conversation', conversation.id)?.impact,
    urls: {
      location: `${orgUrl(context, conversation.organization)}/conversations/${conversation.id}`,
      source: conversation.content.metadata?.url,
    },
  };
}

/** Issue with its conversation. */
function viewIssue(context: Context, issue: IssueRecord): unknown {
  const conversation = context.store.conversations.get(issue.conversation);
  const url = conversation?.content.metadata?.url;
  return {
    issue: {
      object: 'conversation-issue',
      ...pick(issue, 'id', 'title', 'impact', 'createdAt', 'ingestedAt', 'conversation', 'cluster'),
      details: richDocument([
        paragraph(issue.excerpt === '' ? issue.title : issue.excerpt),
        ...(url === undefined ? [] : [linkParagraph('The conversation', url)]),
      ]),
      urls: { location: `${orgUrl(context, issue.organization)}/conversations-issues/${issue.id}` },
    },
    conversation: conversation === undefined ? undefined : viewConversation(context, conversation),
  };
}

/** Fields of a cluster that follow from its issues where they are not set. `what` are those that have the issues. */
export function summarize(context: Context, cluster: ClusterRecord, what: 'conversation' | 'record') {
  const issues = byTypicality(context.store.conversationIssues.by('cluster', cluster.id));
  const impact = cluster.impact ?? rateCluster(issues.map((issue) => issue.impact));
  const label = cluster.label ?? issues[0]?.title ?? '';
  const count = issues.length === 1 ? `1 ${what} is` : `${issues.length} ${what}s are`;
  const summary = richDocument([
    paragraph(`${count} about: ${label}`),
    bullets(issues.slice(0, EXAMPLES).map((issue) => issue.title)),
  ]);
  const conversations = new Set(issues.map((issue) => issue.conversation)).size;
  return { issues, conversations, impact, view: { label, icon: ICONS[impact], summary } };
}

/** IssuesCluster. */
function viewCluster(context: Context, cluster: ClusterRecord): unknown {
  const { issues, conversations, impact, view } = summarize(context, cluster, 'conversation');
  return {
    object: 'issues-cluster',
    ...pick(cluster, 'id', 'createdAt', 'updatedAt', 'muted'),
    ...view,
    impact,
    weeklyPulse: weeklyPulse(issues, context.now),
    sources: countSources(context, issues),
    stats: { issues: issues.length, conversations },
    urls: { location: `${orgUrl(context, cluster.organization)}/conversations-clusters/${cluster.id}` },
  };
}

/**
 * Returns the number of issues in each of the past 13 weeks, oldest first. A time in the future counts as the current
 * week.
 */
function weeklyPulse(issues: readonly IssueRecord[], now: number): number[] {
  const ages = issues.map((issue) => Math.max(0, Math.floor((now - Date.parse(issue.createdAt)) / WEEK)));
  return Array.from({ length: WEEKS }, (_, week) => ages.filter((age) => age === WEEKS - 1 - week).length);
}

function countSources(context: Context, issues: readonly IssueRecord[]): Record<string, number> {
  const bySource = Map.groupBy(issues, (issue) => context.store.conversations.get(issue.conversation)?.source ?? '');
  return Object.fromEntries([...bySource].map(([source, same]) => [source, same.length]));
}

const CONVERSATIONS = `${ORGANIZATION}/conversations` as const;

/**
 * Maximum number of conversations in a request. Not documented; the vendor's own connector sends this many. Source:
 * docs/platform-notes.md#conversations
 */
export const MAX_BATCH = 100;

/** Limits of a request that ingests. The largest body is not documented. Source: docs/platform-notes.md#errors */
export const INGESTION = { limit: 'ingest', maxBytes: 5 * 1024 * 1024 } as const;

const conversationInputs = z
  .array(conversationInput)
  .max(MAX_BATCH, { error: `must have at most ${MAX_BATCH} conversations` });

/** Reads one conversation or an array. Source: docs/platform-notes.md#conversations */
function readInputs(context: Context, body: unknown): readonly ConversationInput[] {
  if (Array.isArray(body) && context.features.conversationLists) {
    return parse('body', conversationInputs, body);
  }
  return [parse('body', conversationInput, body)];
}

/** Stores a list completely or not at all. If an id occurs twice, the later conversation wins. */
function ingest(call: OperationCall<'/orgs/{organizationId}/conversations', unknown, unknown>): ApiAnswer {
  const organization = requireOrganization(call).id;
  if (!canIngest(call.caller, call.features)) {
    throw new ApiError(403, "Only an integration installation's token may ingest conversations");
  }
  // A user's token has no installation to name. Source: docs/platform-notes.md#conversations
  const source = call.caller.source ?? `integration:api:${call.caller.user}`;
  for (const { id: externalId, ...content } of readInputs(call, call.body)) {
    receive(call, 'cnv', { organization, source, externalId, content });
  }
  call.store.settle(call.now);
  return noContent();
}

type Received = Pick<ConversationRecord, 'organization' | 'site' | 'record' | 'source' | 'externalId' | 'content'>;

/** Stores a conversation or context record. One without a change is counted, but not processed again. */
export function receive(call: Context, prefix: string, given: Received): void {
  const { conversations } = call.store;
  const { content, record } = given;
  const before = conversations.one('origin', originKey(getScope(given), given.source, given.externalId));
  if (before !== undefined && isDeepStrictEqual([before.content, before.record], [content, record])) {
    conversations.put({ ...before, received: before.received + 1, repeats: before.repeats + 1 });
    return;
  }
  conversations.put({
    ...(before ?? call.store.identify(prefix)),
    ...given,
    createdAt: content.metadata?.createdAt ?? before?.createdAt ?? call.at,
    ingestedAt: call.at,
    received: (before?.received ?? 0) + 1,
    repeats: before?.repeats ?? 0,
    processedAt: undefined,
    run: startRun(call, call.processing.conversations),
  });
}

const listConversationsQuery = listQuery.extend({ source: z.string().optional() });

const requireConversation = ownedLookup('Conversation', 'conversationId', ({ conversations }) => conversations);
const requireIssue = ownedLookup('Issue', 'issueId', ({ conversationIssues }) => conversationIssues);
const requireCluster = ownedLookup('Cluster', 'clusterId', ({ issuesClusters }) => issuesClusters);

const ISSUES = `${ORGANIZATION}/conversations-issues` as const;
const CLUSTER = `${ORGANIZATION}/conversations-clusters/{clusterId}` as const;

/** Source: docs/platform-notes.md#filters */
const issuesQuery = listQuery.extend({ cluster: z.string().optional(), conversation: z.string().optional() });

/** Only one value of `sort` was observed. Source: docs/platform-notes.md#filters */
const clustersQuery = listQuery.extend({
  order: z.enum(['asc', 'desc']).optional(),
  sort: z.literal('updatedAt').optional(),
});

function matches(issue: IssueRecord, query: z.output<typeof issuesQuery>): boolean {
  return (
    (query.cluster === undefined || issue.cluster === query.cluster) &&
    (query.conversation === undefined || issue.conversation === query.conversation)
  );
}

const updateConversationClusterBody = z.strictObject({ muted: z.boolean() });

/** Operations on conversations, their issues and clusters. */
export const conversationOperations: readonly ApiOperation[] = ofFeature('conversations', [
  // Conversations. Source: docs/platform-notes.md#conversations
  operation('listConversations', 'GET', CONVERSATIONS, { query: listConversationsQuery }, (call) => {
    const organization = requireOrganization(call);
    const { source } = call.query;
    const items = call.store.conversations
      .by('organization', organization.id)
      .filter((conversation) => source === undefined || conversation.source === source);
    return listBySeq(call, items, viewConversation);
  }),
  operation('ingestConversations', 'POST', CONVERSATIONS, { ...INGESTION, body: z.unknown() }, ingest),
  operation('getConversation', 'GET', `${CONVERSATIONS}/{conversationId}`, {}, (call) => {
    const conversation = requireConversation(call);
    const { parts, metadata } = conversation.content;
    return ok({ conversation: viewConversation(call, conversation), parts, metadata: metadata ?? {} });
  }),
  // Issues. Source: docs/platform-notes.md#issue-clusters
  operation('listConversationIssues', 'GET', ISSUES, { query: issuesQuery }, (call) => {
    const organization = requireOrganization(call);
    const items = call.store.conversationIssues
      .by('organization', organization.id)
      .filter((issue) => matches(issue, call.query));
    return listBySeq(call, items, viewIssue);
  }),
  operation('getConversationIssue', 'GET', `${ISSUES}/{issueId}`, {}, (call) =>
    ok(viewIssue(call, requireIssue(call))),
  ),
  // Clusters of issues. Source: docs/platform-notes.md#issue-clusters
  operation(
    'listConversationClusters',
    'GET',
    `${ORGANIZATION}/conversations-clusters`,
    { query: clustersQuery },
    (call) => {
      const organization = requireOrganization(call);
      return list(call, {
        items: call.store.issuesClusters.by('organization', organization.id),
        key: (cluster) => [cluster.updatedAt, cluster.seq],
        descending: call.query.order !== 'asc',
        view: viewCluster,
      });
    },
  ),
  operation('getConversationCluster', 'GET', CLUSTER, {}, (call) => ok(viewCluster(call, requireCluster(call)))),
  operation('updateConversationCluster', 'PATCH', CLUSTER, { body: updateConversationClusterBody }, (call) => {
    const cluster = requireCluster(call);
    return ok(viewCluster(call, call.store.issuesClusters.put({ ...cluster, muted: call.body.muted })));
  }),
]);
