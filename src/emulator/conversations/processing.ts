/** Processing of conversations into issues and clusters: their text, similarity and impact. */

import { stems } from '../documents/stems.ts';
import { pick } from '../model/patch.ts';
import { type EmulatorStore, findDue, type Run } from '../model/store.ts';
import {
  type ClusterRecord,
  type ConversationContent,
  type ConversationRecord,
  getScope,
  type Impact,
  type IssueRecord,
  type Terms,
} from './records.ts';

/*
 * Analysis of a conversation's text: plain text, a title, and the stems of distinctive words. Decision of this
 * emulator, since the analysis of conversations is not documented. Source: docs/platform-notes.md#issue-clusters
 */

/** Weight of a word of the subject, compared with a word of a message. */
const TITLE_WEIGHT = 2;

/** Number of different words of a message that count. */
const MESSAGE_TERMS = 40;
const TITLE_LENGTH = 120;
const EXCERPT_LENGTH = 600;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  gt: '>',
  lt: '<',
  nbsp: ' ',
  quot: '"',
};

/** Converts Markdown or HTML to one line of plain text. */
function plainText(body: string): string {
  return body
    .replace(/<(style|script)\b[^<>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<\/?[a-z][^<>]*>|<!--[\s\S]*?(?:-->|$)/gi, ' ')
    .replace(/&(amp|apos|gt|lt|nbsp|quot);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/!?\[([^[\]]*)\]\([^()\s]*\)/g, '$1')
    .replace(/^[ \t]*(?:#{1,6}|>|[-*+]|\d+\.)[ \t]+/gm, '')
    .replace(/[*`~]{1,3}/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Cuts a text to a number of code points, between words if possible. */
function cut(text: string, length: number): string {
  const points = [...text];
  if (points.length <= length) {
    return text;
  }
  const kept = points.slice(0, length - 1).join('');
  const space = kept.lastIndexOf(' ');
  return `${(space > length / 2 ? kept.slice(0, space) : kept).trimEnd()}…`;
}

/** Returns the users' messages; those of everybody if the users have none. */
function messages(content: ConversationContent): string[] {
  const users = content.parts.filter((part) => part.role === 'user');
  const said = users.some((part) => part.body.trim() !== '') ? users : content.parts;
  return said.map((part) => plainText(part.body)).filter((text) => text !== '');
}

/** Returns the title, excerpt, text and terms of a conversation; undefined if it has no text. */
export function readContent(
  content: ConversationContent,
): { readonly title: string; readonly excerpt: string; readonly text: string; readonly terms: Terms } | undefined {
  const subject = plainText(content.subject ?? '').replace(/^(?:(?:re|fwd?|aw|wg)\s*:\s*)+/i, '');
  const said = messages(content);
  const [first = ''] = said;
  const title = subject === '' ? (/^.+?[.!?](?=\s|$)/.exec(first)?.[0] ?? first) : subject;
  if (title === '') {
    return undefined;
  }
  return {
    title: cut(title, TITLE_LENGTH),
    excerpt: cut(first, EXCERPT_LENGTH),
    text: [subject, ...said].join('\n'),
    terms: weigh(subject, said.join('\n')),
  };
}

function weigh(subject: string, message: string): Terms {
  const terms: Record<string, number> = {};
  for (const term of [...new Set(stems(message))].slice(0, MESSAGE_TERMS)) {
    terms[term] = 1;
  }
  for (const term of stems(subject)) {
    terms[term] = TITLE_WEIGHT;
  }
  return terms;
}

/*
 * Similarity of issues: the cosine of their weighted word stems. Decision of this emulator, since the platform does not
 * document its clustering. Weights are whole numbers, so that no result depends on the order of additions.
 */

/** Lowest similarity of an issue to a cluster that it joins. */
const JOIN_THRESHOLD = 0.25;

/** Lowest similarity of two issues that become a cluster. */
const PAIR_THRESHOLD = 0.3;

/** Lowest number of shared words; a single one may be coincidence. */
const SHARED = 2;

/** Sum of the terms that were added with one id. */
interface Entry {
  /** Among equally similar entries, the oldest wins. */
  readonly seq: number;
  readonly terms: Map<string, number>;
  /** Sum of the squares of its weights. */
  square: number;
}

/** Index that finds the entries most similar to some terms, and reads only entries that share a term. */
class SimilarityIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #holders = new Map<string, Set<string>>();

  /** Adds terms to the entry with that id. `seq` counts only for a new entry. */
  add(id: string, seq: number, terms: Terms): void {
    const entry = this.#entries.get(id) ?? { seq, terms: new Map<string, number>(), square: 0 };
    this.#entries.set(id, entry);
    for (const [term, weight] of Object.entries(terms)) {
      this.#weigh(id, entry, term, (entry.terms.get(term) ?? 0) + weight);
    }
  }

  /** Removes terms; an entry without terms is deleted. */
  remove(id: string, terms: Terms): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      return;
    }
    for (const [term, weight] of Object.entries(terms)) {
      this.#weigh(id, entry, term, (entry.terms.get(term) ?? 0) - weight);
    }
    if (entry.terms.size === 0) {
      this.#entries.delete(id);
    }
  }

  /** Returns the most similar id, if its similarity reaches the threshold. */
  best(terms: Terms, threshold: number): string | undefined {
    const [first] = this.sharing(terms)
      .map((id) => ({ id, similarity: this.likeness(id, terms), seq: this.#entries.get(id)?.seq ?? 0 }))
      .filter((candidate) => candidate.similarity >= threshold)
      .sort((a, b) => b.similarity - a.similarity || a.seq - b.seq);
    return first?.id;
  }

  /** Returns the ids that share enough terms to be similar, oldest first. */
  sharing(terms: Terms): string[] {
    const shared = new Map<string, number>();
    for (const term of Object.keys(terms)) {
      for (const id of this.#holders.get(term) ?? []) {
        shared.set(id, (shared.get(id) ?? 0) + 1);
      }
    }
    return [...shared]
      .filter(([, count]) => count >= SHARED)
      .map(([id]) => id)
      .sort((a, b) => (this.#entries.get(a)?.seq ?? 0) - (this.#entries.get(b)?.seq ?? 0));
  }

  /** Returns the similarity, from 0 (no word in common) to 1 (the same words in the same proportion). */
  likeness(id: string, terms: Terms): number {
    const entry = this.#entries.get(id);
    const size = squareOf(terms) * (entry?.square ?? 0);
    return entry === undefined || size === 0 ? 0 : productOf(terms, entry.terms) / Math.sqrt(size);
  }

  #weigh(id: string, entry: Entry, term: string, weight: number): void {
    entry.square += weight ** 2 - (entry.terms.get(term) ?? 0) ** 2;
    const holders = this.#holders.get(term) ?? new Set();
    if (weight === 0) {
      entry.terms.delete(term);
      holders.delete(id);
    } else {
      entry.terms.set(term, weight);
      holders.add(id);
    }
    if (holders.size === 0) {
      this.#holders.delete(term);
    } else {
      this.#holders.set(term, holders);
    }
  }
}

function productOf(terms: Terms, whole: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [term, weight] of Object.entries(terms)) {
    sum += weight * (whole.get(term) ?? 0);
  }
  return sum;
}

function squareOf(terms: Terms): number {
  return Object.values(terms).reduce((sum, weight) => sum + weight ** 2, 0);
}

/** Sorts the issues of a cluster by typicality: those with the most common words come first. */
export function byTypicality(issues: readonly IssueRecord[]): IssueRecord[] {
  const whole = new Map<string, number>();
  for (const issue of issues) {
    for (const [term, weight] of Object.entries(issue.terms)) {
      whole.set(term, (whole.get(term) ?? 0) + weight);
    }
  }
  return issues
    .map((issue) => ({ issue, likeness: productOf(issue.terms, whole) / Math.sqrt(squareOf(issue.terms)) }))
    .sort((a, b) => b.likeness - a.likeness || a.issue.seq - b.issue.seq)
    .map((entry) => entry.issue);
}

/**
 * Returns the indexes of the clusters, and of the issues without a cluster, of an organization's conversations or of a
 * site's context records.
 */
export function getTopics(store: EmulatorStore, scope: string) {
  return store.derive(`topics ${scope}`, () => {
    const { conversationIssues, issuesClusters } = store;
    const topics = { clusters: new SimilarityIndex(), unclustered: new SimilarityIndex() };
    for (const issue of [...conversationIssues.by('organization', scope), ...conversationIssues.by('site', scope)]) {
      if (issue.cluster === undefined) {
        topics.unclustered.add(issue.id, issue.seq, issue.terms);
      } else {
        topics.clusters.add(issue.cluster, issuesClusters.get(issue.cluster)?.seq ?? 0, issue.terms);
      }
    }
    return topics;
  });
}

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
