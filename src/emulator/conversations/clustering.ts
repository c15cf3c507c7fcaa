/*
 * Similarity of issues: the cosine of their weighted word stems. Decision of this emulator, since the platform does not
 * document its clustering. Weights are whole numbers, so that no result depends on the order of additions.
 */

import type { EmulatorStore } from '../model/store.ts';
import type { IssueRecord, Terms } from './records.ts';

/** Lowest similarity of an issue to a cluster that it joins. */
export const JOIN_THRESHOLD = 0.25;

/** Lowest similarity of two issues that become a cluster. */
export const PAIR_THRESHOLD = 0.3;

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
export class SimilarityIndex {
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

/** Index of an organization's clusters, and of its issues without a cluster. */
export interface Topics {
  readonly clusters: SimilarityIndex;
  readonly unclustered: SimilarityIndex;
}

/** Builds the index from issues. `seqOf` returns a cluster's place in the creation order. */
function topicsOf(issues: readonly IssueRecord[], seqOf: (cluster: string) => number): Topics {
  const topics: Topics = { clusters: new SimilarityIndex(), unclustered: new SimilarityIndex() };
  for (const issue of issues) {
    if (issue.cluster === undefined) {
      topics.unclustered.add(issue.id, issue.seq, issue.terms);
    } else {
      topics.clusters.add(issue.cluster, seqOf(issue.cluster), issue.terms);
    }
  }
  return topics;
}

/** Returns the topics of an organization's conversations, or of a site's context records. */
export function getTopics(store: EmulatorStore, scope: string): Topics {
  return store.derive(`topics ${scope}`, () => readTopics(store, scope));
}

function readTopics({ conversationIssues, issuesClusters }: EmulatorStore, scope: string): Topics {
  const issues = [...conversationIssues.by('organization', scope), ...conversationIssues.by('site', scope)];
  return topicsOf(issues, (cluster) => issuesClusters.get(cluster)?.seq ?? 0);
}
