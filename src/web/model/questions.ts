/** Questions that readers ask, in the words and the order of the pages. JSON calls them clusters. */
import { clusterFacts, compareSeverity, impactWeight } from '../../clusters/cluster.ts';
import type { KnownCluster, SkipReason } from '../../clusters/events.ts';
import { trendOf } from '../../clusters/trend.ts';
import type { Address } from '../../core/address.ts';
import { compareText } from '../../core/lists.ts';
import type { KnownResources, OrganizationState } from './backend.ts';
import { isoTime } from './words.ts';

export type Question = ReturnType<typeof toQuestion>;

/** Returns the questions that are known: muted ones last, then by impact, and of the same impact those that grow first. */
export function questionsOf({ clusters }: OrganizationState) {
  const rank = (each: KnownCluster) => (trendOf(each.weeklyPulse).direction === 'rising' ? 1 : 0);
  return clusters.overview.clusters
    .toSorted(
      (a, b) =>
        Number(a.muted) - Number(b.muted) ||
        impactWeight(b.impact) - impactWeight(a.impact) ||
        rank(b) - rank(a) ||
        compareSeverity(a, b),
    )
    .map(toQuestion);
}

function toQuestion(cluster: KnownCluster) {
  const { weeklyPulse, isSelected } = cluster;
  return {
    ...clusterFacts(cluster),
    label: cluster.label === '' ? cluster.id : cluster.label,
    weeklyPulse,
    trend: trendOf(weeklyPulse),
    isSelected,
    readAt: isoTime(cluster.readAt),
    updatedAt: isoTime(cluster.updatedAt),
    /** Why no change request was opened; null if one was, or if nothing is known. */
    reason: reasonOf(cluster),
  };
}

/** Beginnings of the sentence about what was skipped; without one, the reason is a sentence. */
const NOT_OPENED: Readonly<Partial<Record<SkipReason, string>>> = {
  archived: 'Not opened: it ',
  merged: 'Not opened: it ',
  unrouted: 'Not opened, because no space was found: ',
  waiting: 'Not opened yet: ',
  'limit-run': 'Not opened yet: ',
  'limit-open': 'Not opened yet: ',
  'limit-space': 'Not opened yet: ',
  'limit-day': 'Not opened yet: ',
  failed: 'Not opened, because the platform refused it: ',
};

function reasonOf({ muted, why, skipped }: KnownCluster): string | null {
  if (muted) {
    return 'Muted: Octavo opens no change request for it';
  }
  return why === null ? null : `${(skipped === null ? undefined : NOT_OPENED[skipped]) ?? 'Not opened: '}${why}`;
}

/** A space that a change request may be opened in. */
export interface QuestionSpace {
  readonly key: string;
  readonly title: string;
  /** Null before it was found on the platform. */
  readonly id: string | null;
}

const SPACE = 'space/';

/** Returns the declared spaces by title; the key tells those with the same title apart. */
export function spacesOf(resources: KnownResources | null): readonly QuestionSpace[] {
  const declared = [...(resources?.declared ?? new Map<Address, never>())].filter(([, { kind }]) => kind === 'space');
  const spaces = declared.map(([address, { id, fields }]): QuestionSpace => {
    const key = address.slice(SPACE.length);
    const title = typeof fields.title === 'string' && fields.title.trim() !== '' ? fields.title : key;
    return { key, title, id: resources?.ids.get(address) ?? id };
  });
  const counts = Map.groupBy(spaces, ({ title }) => title);
  return spaces
    .map((space) =>
      (counts.get(space.title)?.length ?? 0) > 1 ? { ...space, title: `${space.title} (${space.key})` } : space,
    )
    .sort((a, b) => compareText(a.title, b.title));
}
