// Views of conversations, issues and clusters.

import { bullets, linkParagraph, paragraph, richDocument } from '../documents/build.ts';
import type { Context } from '../model/operation.ts';
import { pick } from '../model/patch.ts';
import { byTypicality } from './clustering.ts';
import { rateCluster } from './processing.ts';
import type { ClusterRecord, ConversationRecord, Impact, IssueRecord } from './records.ts';

const WEEK = 7 * 24 * 60 * 60 * 1000;

/** Number of weeks in the pulse: three months. */
const WEEKS = 13;

/** Number of issues that a summary names. */
const EXAMPLES = 5;

const ICONS: Readonly<Record<Impact, string>> = {
  low: 'circle-info',
  medium: 'circle-exclamation',
  high: 'triangle-exclamation',
};

const orgUrl = (context: Context, organization: string) => `${context.base}/v1/orgs/${organization}`;

/** Conversation. Source: docs/platform-notes.md#conversations */
export function viewConversation(context: Context, conversation: ConversationRecord): unknown {
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
export function viewIssue(context: Context, issue: IssueRecord): unknown {
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

/** IssuesCluster. Fields that are not set are computed from its issues. */
export function viewCluster(context: Context, cluster: ClusterRecord): unknown {
  const issues = byTypicality(context.store.conversationIssues.by('cluster', cluster.id));
  const impact = cluster.impact ?? rateCluster(issues.map((issue) => issue.impact));
  const label = cluster.label ?? issues[0]?.title ?? '';
  return {
    object: 'issues-cluster',
    ...pick(cluster, 'id', 'createdAt', 'updatedAt', 'muted'),
    label,
    icon: ICONS[impact],
    summary: richDocument([
      paragraph(`${issues.length === 1 ? '1 conversation is' : `${issues.length} conversations are`} about: ${label}`),
      bullets(issues.slice(0, EXAMPLES).map((issue) => issue.title)),
    ]),
    impact,
    weeklyPulse: weeklyPulse(issues, context.now),
    sources: countSources(context, issues),
    stats: { issues: issues.length, conversations: new Set(issues.map((issue) => issue.conversation)).size },
    urls: { location: `${orgUrl(context, cluster.organization)}/conversations-clusters/${cluster.id}` },
  };
}

/**
 * Returns the number of issues in each of the past 13 weeks, oldest first. A time in the future counts as the current
 * week.
 */
function weeklyPulse(issues: readonly IssueRecord[], now: number): number[] {
  const pulse = new Array<number>(WEEKS).fill(0);
  for (const issue of issues) {
    const ago = Math.max(0, Math.floor((now - Date.parse(issue.createdAt)) / WEEK));
    if (ago < WEEKS) {
      const week = WEEKS - 1 - ago;
      pulse[week] = (pulse[week] ?? 0) + 1;
    }
  }
  return pulse;
}

function countSources(context: Context, issues: readonly IssueRecord[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const issue of issues) {
    const source = context.store.conversations.get(issue.conversation)?.source ?? '';
    counts.set(source, (counts.get(source) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}
