/**
 * State of an organization in one sentence, with the age of what it says. Nothing is called in sync on the basis of an old
 * observation.
 */

import { cronFiring, windowState } from '../../config/windows.ts';
import { DesiredStateError, messageOf, SourceError } from '../../core/errors.ts';
import { largest, smallest } from '../../core/lists.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import type { PlanDocument } from '../../plan/render/document.ts';
import { heldChanges } from '../../plan/render/sentence.ts';
import { counted, spanWords } from '../../plan/render/words.ts';
import type { ManualPause } from '../../store/history.ts';
import type { Backend, OrganizationState, ReconcilerState } from './page.ts';
import { ageWords, isoTime, organizationPath, shortCommit } from './words.ts';

/** When something was last observed. */
export type Freshness = ReturnType<typeof freshness>;

/** Describes an observation. All arguments are milliseconds, and the first two since the epoch. */
export function freshness(at: number | null, now: number, interval: number | null) {
  const age = at === null ? null : Math.max(0, now - at);
  return {
    /** Null: never. */
    asOf: isoTime(at),
    ageSeconds: age === null ? null : Math.floor(age / 1000),
    /** Usual time between observations; null if it is not known. */
    intervalSeconds: interval === null ? null : Math.round(interval / 1000),
    /** True if it was never observed, or longer ago than twice the interval. */
    isStale: age === null || (interval !== null && age > 2 * interval),
  };
}

/** States of an organization, worst first. */
export const ORGANIZATION_STATUSES = [
  'unowned',
  'failed',
  'stale',
  'held',
  'paused',
  'applying',
  'waiting',
  'unknown',
  'in-sync',
  'unmanaged',
] as const;
export type OrganizationStatus = (typeof ORGANIZATION_STATUSES)[number];

interface DescribedStatus {
  readonly state: OrganizationStatus;
  readonly sentence: string;
}

interface StatusInput {
  readonly state: Pick<OrganizationState, 'config' | 'reconciler' | 'owner'>;
  /** Pauses that have not ended. */
  readonly pauses: readonly ManualPause[];
  readonly freshness: Freshness;
  /** Commit of the last valid manifests, which may be of an earlier process; null if there is none. */
  readonly lastValid: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Describes an organization: the worst of what is true of it. */
function describeStatus(input: StatusInput): DescribedStatus {
  const { reconciler, owner } = input.state;
  if (owner.kind === 'none') {
    const age = owner.since === null ? '' : ` for ${spanWords(input.now - owner.since)}`;
    return {
      state: 'unowned',
      sentence: `No replica has had this organization${age}, so nothing is checked or applied`,
    };
  }
  if (reconciler === null) {
    return { state: 'unmanaged', sentence: 'No source of manifests is configured' };
  }
  return (
    failure(reconciler, input) ??
    age(reconciler, input) ??
    pause(input) ??
    approval(reconciler) ??
    progress(reconciler, input) ??
    inSync(reconciler, input)
  );
}

function failure(reconciler: ReconcilerState, { now, lastValid }: StatusInput): DescribedStatus | null {
  const { lastEnd, lastCheck } = reconciler;
  const error = errorSentence(reconciler, now);
  if (error !== null) {
    const rest = lastValid === null ? '' : `; the last valid commit is ${shortCommit(lastValid)}`;
    return { state: 'failed', sentence: `${error}${rest}` };
  }
  const failed = (lastEnd?.results ?? []).filter(({ status }) => status === 'failed').length;
  if (lastEnd !== null && failed > 0) {
    const when = ageWords(lastEnd.endedAt, now);
    return { state: 'failed', sentence: `${failed} of ${counted(lastEnd.results.length, 'change')} failed, ${when}` };
  }
  const verdict = lastCheck?.plan.verdict;
  if (verdict?.state === 'refused') {
    return { state: 'failed', sentence: `The plan is refused: ${verdict.reasons.join('; ')}` };
  }
  return lastEnd?.outcome === 'failed' ? { state: 'failed', sentence: 'The last run was interrupted' } : null;
}

/** Describes the error of the last pass in one line; null if there is none. */
export function errorSentence({ lastEnd, failingSince }: ReconcilerState, now: number): string | null {
  if (lastEnd?.error == null) {
    return null;
  }
  const { error, endedAt } = lastEnd;
  if (error instanceof DesiredStateError) {
    const since = spanWords(now - (failingSince ?? endedAt));
    const what = error.problems.length === 0 ? error.message : counted(error.problems.length, 'problem');
    return `Manifests have been invalid for ${since}: ${what}`;
  }
  const when = ageWords(endedAt, now);
  const [line = ''] = maskUrls(messageOf(error)).split('\n', 1);
  return error instanceof SourceError
    ? `Manifests cannot be read, ${when}: ${line}`
    : `The last run failed, ${when}: ${line}`;
}

function age({ lastCheck, isRunning }: ReconcilerState, { freshness }: StatusInput): DescribedStatus | null {
  const { ageSeconds } = freshness;
  if (ageSeconds !== null && freshness.isStale) {
    return { state: 'stale', sentence: `Not checked for ${spanWords(ageSeconds * 1000)}` };
  }
  if (lastCheck === null) {
    const before = ageSeconds === null ? '' : `; last checked ${spanWords(ageSeconds * 1000)} ago`;
    return { state: 'unknown', sentence: `${isRunning ? 'The first check is running' : 'Not checked yet'}${before}` };
  }
  return null;
}

function pause({ pauses, now }: StatusInput): DescribedStatus | null {
  const whole = pauses.find(({ address }) => address === '');
  return whole === undefined ? null : { state: 'paused', sentence: pauseSentence(whole, now) };
}

const SOON = 3_600_000;

/** Pause that a person set. */
export type PauseView = ReturnType<typeof pauseView>;

/** Describes a pause. */
export function pauseView(pause: ManualPause, now: number) {
  const { address, by, reason, since, until } = pause;
  return {
    /** Empty for the whole organization. */
    address,
    sentence: pauseSentence(pause, now),
    by: by.name,
    reason,
    since: isoTime(since),
    until: isoTime(until),
    /** True if it ends within an hour. */
    endsSoon: until !== null && until - now <= SOON,
  };
}

/** `Paused by ana@example.com for 2 more hours: migration`. */
export function pauseSentence({ by, until, reason }: ManualPause, now: number): string {
  const end = until === null ? 'until it is resumed' : `for ${spanWords(until - now)} more`;
  return `Paused by ${by.name === '' ? 'an unknown person' : by.name} ${end}: ${reason}`;
}

/** Returns how many changes of the last plan have ended, and how many are being applied; null if none is. */
export function runningChanges({ lastCheck, lastEnd, isRunning, reached }: ReconcilerState) {
  const plan = lastCheck?.plan;
  if (!isRunning || plan?.verdict.state !== 'ready' || lastEnd?.plan === plan) {
    return null;
  }
  const total = appliedChanges(plan).length;
  return total === 0 ? null : { reached: Math.min(reached, total), total };
}

/** Returns the changes that a run applies: those that wait for nobody. */
export function appliedChanges({ changes }: PlanDocument): PlanDocument['changes'] {
  return changes.filter(({ held, paused }) => held === null && paused === null);
}

function approval(reconciler: ReconcilerState): DescribedStatus | null {
  const plan = reconciler.lastCheck?.plan;
  if (plan === undefined || runningChanges(reconciler) !== null) {
    return null;
  }
  const held = heldChanges(plan);
  if (held === 0) {
    return null;
  }
  const whole = plan.verdict.state === 'held' ? `: ${plan.verdict.reasons.join('; ')}` : '';
  return {
    state: 'held',
    sentence: `${counted(held, 'change')} ${held === 1 ? 'waits' : 'wait'} for approval${whole}`,
  };
}

function progress(reconciler: ReconcilerState, { state, now }: StatusInput): DescribedStatus | null {
  const { lastCheck, lastEnd } = reconciler;
  const plan = lastCheck?.plan;
  if (plan === undefined) {
    return null;
  }
  const running = runningChanges(reconciler);
  if (running !== null) {
    const { reached, total } = running;
    const of = plan.commit === null ? '' : ` of ${shortCommit(plan.commit)}`;
    const sentence = `Applying ${reached === 0 ? '' : `${reached} of `}${counted(total, 'change')}${of}`;
    return { state: 'applying', sentence };
  }
  const applied = (lastEnd?.results ?? []).filter(({ status }) => status === 'applied').length;
  const left = plan.changes.length - applied;
  if (left <= 0) {
    return null;
  }
  const window = windowState(state.config.syncWindows, now);
  const { paused } = plan.summary;
  const what = paused === 0 ? ' to be applied' : `; ${paused} of them paused`;
  const why = window.open ? what : `: ${window.reason}`;
  return { state: 'waiting', sentence: `${counted(left, 'change')} ${left === 1 ? 'waits' : 'wait'}${why}` };
}

function inSync({ lastCheck }: ReconcilerState, { freshness }: StatusInput): DescribedStatus {
  const plan = lastCheck?.plan;
  const pending = plan?.pending.length ?? 0;
  const rest = pending === 0 ? '' : `; ${counted(pending, 'resource')} pending`;
  const checked = spanWords((freshness.ageSeconds ?? 0) * 1000);
  const what = plan?.commit == null ? 'the manifests' : shortCommit(plan.commit);
  return { state: 'in-sync', sentence: `In sync with ${what}, checked ${checked} ago${rest}` };
}

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
const known = new Map<string, Firings>();

/**
 * Returns when the manifests of an organization were last compared with the platform, and when they will be. After a
 * restart, the history knows the former.
 */
export async function checkTimes(state: OrganizationState, now: number) {
  const { reconciler, config } = state;
  const { next, interval } = firings(config.schedule.drift, now);
  const end = reconciler?.lastEnd ?? null;
  const retry = end === null || end.retryIn === null ? null : end.endedAt + end.retryIn;
  const upcoming = [next, retry].flatMap((at) => (at === null || at < now ? [] : [at]));
  return {
    freshness: freshness(await lastCheckAt(state), now, interval),
    /** Milliseconds since the epoch; null: only a trigger starts one. */
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

function firings(cron: string, now: number): Firings {
  const before = known.get(cron);
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
  known.set(cron, found);
  return found;
}

/** Returns the title of an organization on the platform; its id before it is known. */
export function titleOf({ id, reconciler }: Pick<OrganizationState, 'id' | 'reconciler'>): string {
  return reconciler?.lastCheck?.plan.title ?? id;
}

/** Returns what finds the titles of organizations by their ids, as they are when it is first called. */
export function titlesOf(backend: Pick<Backend, 'organizations'>): (id: string) => string {
  let known: ReadonlyMap<string, string> | undefined;
  return (id) => {
    known ??= new Map(backend.organizations().map((each) => [each.id, titleOf(each)]));
    return known.get(id) ?? id;
  };
}

export type OrganizationSummary = Awaited<ReturnType<typeof summarize>>;

/** Summarizes an organization. `pauses`: those that have not ended. */
export async function summarize(state: OrganizationState, pauses: readonly ManualPause[], now: number) {
  const { id, reconciler, owner } = state;
  const { freshness, next } = await checkTimes(state, now);
  const plan = reconciler?.lastCheck?.plan ?? null;
  const held = plan === null ? 0 : heldChanges(plan);
  const checksum = plan?.verdict.state === 'held' ? plan.checksum : (plan?.heldChecksum ?? null);
  const results = reconciler?.lastEnd?.results ?? [];
  return {
    id,
    title: titleOf(state),
    path: organizationPath(id),
    /** Address of the replica that has it; null if there is no fleet, or none has it. */
    replica: owner.kind === 'replica' ? owner.address : null,
    ...describeStatus({ state, pauses, freshness, lastValid: await lastValid(state), now }),
    /** Commit of the last check; null if there is none. */
    commit: plan?.commit ?? null,
    freshness,
    nextCheck: isoTime(next),
    /** Declared resources; null before the manifests were read. */
    resources: reconciler?.lastDesired?.state.declared.size ?? null,
    /** Changes that wait for approval. */
    held,
    /** Checksum whose approval releases them; null if there are none. */
    approval: held === 0 ? null : checksum,
    /** Changes of the last pass that failed. */
    failed: results.filter(({ status }) => status === 'failed').length,
  };
}

/** Number of passes that are searched for the last valid commit. */
const SEARCHED = 20;

/** Returns the commit of the last valid manifests. After a restart, the history knows it. */
async function lastValid({ reconciler, history }: OrganizationState): Promise<string | null> {
  const { lastEnd, lastDesired } = reconciler ?? {};
  if (lastEnd?.error == null || lastDesired != null) {
    return lastDesired?.commit ?? null;
  }
  const passes = await history.passes({ limit: SEARCHED });
  return passes.find(({ checksum }) => checksum !== null)?.commit ?? null;
}
