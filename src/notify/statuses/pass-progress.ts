/** Describes what a pass means for its commit. */

import { type Change, type ChangeResult, changeId, type Plan } from '../../core/change.ts';
import { AppError, DesiredStateError, formatProblem } from '../../core/errors.ts';
import { waitingDeletions } from '../../plan/render/waiting.ts';
import { counted } from '../../plan/render/words.ts';
import type { StatusContent } from '../../store/commit-statuses.ts';

/** State and description of a commit status. */
export type StatusProgress = Pick<StatusContent, 'state' | 'description'>;

/** Why a plan, or the rest of it, is not applied now. */
export interface WaitingReason {
  readonly reason: string;
  /** When a sync window may open, in milliseconds since the epoch; null if that is not the reason. */
  readonly until: number | null;
}

/** A pass that has ended. */
export interface CommitPass {
  readonly plan: Plan | null;
  /** Changes of the plan that no commit causes. */
  readonly drift: ReadonlySet<Change>;
  readonly results: readonly ChangeResult[];
  /** Why the pass failed, other than by changes; null if it did not. */
  readonly error: Error | null;
  readonly wait: WaitingReason | null;
  /** True: the daemon was stopping, so that the rest may have been skipped. */
  readonly isStopped: boolean;
}

/** Number of characters of a checksum that are shown, without its algorithm. */
const SHOWN_DIGITS = 12;

/** Returns the changes of a plan that its commit causes: drift says nothing about a commit. */
export function ownChanges(plan: Plan, drift: ReadonlySet<Change>): readonly Change[] {
  return plan.changes.filter((change) => !drift.has(change));
}

/** Returns the changes that neither wait for approval nor are paused. */
export function dueChanges(changes: readonly Change[]): readonly Change[] {
  return changes.filter(({ held, paused }) => held === null && paused === null);
}

/** Describes a commit whose changes are being applied. */
export function applyingProgress(count: number): StatusProgress {
  return { state: 'running', description: `applying ${counted(count, 'change')}` };
}

/** Describes a commit that is compared with the platform, which takes long. */
export function slowProgress(): StatusProgress {
  return pending('waits for the platform');
}

/** Describes a commit that a newer one has followed before it was applied. */
export function supersededProgress(by: string): StatusProgress {
  return { state: 'superseded', description: `superseded by ${by.slice(0, 7)}` };
}

/** Describes manifests that cannot be read, by the first problem. */
export function invalidProgress({ problems }: DesiredStateError): StatusProgress {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${counted(problems.length - 1, 'more problem')})` : '';
  const text = first === undefined ? 'the manifests are invalid' : formatProblem(first);
  return { state: 'error', description: `${text}${more}` };
}

/**
 * Describes a commit after a pass. `before`: number of its changes that earlier passes have applied. Returns null for an
 * interrupted pass, which leaves the status as it is.
 */
export function passProgress(
  pass: CommitPass,
  before: number,
): { readonly applied: number; readonly progress: StatusProgress } | null {
  const { plan, error } = pass;
  if (plan === null) {
    return error === null ? null : { applied: before, progress: failedProgress(error) };
  }
  const changes = ownChanges(plan, pass.drift);
  const own = new Set(changes.map(changeId));
  const results = pass.results.filter((result) => own.has(changeId(result)));
  const done = new Set(results.filter(({ status }) => status === 'applied').map(changeId));
  const applied = before + done.size;
  const failed = results.filter(({ status }) => status === 'failed');
  const rest = changes.filter((change) => !done.has(changeId(change)));
  const { state, reasons } = plan.verdict;
  if (state === 'refused') {
    return { applied, progress: { state: 'error', description: `the plan is refused: ${reasons.join('; ')}` } };
  }
  if (failed.length > 0) {
    return { applied, progress: failedChanges(failed, before + changes.length) };
  }
  if (rest.length === 0) {
    return { applied, progress: completeProgress(plan, applied) };
  }
  return pass.isStopped ? null : { applied, progress: waiting(pass.wait, plan, rest, applied) };
}

/** Describes a commit without remaining changes. Resources may still wait for something that does not exist yet. */
function completeProgress({ pending: waits }: Plan, applied: number): StatusProgress {
  const done = applied === 0 ? 'nothing to do' : `${counted(applied, 'change')} applied`;
  const [first] = waits;
  return first === undefined
    ? { state: 'success', description: done }
    : pending(
        `${applied === 0 ? '' : `${done}; `}${counted(waits.length, 'resource')} pending: ${first.address}: ${first.reason}`,
      );
}

function failedChanges(failed: readonly ChangeResult[], total: number): StatusProgress {
  const [first] = failed;
  const reason = first === undefined ? '' : `: ${first.address}: ${first.error ?? 'failed'}`;
  return { state: 'failure', description: `${failed.length} of ${counted(total, 'change')} failed${reason}` };
}

/** Describes a commit whose remaining changes wait. */
function waiting(wait: WaitingReason | null, plan: Plan, rest: readonly Change[], applied: number): StatusProgress {
  const start = `${applied === 0 ? '' : `${applied} applied, `}${counted(rest.length, 'change')} planned`;
  const deletions = waitingDeletions({ changes: rest, verdict: plan.verdict });
  const deletes = deletions === null ? '' : `: ${deletions}`;
  const due = dueChanges(rest);
  const held = rest.filter((change) => change.held !== null && change.paused === null);
  const paused = rest.filter((change) => change.paused !== null);
  const { state, reasons } = plan.verdict;
  if (state === 'held') {
    return pending(`${start}; waits for approval of ${shortChecksum(plan.checksum)}${deletes}: ${reasons.join('; ')}`);
  }
  if (due.length > 0 && wait !== null) {
    return pending(`${start}; waits: ${wait.reason}${wait.until === null ? '' : `, until ${minute(wait.until)}`}`);
  }
  const some = (count: number) => (count === rest.length ? '' : `${count} `);
  const approval = `${some(held.length)}waits for approval of ${shortChecksum(plan.heldChecksum ?? plan.checksum)}${deletes}`;
  const pause = `${some(paused.length)}paused: ${paused[0]?.paused?.reason ?? ''}`;
  return pending([start, ...(held.length > 0 ? [approval] : []), ...(paused.length > 0 ? [pause] : [])].join('; '));
}

function pending(description: string): StatusProgress {
  return { state: 'pending', description };
}

function failedProgress(error: Error): StatusProgress {
  if (error instanceof DesiredStateError) {
    return invalidProgress(error);
  }
  // The text of temporary errors can differ from pass to pass, and each difference would be a request.
  return error instanceof AppError && error.disposition !== 'stall'
    ? pending('waits for the platform or the repository, which cannot be used now')
    : { state: 'error', description: `the pass failed: ${error.message}` };
}

/** Returns the start of a checksum without its algorithm. */
function shortChecksum(checksum: string): string {
  return checksum.replace(/^sha256:/, '').slice(0, SHOWN_DIGITS);
}

/** `2026-11-23 18:00 UTC`, rounded up. */
function minute(time: number): string {
  return `${new Date(Math.ceil(time / 60_000) * 60_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
