/** Questions that readers ask, in the words and the order of the pages. JSON calls them clusters. */
import { clusterFacts, compareSeverity, impactWeight } from '../../clusters/cluster.ts';
import type { KnownCluster, SkipReason } from '../../clusters/events.ts';
import type { OwnRequest } from '../../clusters/store.ts';
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
  merged: 'No other is opened: it ',
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

export type QuestionRequest = ReturnType<typeof requestView>;

/** Describes a change request. Its id is null until the platform has confirmed it. */
function requestView(request: OwnRequest, titles: ReadonlyMap<string, string>) {
  const { id, cluster, label, subject, state, space, url, at, mergedAt } = request;
  /** Null if no manifest declares the space. */
  const spaceTitle = titles.get(space) ?? null;
  return {
    id,
    cluster,
    label,
    subject,
    state,
    space,
    spaceTitle,
    url,
    requestedAt: isoTime(at),
    mergedAt: isoTime(mergedAt),
  };
}

export type QuestionView = Awaited<ReturnType<typeof questionViews>>['questions'][number];

/** Returns the questions with what is stored of them, all change requests, newest first, and the spaces. Throws StoreError. */
export async function questionViews(state: OrganizationState, now: number) {
  const { changeRequests, examples, issuesAtMerge, mutes } = await state.clusters.stored();
  const spaces = spacesOf(await state.resources());
  const titles = new Map(spaces.flatMap(({ id, title }) => (id === null ? [] : [[id, title] as const])));
  const requests = changeRequests.toReversed().map((request) => requestView(request, titles));
  const byCluster = Map.groupBy(requests, ({ cluster }) => cluster);
  const questions = questionsOf(state).map((question) => {
    const own = byCluster.get(question.id) ?? [];
    const active = own.filter(({ state }) => state !== 'merged' && state !== 'archived');
    const closed = active.length > 0 ? null : (own[0] ?? null);
    const mute = question.muted ? mutes.get(question.id) : undefined;
    return {
      ...question,
      reason: active.length > 0 ? null : question.reason,
      /** Titles of issues, if a run has read them. */
      examples: examples.get(question.id) ?? [],
      /** Those that are open or being created. */
      changeRequests: active,
      /** The last one that was merged or archived, if none is open. */
      closed,
      /** True if it was asked since that was merged; null if nothing was merged. */
      isStillAsked: closed?.state === 'merged' ? isAskedSince(question, closed, issuesAtMerge, now) : null,
      /** Why and until when a person muted it; null if it is not muted, or neither is known. */
      mute: mute === undefined ? null : { reason: mute.reason, until: isoTime(mute.until) },
    };
  });
  return { questions, requests, spaces };
}

const WEEK = 7 * 86_400_000;

/** Returns true if there are more issues than at the merge, or some in the weeks that began after it. */
function isAskedSince(
  { issues, weeklyPulse }: Question,
  { id, mergedAt }: QuestionRequest,
  issuesAtMerge: ReadonlyMap<string, number>,
  now: number,
): boolean {
  const weeks = mergedAt === null ? 0 : Math.floor((now - Date.parse(mergedAt)) / WEEK);
  const since = weeks < 1 ? [] : weeklyPulse.slice(-weeks);
  return issues > (issuesAtMerge.get(id ?? '') ?? Number.POSITIVE_INFINITY) || since.some((count) => count > 0);
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
function spacesOf(resources: KnownResources | null): readonly QuestionSpace[] {
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
