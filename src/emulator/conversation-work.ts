import { JOIN, PAIR } from './clustering.ts';
import { type ClusterRecord, type ConversationRecord, type IssueRecord, scopeOf } from './conversation-records.ts';
import type { Run } from './entity.ts';
import { impactOfText } from './impact.ts';
import type { Store } from './store.ts';
import { readContent } from './ticket-text.ts';

/**
 * Works one conversation into its issue, and the issue into a cluster: the likest there is; else a new one with the
 * likest issue that has none; else none. What was known of an edited conversation gives way to what it says now.
 */
export function workConversation(store: Store, conversation: ConversationRecord, run: Run): void {
  const at = new Date(run.due).toISOString();
  store.conversations.put({ ...conversation, run: null, processedAt: at });
  const before = store.conversationIssues.one('conversation', conversation.id);
  if (before !== undefined) {
    takeOut(store, before, at);
  }
  const read = readContent(conversation.content);
  if (read !== undefined) {
    const issue = {
      ...(before ?? store.identify('iss')),
      organization: conversation.organization,
      site: conversation.site,
      conversation: conversation.id,
      title: read.title,
      excerpt: read.excerpt,
      impact: impactOfText(read.text),
      terms: read.terms,
      createdAt: conversation.createdAt,
      ingestedAt: conversation.ingestedAt,
    };
    place(store, { ...issue, cluster: undefined }, at);
  } else if (before !== undefined) {
    store.conversationIssues.remove(before.id);
  }
  dropWhenEmpty(store, before?.cluster);
}

function place(store: Store, issue: IssueRecord, at: string): void {
  const topics = store.topics(scopeOf(issue));
  const known = store.issuesClusters.get(topics.clusters.best(issue.terms, JOIN) ?? '');
  const partner = store.conversationIssues.get(topics.loose.best(issue.terms, PAIR) ?? '');
  if (known === undefined && partner === undefined) {
    store.conversationIssues.put(issue);
    topics.loose.add(issue.id, issue.seq, issue.terms);
    return;
  }
  const cluster = known ?? newCluster(store, issue, at);
  if (known === undefined && partner !== undefined) {
    topics.loose.remove(partner.id, partner.terms);
    join(store, cluster, partner, at);
  }
  join(store, cluster, issue, at);
  gather(store, cluster, issue, at);
}

/** What came before the cluster was about this too may belong to it now. */
function gather(store: Store, cluster: ClusterRecord, joined: IssueRecord, at: string): void {
  const { clusters, loose } = store.topics(scopeOf(cluster));
  for (const id of loose.sharing(joined.terms)) {
    const issue = store.conversationIssues.get(id);
    if (issue !== undefined && clusters.likeness(cluster.id, issue.terms) >= JOIN) {
      loose.remove(issue.id, issue.terms);
      join(store, cluster, issue, at);
    }
  }
}

function newCluster(store: Store, { organization, site }: IssueRecord, at: string): ClusterRecord {
  const identity = store.identify(site === undefined ? 'clu' : 'top');
  return { ...identity, organization, site, muted: false, createdAt: at, updatedAt: at };
}

function join(store: Store, cluster: ClusterRecord, issue: IssueRecord, at: string): void {
  store.topics(scopeOf(cluster)).clusters.add(cluster.id, cluster.seq, issue.terms);
  store.conversationIssues.put({ ...issue, cluster: cluster.id });
  store.issuesClusters.put({ ...cluster, updatedAt: at });
}

/** Of its cluster, or of those that have none. */
function takeOut(store: Store, issue: IssueRecord, at: string): void {
  const { clusters, loose } = store.topics(scopeOf(issue));
  const cluster = issue.cluster === undefined ? undefined : store.issuesClusters.get(issue.cluster);
  if (cluster === undefined) {
    loose.remove(issue.id, issue.terms);
  } else {
    clusters.remove(cluster.id, issue.terms);
    store.issuesClusters.put({ ...cluster, updatedAt: at });
  }
}

/** A cluster keeps its id while one issue is left, and goes with the last. */
function dropWhenEmpty(store: Store, cluster: string | undefined): void {
  if (cluster !== undefined && store.conversationIssues.count('cluster', cluster) === 0) {
    store.issuesClusters.remove(cluster);
  }
}
