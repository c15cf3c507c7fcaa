import { append } from '../../core/lists.ts';
import { type ClusterIssue, impactWeight } from '../model/cluster.ts';

/**
 * Picks up to `most` issues that represent a cluster: those of the highest impact first, then one per conversation
 * before a second one of any, then the newest. The order of the input does not matter.
 */
export function pickRepresentatives(issues: readonly ClusterIssue[], most: number): readonly ClusterIssue[] {
  const sorted = [...issues].sort(
    (a, b) =>
      impactWeight(b.impact) - impactWeight(a.impact) ||
      (b.createdAt ?? 0) - (a.createdAt ?? 0) ||
      (a.id < b.id ? -1 : 1),
  );
  const heard = new Set<string>();
  const result: ClusterIssue[] = [];
  for (const weight of new Set(sorted.map(({ impact }) => impactWeight(impact)))) {
    const group = sorted.filter((issue) => impactWeight(issue.impact) === weight);
    const first = group.filter(({ conversation }) => {
      const isNew = conversation === null || !heard.has(conversation.id);
      heard.add(conversation?.id ?? '');
      return isNew;
    });
    append(result, [...first, ...group.filter((issue) => !first.includes(issue))]);
  }
  return result.slice(0, most);
}
