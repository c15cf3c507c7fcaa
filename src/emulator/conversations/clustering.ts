/*
 * Which issues are alike: the cosine of their weighted word stems. A decision of this emulator: the platform does not
 * say how it clusters. Weights are whole numbers, so that no result depends on the order in which they were added up.
 */

import type { Store } from '../model/store.ts';
import type { IssueRecord, Terms } from './records.ts';

/** How like an issue must be to what a cluster's issues say together. */
export const JOIN = 0.25;

/** How like two issues must be to become a cluster. */
export const PAIR = 0.3;

/** One word in common is chance. */
const SHARED = 2;

/** One thing that was added, as the sum of the terms it was added with. */
interface Entry {
  /** Of equally like ones the oldest wins. */
  readonly seq: number;
  readonly terms: Map<string, number>;
  /** Sum of the squares of its weights. */
  square: number;
}

/** Finds what is most like some terms, without looking at what has none of them. */
export class LikenessIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #holders = new Map<string, Set<string>>();

  /** Adds the terms to those of that id, which is new where `seq` is. */
  add(id: string, seq: number, terms: Terms): void {
    const entry = this.#entries.get(id) ?? { seq, terms: new Map<string, number>(), square: 0 };
    this.#entries.set(id, entry);
    for (const [term, weight] of Object.entries(terms)) {
      this.#weigh(id, entry, term, (entry.terms.get(term) ?? 0) + weight);
    }
  }

  /** Takes the terms away again; an id without terms is forgotten. */
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

  /** The id most like the terms, when it is at least so like. */
  best(terms: Terms, threshold: number): string | undefined {
    const [first] = this.sharing(terms)
      .map((id) => ({ id, likeness: this.likeness(id, terms), seq: this.#entries.get(id)?.seq ?? 0 }))
      .filter((candidate) => candidate.likeness >= threshold)
      .sort((a, b) => b.likeness - a.likeness || a.seq - b.seq);
    return first?.id;
  }

  /** The ids that have enough of the terms to be like them, oldest first. */
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

  /** From 0 (no word in common) to 1 (the same words in the same proportion). */
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

/** The issues of a cluster, the most typical first: those whose words all of them use most. */
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

/** What one organization's conversations are about: its clusters, and its issues that have none. */
export interface Topics {
  readonly clusters: LikenessIndex;
  readonly loose: LikenessIndex;
}

/** The topics that issues amount to; `seqOf` is a cluster's place in the creation order. */
function topicsOf(issues: readonly IssueRecord[], seqOf: (cluster: string) => number): Topics {
  const topics: Topics = { clusters: new LikenessIndex(), loose: new LikenessIndex() };
  for (const issue of issues) {
    if (issue.cluster === undefined) {
      topics.loose.add(issue.id, issue.seq, issue.terms);
    } else {
      topics.clusters.add(issue.cluster, seqOf(issue.cluster), issue.terms);
    }
  }
  return topics;
}

/** Returns the topics of an organization's conversations, or of a site's context records. */
export function getTopics(store: Store, scope: string): Topics {
  return store.derive(`topics ${scope}`, () => readTopics(store, scope));
}

function readTopics({ conversationIssues, issuesClusters }: Store, scope: string): Topics {
  const issues = [...conversationIssues.by('organization', scope), ...conversationIssues.by('site', scope)];
  return topicsOf(issues, (cluster) => issuesClusters.get(cluster)?.seq ?? 0);
}
