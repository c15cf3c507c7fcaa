/** Clusters, issues and conversations that tests and demos write directly. */

import { largest } from '../../core/lists.ts';
import type { EmulatorStore } from '../model/store.ts';
import { getTopics, readContent } from './processing.ts';
import { type ClusterRecord, getScope, type Impact, type IssueRecord, WEEK, WEEKS } from './records.ts';

/** An issue and its conversation. */
export interface IssueSeed {
  readonly title: string;
  /** That of the cluster by default, otherwise `low`. */
  readonly impact?: Impact | undefined;
  /** ISO 8601; the current time by default. */
  readonly createdAt?: string | undefined;
  readonly details?: string | undefined;
  /** Issues with the same value share a conversation; by default, each has its own. */
  readonly conversation?: string | undefined;
  /** Source of the conversation; `email` by default. */
  readonly source?: string | undefined;
  /** Address of the conversation. */
  readonly url?: string | undefined;
}

/**
 * A cluster as if it had been created from conversations: it has issues and conversations, and everything that is not
 * given follows from them.
 */
export interface ClusterSeed {
  readonly id?: string | undefined;
  /** Makes it a topic of this site, with context records and findings. */
  readonly site?: string | undefined;
  readonly label: string;
  /** Derived from its issues by default. */
  readonly impact?: Impact | undefined;
  readonly muted?: boolean | undefined;
  /** ISO 8601; the current time by default. */
  readonly createdAt?: string | undefined;
  readonly updatedAt?: string | undefined;
  /** The issues, or their number. By default, the number that the pulse and the sources add up to, or 1. */
  readonly issues?: number | readonly IssueSeed[] | undefined;
  /** Number of issues in each of the last weeks, the newest last. All other issues are older than three months. */
  readonly pulse?: readonly number[] | undefined;
  /** Number of issues per source. */
  readonly sources?: Readonly<Record<string, number>> | undefined;
  /** Number of conversations; one per issue by default. */
  readonly conversations?: number | undefined;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** Returns the time of each issue, oldest first: in the middle of its week, so that it stays there for half a week. */
function timesOf(pulse: readonly number[], count: number, now: number): number[] {
  const weeks = pulse.slice(-WEEKS);
  const recent = weeks.flatMap((issues, at) => Array<number>(issues).fill(now - (weeks.length - at - 0.5) * WEEK));
  return [...Array<number>(count - recent.length).fill(now - (WEEKS + 0.5) * WEEK), ...recent];
}

/** Returns the source and conversation of each issue. Every source has at least one conversation. */
function originsOf(seed: ClusterSeed, count: number): { readonly source: string; readonly conversation: string }[] {
  const sources = Object.entries(seed.sources ?? { email: count }).filter(([, issues]) => issues > 0);
  let spare = (seed.conversations ?? count) - sources.length;
  return sources.flatMap(([source, issues]) => {
    const conversations = 1 + Math.min(spare, issues - 1);
    spare -= conversations - 1;
    return Array.from({ length: issues }, (_, at) => ({ source, conversation: `${source} ${at % conversations}` }));
  });
}

function issuesOf(seed: ClusterSeed, now: number): readonly IssueSeed[] {
  if (typeof seed.issues === 'object') {
    return seed.issues;
  }
  const counts = [seed.pulse, seed.sources].map((of) => (of === undefined ? 0 : sum(Object.values(of))));
  const count = seed.issues ?? largest(counts, 1);
  const conversations = seed.conversations ?? count;
  const sources = Object.values(seed.sources ?? { email: count }).filter((issues) => issues > 0);
  if (sum(seed.pulse ?? []) > count || sum(sources) !== count) {
    throw new RangeError(
      `cluster ${JSON.stringify(seed.label)}: the pulse or the sources do not add up to ${count} issues`,
    );
  }
  if (conversations > count || conversations < sources.length) {
    throw new RangeError(
      `cluster ${JSON.stringify(seed.label)}: ${count} issues cannot have ${conversations} conversations`,
    );
  }
  const times = seed.pulse === undefined ? Array<number>(count).fill(now) : timesOf(seed.pulse, count, now);
  return originsOf(seed, count).map((origin, at) => ({
    ...origin,
    title: at === 0 ? seed.label : `${seed.label} (${at + 1})`,
    createdAt: new Date(times[at] ?? now).toISOString(),
  }));
}

/** Adds issues with their conversations to a cluster. */
export function writeIssues(
  store: EmulatorStore,
  cluster: ClusterRecord,
  seeds: readonly IssueSeed[],
  at: string,
): void {
  const topics = getTopics(store, getScope(cluster));
  const known = new Map<string, string>();
  for (const seed of seeds) {
    const conversation = known.get(seed.conversation ?? '') ?? writeConversation(store, cluster, seed, at);
    if (seed.conversation !== undefined) {
      known.set(seed.conversation, conversation);
    }
    const issue: IssueRecord = {
      ...store.identify('iss'),
      organization: cluster.organization,
      site: cluster.site,
      conversation,
      cluster: cluster.id,
      title: seed.title,
      excerpt: seed.details ?? '',
      impact: seed.impact ?? cluster.impact ?? 'low',
      terms: readContent({ subject: seed.title, parts: [] })?.terms ?? {},
      createdAt: seed.createdAt ?? at,
      ingestedAt: at,
    };
    store.conversationIssues.put(issue);
    topics.clusters.add(cluster.id, cluster.seq, issue.terms);
  }
}

function writeConversation(store: EmulatorStore, cluster: ClusterRecord, seed: IssueSeed, at: string): string {
  const identity = store.identify('cnv');
  const externalId = `seed-${identity.id}`;
  const url = seed.url ?? `https://desk.example/tickets/${identity.seq}`;
  const createdAt = seed.createdAt ?? at;
  return store.conversations.put({
    ...identity,
    organization: cluster.organization,
    site: cluster.site,
    record: cluster.site === undefined ? undefined : { type: 'ticket' },
    source: seed.source ?? 'email',
    externalId,
    content: { subject: seed.title, parts: [], metadata: { url, createdAt } },
    createdAt,
    ingestedAt: at,
    received: 1,
    repeats: 0,
    run: null,
    processedAt: at,
  }).id;
}

/** Adds clusters with their issues and conversations; one with an existing id replaces the existing one. */
export function writeClusters(
  store: EmulatorStore,
  organization: string,
  seeds: readonly ClusterSeed[],
  now: number,
): ClusterRecord[] {
  const at = new Date(now).toISOString();
  return seeds.map((seed) => {
    const issues = issuesOf(seed, now);
    const identity = store.identify('clu');
    const cluster = store.issuesClusters.put({
      ...identity,
      id: seed.id ?? identity.id,
      organization,
      site: seed.site,
      label: seed.label,
      impact: seed.impact,
      muted: seed.muted ?? false,
      createdAt: seed.createdAt ?? at,
      updatedAt: seed.updatedAt ?? at,
    });
    for (const issue of store.conversationIssues.by('cluster', cluster.id)) {
      store.conversationIssues.remove(issue.id);
      getTopics(store, getScope(cluster)).clusters.remove(cluster.id, issue.terms);
    }
    writeIssues(store, cluster, issues, at);
    return cluster;
  });
}
