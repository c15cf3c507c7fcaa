// Processing of conversations into issues and clusters.

import { pick } from '../model/patch.ts';
import { findDue, type Run } from '../model/runs.ts';
import type { EmulatorStore } from '../model/store.ts';
import { getTopics, JOIN_THRESHOLD, PAIR_THRESHOLD } from './clustering.ts';
import { type ClusterRecord, type ConversationRecord, getScope, type Impact, type IssueRecord } from './records.ts';
import { readContent } from './ticket-text.ts';

/**
 * Processes a conversation into its issue, and the issue into a cluster: the most similar one, otherwise a new one with
 * the most similar issue that has none, otherwise none. The issue of an edited conversation is replaced.
 */
function processConversation(store: EmulatorStore, conversation: ConversationRecord, run: Run): void {
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
      ...pick(conversation, 'organization', 'site', 'createdAt', 'ingestedAt'),
      conversation: conversation.id,
      title: read.title,
      excerpt: read.excerpt,
      impact: rateText(read.text),
      terms: read.terms,
    };
    place(store, { ...issue, cluster: undefined }, at);
  } else if (before !== undefined) {
    store.conversationIssues.remove(before.id);
  }
  dropWhenEmpty(store, before?.cluster);
}

function place(store: EmulatorStore, issue: IssueRecord, at: string): void {
  const topics = getTopics(store, getScope(issue));
  const known = store.issuesClusters.get(topics.clusters.best(issue.terms, JOIN_THRESHOLD) ?? '');
  const partner = store.conversationIssues.get(topics.unclustered.best(issue.terms, PAIR_THRESHOLD) ?? '');
  if (known === undefined && partner === undefined) {
    store.conversationIssues.put(issue);
    topics.unclustered.add(issue.id, issue.seq, issue.terms);
    return;
  }
  const cluster = known ?? newCluster(store, issue, at);
  if (known === undefined && partner !== undefined) {
    topics.unclustered.remove(partner.id, partner.terms);
    join(store, cluster, partner, at);
  }
  join(store, cluster, issue, at);
  gather(store, cluster, issue, at);
}

/** Adds issues that are older than the cluster's topic to it, if they are similar now. */
function gather(store: EmulatorStore, cluster: ClusterRecord, joined: IssueRecord, at: string): void {
  const { clusters, unclustered } = getTopics(store, getScope(cluster));
  for (const id of unclustered.sharing(joined.terms)) {
    const issue = store.conversationIssues.get(id);
    if (issue !== undefined && clusters.likeness(cluster.id, issue.terms) >= JOIN_THRESHOLD) {
      unclustered.remove(issue.id, issue.terms);
      join(store, cluster, issue, at);
    }
  }
}

function newCluster(store: EmulatorStore, { organization, site }: IssueRecord, at: string): ClusterRecord {
  const identity = store.identify(site === undefined ? 'clu' : 'top');
  return { ...identity, organization, site, muted: false, createdAt: at, updatedAt: at };
}

function join(store: EmulatorStore, cluster: ClusterRecord, issue: IssueRecord, at: string): void {
  getTopics(store, getScope(cluster)).clusters.add(cluster.id, cluster.seq, issue.terms);
  store.conversationIssues.put({ ...issue, cluster: cluster.id });
  store.issuesClusters.put({ ...cluster, updatedAt: at });
}

/** Removes an issue from the index of its cluster, or from the issues without one. */
function takeOut(store: EmulatorStore, issue: IssueRecord, at: string): void {
  const { clusters, unclustered } = getTopics(store, getScope(issue));
  const cluster = issue.cluster === undefined ? undefined : store.issuesClusters.get(issue.cluster);
  if (cluster === undefined) {
    unclustered.remove(issue.id, issue.terms);
  } else {
    clusters.remove(cluster.id, issue.terms);
    store.issuesClusters.put({ ...cluster, updatedAt: at });
  }
}

/** Deletes a cluster that has no issues left. */
function dropWhenEmpty(store: EmulatorStore, cluster: string | undefined): void {
  if (cluster !== undefined && store.conversationIssues.count('cluster', cluster) === 0) {
    store.issuesClusters.remove(cluster);
  }
}

/*
 * Impact of issues and clusters. A decision of this emulator, since the platform does not document how it is
 * determined: words decide it for an issue, shares and counts for a cluster.
 * Source: docs/platform-notes.md#issue-clusters
 */
/** Fully or near-fully blocking, severe regression, data-loss risk. */
const HIGH = anyOf(
  /data[\s-]loss/,
  /(?:lost|losing|wiped|corrupt\w*|overw\w+|deleted (?:all|our|my)) (?:\w+ ){0,2}(?:data|work|content|changes|pages|files|everything)/,
  /(?:data|work|content|changes|pages|files|everything) (?:\w+ ){0,3}(?:lost|gone|disappeared|wiped|corrupted|overwritten)/,
  /(?:completely|entirely|totally) (?:down|broken|unusable)|unusable/,
  /(?:production|site|everything|service) (?:is )?down|outage|crash(?:ed|es|ing)?/,
  /no ?(?:body|one) can|locked out|block(?:ed|er|ing)/,
  /security (?:breach|hole)|urgent\w*|asap/,
);

/** Partial blocking, workarounds exist. */
const MEDIUM = anyOf(
  /can(?:no|['’]|)t|can not|could(?: not|n['’]t)|unable/,
  /(?:does|do|did|is|are|was|were|wo|has)n['’]t|(?:does|do|did) not|not? (?:longer )?work\w*/,
  /never (?:arriv|work|load|finish|complet|updat)\w*|time[sd]?[\s-]?out|stuck/,
  /fail\w*|broken|breaks?|errors?|wrong|missing|rejected|refused|denied|workaround/,
);

/** Matches any of these patterns as whole words, in any case. */
function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(`\\b(?:${patterns.map((pattern) => pattern.source).join('|')})\\b`, 'i');
}

/** Rates the impact of a conversation by its words. */
export function rateText(text: string): Impact {
  if (HIGH.test(text)) {
    return 'high';
  }
  return MEDIUM.test(text) ? 'medium' : 'low';
}

/**
 * Returns the impact of a cluster. High: at least two and a third of its issues are high, or twenty are medium or high.
 * Medium: a third are medium or high, or there are ten issues. Otherwise low.
 */
export function rateCluster(impacts: readonly Impact[]): Impact {
  const high = impacts.filter((impact) => impact === 'high').length;
  const notLow = impacts.filter((impact) => impact !== 'low').length;
  const third = impacts.length / 3;
  if ((high >= 2 && high >= third) || notLow >= 20) {
    return 'high';
  }
  return notLow >= third || impacts.length >= 10 ? 'medium' : 'low';
}

/** Completes the processing of conversations that is due, in the order in which it was due. */
export function processDue(store: EmulatorStore, now: number): void {
  const due = findDue(store.conversations, now);
  due.sort((a, b) => a.run.due - b.run.due || a.record.seq - b.record.seq);
  for (const { record, run } of due) {
    processConversation(store, record, run);
  }
}
