import { addTerms, bestCluster, bestPartner } from './clustering.ts';
import type { ClusterRecord, ConversationRecord, IssueRecord } from './conversation-records.ts';
import { impactOfText } from './impact.ts';
import type { Run } from './records.ts';
import type { Store } from './store.ts';
import { readContent } from './ticket-text.ts';

/** Issues without a cluster are compared with the newest so many others, so that work does not grow with the years. */
const WINDOW = 500;

/**
 * Works one conversation into its issue, and the issue into a cluster: the likest there is; else a new one with the
 * likest issue that has none; else none. What was known of an edited conversation gives way to what it says now.
 */
export function workConversation(store: Store, conversation: ConversationRecord, run: Run): void {
  const at = new Date(run.due).toISOString();
  store.conversations.put({ ...conversation, run: null, processedAt: at });
  const before = store.conversationIssues.one('conversation', conversation.id);
  const read = readContent(conversation.content);
  const known = before?.cluster;
  if (before !== undefined) {
    leaveCluster(store, before, at);
  }
  if (read === undefined) {
    if (before !== undefined) {
      store.conversationIssues.remove(before.id);
    }
    dropWhenEmpty(store, known);
    return;
  }
  const issue = store.conversationIssues.put({
    ...(before ?? store.identify('iss')),
    organization: conversation.organization,
    conversation: conversation.id,
    cluster: undefined,
    title: read.title,
    excerpt: read.excerpt,
    impact: impactOfText(read.text),
    terms: read.terms,
    createdAt: conversation.createdAt,
    ingestedAt: conversation.ingestedAt,
  });
  findCluster(store, issue, at);
  dropWhenEmpty(store, known);
}

function findCluster(store: Store, issue: IssueRecord, at: string): void {
  const likest = bestCluster(issue.terms, store.issuesClusters.by('organization', issue.organization));
  if (likest !== undefined) {
    gather(store, joinCluster(store, likest, issue, at), at);
    return;
  }
  const partner = bestPartner(issue.terms, looseIssues(store, issue.organization, issue.id));
  if (partner !== undefined) {
    const { organization } = issue;
    const cluster = store.issuesClusters.put({
      ...store.identify('clu'),
      organization,
      muted: false,
      createdAt: at,
      updatedAt: at,
      terms: {},
    });
    gather(store, joinCluster(store, joinCluster(store, cluster, partner, at), issue, at), at);
  }
}

/** Issues that came before the cluster was what it is now may belong to it too. */
function gather(store: Store, cluster: ClusterRecord, at: string): void {
  let grown = cluster;
  for (const issue of looseIssues(store, cluster.organization)) {
    if (bestCluster(issue.terms, [grown]) !== undefined) {
      grown = joinCluster(store, grown, issue, at);
    }
  }
}

function looseIssues(store: Store, organization: string, except?: string): readonly IssueRecord[] {
  return store.conversationIssues
    .by('loose', organization)
    .slice(-WINDOW)
    .filter((issue) => issue.id !== except);
}

function joinCluster(store: Store, cluster: ClusterRecord, issue: IssueRecord, at: string): ClusterRecord {
  store.conversationIssues.put({ ...issue, cluster: cluster.id });
  return store.issuesClusters.put({ ...cluster, updatedAt: at, terms: addTerms(cluster.terms, issue.terms) });
}

function leaveCluster(store: Store, issue: IssueRecord, at: string): void {
  const cluster = issue.cluster === undefined ? undefined : store.issuesClusters.get(issue.cluster);
  if (cluster !== undefined) {
    store.conversationIssues.put({ ...issue, cluster: undefined });
    store.issuesClusters.put({ ...cluster, updatedAt: at, terms: addTerms(cluster.terms, issue.terms, -1) });
  }
}

/** A cluster keeps its id while one issue is left, and goes with the last. */
function dropWhenEmpty(store: Store, cluster: string | undefined): void {
  if (cluster !== undefined && store.conversationIssues.count('cluster', cluster) === 0) {
    store.issuesClusters.remove(cluster);
  }
}
