import { append } from '../../core/lists.ts';
import type { ClusterIssue } from '../model/cluster.ts';

const WEIGHTS: ReadonlyMap<string | null, number> = new Map([
  ['high', 3],
  ['medium', 2],
  ['low', 1],
]);

/**
 * The issues that say most about a cluster, at most so many: those of the highest impact first, among them one of each
 * conversation before a second of any, the newest before older ones. The order they come in does not matter.
 */
export function pickRepresentatives(issues: readonly ClusterIssue[], most: number): readonly ClusterIssue[] {
  const sorted = [...issues].sort(
    (a, b) => weightOf(b) - weightOf(a) || (b.createdAt ?? 0) - (a.createdAt ?? 0) || (a.id < b.id ? -1 : 1),
  );
  const heard = new Set<string>();
  const result: ClusterIssue[] = [];
  for (const weight of new Set(sorted.map(weightOf))) {
    const group = sorted.filter((issue) => weightOf(issue) === weight);
    const first = group.filter(({ conversation }) => {
      const isNew = conversation === null || !heard.has(conversation.id);
      heard.add(conversation?.id ?? '');
      return isNew;
    });
    append(result, [...first, ...group.filter((issue) => !first.includes(issue))]);
  }
  return result.slice(0, most);
}

function weightOf({ impact }: ClusterIssue): number {
  return WEIGHTS.get(impact) ?? 0;
}
