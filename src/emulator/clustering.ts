/*
 * Which issues are alike: the cosine of their weighted word stems. A decision of this emulator: the platform does not
 * say how it clusters. The same issues in the same order give the same clusters.
 */
import type { Terms } from './conversation-records.ts';

/** How like an issue must be to what a cluster's issues say together. */
const JOIN = 0.25;

/** How like two issues must be to become a cluster. */
const PAIR = 0.3;

/** One word in common is chance. */
const SHARED = 2;

/** Something with terms; the first of equals wins. */
export interface Candidate {
  readonly id: string;
  readonly terms: Terms;
}

/** The cluster that an issue belongs to, if any. */
export function bestCluster<T extends Candidate>(terms: Terms, clusters: readonly T[]): T | undefined {
  return best(terms, clusters, JOIN);
}

/** The issue that an issue makes a cluster with, if any. */
export function bestPartner<T extends Candidate>(terms: Terms, issues: readonly T[]): T | undefined {
  return best(terms, issues, PAIR);
}

function best<T extends Candidate>(terms: Terms, candidates: readonly T[], threshold: number): T | undefined {
  let found: T | undefined;
  let highest = threshold;
  for (const candidate of candidates) {
    const likeness = similarity(terms, candidate.terms);
    if (likeness > highest || (likeness === highest && found === undefined)) {
      highest = likeness;
      found = candidate;
    }
  }
  return found;
}

/** From 0 (nothing or one word in common) to 1 (the same words with the same weights). */
function similarity(a: Terms, b: Terms): number {
  const shared = Object.keys(a).filter((term) => Object.hasOwn(b, term)).length;
  return shared < SHARED ? 0 : product(a, b) / (Math.sqrt(square(a)) * Math.sqrt(square(b)));
}

function product(a: Terms, b: Terms): number {
  let sum = 0;
  for (const [term, weight] of Object.entries(a)) {
    sum += Object.hasOwn(b, term) ? weight * (b[term] ?? 0) : 0;
  }
  return sum;
}

function square(terms: Terms): number {
  let sum = 0;
  for (const weight of Object.values(terms)) {
    sum += weight ** 2;
  }
  return sum;
}

/** Both together; with -1, the first without the second. */
export function addTerms(to: Terms, terms: Terms, sign: 1 | -1 = 1): Terms {
  const sum: Record<string, number> = { ...to };
  for (const [term, weight] of Object.entries(terms)) {
    const total = (Object.hasOwn(sum, term) ? (sum[term] ?? 0) : 0) + sign * weight;
    if (total === 0) {
      delete sum[term];
    } else {
      sum[term] = total;
    }
  }
  return sum;
}

/** The issues, the most typical first: those whose words the whole cluster uses most. */
export function byTypicality<T extends { readonly terms: Terms; readonly seq: number }>(
  issues: readonly T[],
  whole: Terms,
): T[] {
  const keyed = issues.map((issue) => ({
    issue,
    likeness: product(issue.terms, whole) / Math.sqrt(square(issue.terms)),
  }));
  keyed.sort((a, b) => b.likeness - a.likeness || a.issue.seq - b.issue.seq);
  return keyed.map((entry) => entry.issue);
}
