/** Schedule of the checks of an organization, and the age of the last one. */

import { cronFiring } from '../../config/model/cron.ts';
import { largest, smallest } from '../../core/lists.ts';
import type { Backend, OrganizationState } from './backend.ts';
import { type Freshness, freshness } from './freshness.ts';

/** Firings of a cron expression around an instant, in milliseconds since the epoch. */
interface Firings {
  readonly since: number;
  /** Null if it never fires again. */
  readonly next: number | null;
  /**
   * Longest time between two of the firings before and after the instant; null if it never fires. A schedule of working
   * hours has longer ones at night, which nothing has missed.
   */
  readonly interval: number | null;
}

/** Firings by cron expression: parsing one takes longer than everything else that a list says about an organization. */
const known = new WeakMap<Backend, Map<string, Firings>>();

/** Last successful check of an organization, and the next one. */
export interface CheckTimes {
  readonly freshness: Freshness;
  /** Milliseconds since the epoch; null: only a trigger starts one. */
  readonly next: number | null;
}

/**
 * Returns when the manifests of an organization were last compared with the platform. After a restart, the history knows
 * it.
 */
export async function checkTimes(backend: Backend, state: OrganizationState, now: number): Promise<CheckTimes> {
  const { reconciler, config } = state;
  const { next, interval } = firings(backend, config.schedule.drift, now);
  const end = reconciler?.lastEnd ?? null;
  const retry = end === null || end.retryIn === null ? null : end.endedAt + end.retryIn;
  const upcoming = [next, retry].flatMap((at) => (at === null || at < now ? [] : [at]));
  return {
    freshness: freshness(await lastCheckAt(state), now, interval),
    next: reconciler === null || upcoming.length === 0 ? null : smallest(upcoming),
  };
}

async function lastCheckAt({ reconciler, history }: OrganizationState): Promise<number | null> {
  if (reconciler === null) {
    return null;
  }
  if (reconciler.lastCheck !== null) {
    return reconciler.lastCheck.at;
  }
  const [last] = (await history.passes({ limit: 1 })).filter(({ checksum }) => checksum !== null);
  return last?.endedAt ?? null;
}

function firings(backend: Backend, cron: string, now: number): Firings {
  const all = known.get(backend) ?? new Map<string, Firings>();
  known.set(backend, all);
  const before = all.get(cron);
  if (before !== undefined && before.since <= now && (before.next === null || now < before.next)) {
    return before;
  }
  const next = cronFiring(cron, 'next', now);
  const last = cronFiring(cron, 'prev', now);
  const times = [
    last === null ? null : cronFiring(cron, 'prev', last),
    last,
    next,
    next === null ? null : cronFiring(cron, 'next', next),
  ].filter((at) => at !== null);
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at));
  const found = { since: now, next, interval: gaps.length === 0 ? null : largest(gaps) };
  all.set(cron, found);
  return found;
}
