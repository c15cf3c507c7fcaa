/** State of an organization in one sentence, for people. */
import { windowState } from '../../config/windows.ts';
import type { Plan } from '../../core/change.ts';
import { DesiredStateError, messageOf, SourceError } from '../../core/errors.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { counted, spanWords } from '../../plan/render/words.ts';
import type { ManualPause } from '../../store/history.ts';
import type { OrganizationState, ReconcilerState } from './backend.ts';
import type { Freshness } from './freshness.ts';
import { ageWords, shortCommit } from './words.ts';

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

export interface DescribedStatus {
  readonly state: OrganizationStatus;
  readonly sentence: string;
}

/** Input of {@link describeStatus}. */
export interface StatusInput {
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
export function describeStatus(input: StatusInput): DescribedStatus {
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
  return lastEnd?.outcome === 'failed' ? { state: 'failed', sentence: 'The last pass was interrupted' } : null;
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
    : `The last pass failed, ${when}: ${line}`;
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

/** `Paused by ana@example.com for 2 more hours: migration`. */
export function pauseSentence({ by, until, reason }: ManualPause, now: number): string {
  const end = until === null ? 'until it is resumed' : `for ${spanWords(until - now)} more`;
  return `Paused by ${by.name === '' ? 'an unknown person' : by.name} ${end}: ${reason}`;
}

function approval({ lastCheck, isRunning, lastEnd }: ReconcilerState): DescribedStatus | null {
  const plan = lastCheck?.plan;
  if (plan === undefined || (isRunning && lastEnd?.plan !== plan)) {
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

/** Returns the number of changes that wait for approval: all if the whole plan is held, none if it is refused. */
export function heldChanges(plan: Plan): number {
  if (plan.verdict.state === 'refused') {
    return 0;
  }
  if (plan.verdict.state === 'held') {
    return plan.changes.length;
  }
  return plan.heldChecksum === null
    ? 0
    : plan.changes.filter(({ held, approvable }) => held !== null && approvable).length;
}

function progress(reconciler: ReconcilerState, { state, now }: StatusInput): DescribedStatus | null {
  const { lastCheck, lastEnd, isRunning } = reconciler;
  const plan = lastCheck?.plan;
  if (plan === undefined) {
    return null;
  }
  if (isRunning && lastEnd?.plan !== plan) {
    return plan.changes.length === 0
      ? null
      : { state: 'applying', sentence: `Applying ${counted(plan.changes.length, 'change')}${of(plan.commit)}` };
  }
  const applied = (lastEnd?.results ?? []).filter(({ status }) => status === 'applied').length;
  const left = plan.changes.length - applied;
  if (left <= 0) {
    return null;
  }
  const window = windowState(state.config.syncWindows, now);
  const why = window.open ? pausedWords(plan) : `: ${window.reason}`;
  return { state: 'waiting', sentence: `${counted(left, 'change')} ${left === 1 ? 'waits' : 'wait'}${why}` };
}

function pausedWords({ summary }: Plan): string {
  return summary.paused === 0 ? ' to be applied' : `; ${summary.paused} of them paused`;
}

function inSync({ lastCheck }: ReconcilerState, { freshness }: StatusInput): DescribedStatus {
  const plan = lastCheck?.plan;
  const pending = plan?.pending.length ?? 0;
  const rest = pending === 0 ? '' : `; ${counted(pending, 'resource')} pending`;
  const checked = spanWords((freshness.ageSeconds ?? 0) * 1000);
  const commit = plan?.commit ?? null;
  const what = commit === null ? 'the manifests' : shortCommit(commit);
  return { state: 'in-sync', sentence: `In sync with ${what}, checked ${checked} ago${rest}` };
}

function of(commit: string | null): string {
  return commit === null ? '' : ` of ${shortCommit(commit)}`;
}
