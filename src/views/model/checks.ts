/** Schedule of the checks of an organization, and the age of the last one. */

import { cronFiring } from '../../config/model/cron.ts';
import { smallest } from '../../core/lists.ts';
import type { Backend, OrganizationState } from './backend.ts';
import { type Freshness, freshness } from './freshness.ts';

/** Next two firings of a cron expression, in milliseconds since the epoch; null if it never fires. */
interface Firings {
  readonly since: number;
  readonly next: number | null;
  readonly following: number | null;
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
  const { next, following } = firings(backend, config.schedule.drift, now);
  const interval = next === null || following === null ? null : following - next;
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
  const found = { since: now, next, following: next === null ? null : cronFiring(cron, 'next', next) };
  all.set(cron, found);
  return found;
}
