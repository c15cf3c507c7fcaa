/** Commit statuses that passes ask for, from what they did and what is recorded. */
import { type Change, type ChangeResult, changeId, type Plan } from '../core/change.ts';
import { AppError, DesiredStateError, formatProblem } from '../core/errors.ts';
import { waitingDeletions } from '../plan/render/sentence.ts';
import { counted, shortApproval } from '../plan/render/words.ts';
import type { CommitStatusRecord, DeploymentRecord, StatusContent } from '../store/commit-statuses.ts';
import type { PassDetails, PassRecord } from '../store/history.ts';

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
    return { applied, progress: failedChanges(failed.length, failed[0], before + changes.length) };
  }
  if (rest.length === 0) {
    return { applied, progress: completeProgress(plan, applied) };
  }
  return pass.isStopped ? null : { applied, progress: waiting(pass.wait, plan, rest, applied) };
}

/** Describes a commit without remaining changes. Resources may still wait for something that does not exist yet. */
function completeProgress({ pending: waits }: Plan, applied: number): StatusProgress {
  const [first] = waits;
  if (first === undefined) {
    return succeeded(applied);
  }
  const done = applied === 0 ? '' : `${succeeded(applied).description}; `;
  return pending(`${done}${counted(waits.length, 'resource')} pending: ${first.address}: ${first.reason}`);
}

function succeeded(applied: number): StatusProgress {
  return { state: 'success', description: applied === 0 ? 'nothing to do' : `${counted(applied, 'change')} applied` };
}

type FailedChange = Pick<ChangeResult, 'address' | 'error'>;

function failedChanges(count: number, first: FailedChange | undefined, total: number): StatusProgress {
  const reason = first === undefined ? '' : `: ${first.address}: ${first.error ?? 'failed'}`;
  return { state: 'failure', description: `${count} of ${counted(total, 'change')} failed${reason}` };
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
    return pending(`${start}; waits for approval of ${shortApproval(plan.checksum)}${deletes}: ${reasons.join('; ')}`);
  }
  if (due.length > 0 && wait !== null) {
    return pending(`${start}; waits: ${wait.reason}${wait.until === null ? '' : `, until ${minute(wait.until)}`}`);
  }
  const some = (count: number) => (count === rest.length ? '' : `${count} `);
  const approval = `${some(held.length)}waits for approval of ${shortApproval(plan.heldChecksum ?? plan.checksum)}${deletes}`;
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

/** `2026-11-23 18:00 UTC`, rounded up. */
function minute(time: number): string {
  return `${new Date(Math.ceil(time / 60_000) * 60_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Returns the number of changes of a commit that these passes applied, without those that undid manual changes. */
export function countApplied(passes: readonly PassRecord[], commit: string): number {
  const own = passes.filter((pass) => pass.commit === commit);
  return own.reduce((sum, { counts }) => sum + (counts.applied ?? 0) - (counts.reverted ?? 0), 0);
}

/**
 * Describes a commit by its last pass in the history, for a daemon that died before it could show it. `applied`: number
 * of its changes that all passes have applied. Returns null if something of it was left to do, or if the pass could not
 * say.
 */
export function recordedProgress({ pass, changes }: PassDetails, applied: number): StatusProgress | null {
  const { counts, error, outcome } = pass;
  if (error !== null) {
    return null;
  }
  const planned = ['create', 'update', 'move', 'delete'].reduce((sum, action) => sum + (counts[action] ?? 0), 0);
  if ((counts.failed ?? 0) > 0) {
    const first = changes.find(({ status }) => status === 'failed');
    return failedChanges(counts.failed ?? 0, first, applied + planned - (counts.applied ?? 0));
  }
  return outcome === 'done' && (counts.applied ?? 0) === planned ? succeeded(applied) : null;
}

/** Progress of one commit. */
export interface CommitProgress {
  /** Full id. */
  readonly commit: string;
  readonly context: string;
  readonly progress: StatusProgress;
  /** Page that shows it; null: none. */
  readonly url: string | null;
  /** Number of its changes that were applied, in all passes; undefined: as recorded. */
  readonly applied?: number;
  /** Number of its changes in all, if they are being applied; null: they are not; undefined: as recorded. */
  readonly total?: number | null;
  /** True: a commit whose changes are applied becomes a deployment. */
  readonly hasDeployments: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Returns true for the full id of a commit, of SHA-1 or SHA-256. Forges would take a short one for a branch. */
export function isFullCommit(commit: string | null): commit is string {
  return commit !== null && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(commit);
}

/** Finds the record of a commit. */
export function findRecord(
  records: readonly CommitStatusRecord[],
  { commit, context }: Pick<CommitStatusRecord, 'commit' | 'context'>,
): CommitStatusRecord | undefined {
  return records.find((record) => record.commit === commit && record.context === context);
}

/**
 * Returns the changed record of a commit; null if nothing changes. A commit that was applied stays a success: drift that
 * comes later says nothing about it. After a failure, a further try shows only its result.
 */
export function changeProgress(
  records: readonly CommitStatusRecord[],
  { commit, context, progress, url, applied, total, hasDeployments, now }: CommitProgress,
): CommitStatusRecord | null {
  const before = findRecord(records, { commit, context });
  const last = before?.wanted.state;
  if (last === 'success') {
    return null;
  }
  const counts = {
    applied: applied ?? before?.applied ?? 0,
    total: total === undefined ? (before?.total ?? null) : total,
  };
  const hasSameCounts = counts.applied === before?.applied && counts.total === before.total;
  if (before !== undefined && progress.state === 'running' && (last === 'failure' || last === 'error')) {
    return hasSameCounts ? null : { ...before, ...counts };
  }
  const isSame = last === progress.state && before?.wanted.description === progress.description;
  const deployment = nextDeployment(before?.deployment ?? null, progress, hasDeployments);
  if (isSame && hasSameCounts && deployment === before.deployment) {
    return null;
  }
  // A later pass with the same result keeps the link to the first one.
  const wanted: StatusContent = isSame ? before.wanted : { ...progress, url };
  return { commit, context, wanted, sent: before?.sent ?? null, ...counts, deployment, changedAt: now };
}

/**
 * Returns the number of changes of a commit that were applied before its plan was made. `left`: number of changes in the
 * plan that the commit causes.
 */
export function countBefore(record: CommitStatusRecord | undefined, left: number): number {
  const { applied = 0, total = null } = record ?? {};
  return Math.max(applied, (total ?? 0) - left);
}

function nextDeployment(
  deployment: DeploymentRecord | null,
  { state }: StatusProgress,
  hasDeployments: boolean,
): DeploymentRecord | null {
  if (deployment === null) {
    const isNew = hasDeployments && state === 'running';
    return isNew ? { wanted: 'in_progress', sent: null, id: null, isAttempted: false } : null;
  }
  const wanted = state === 'success' ? 'success' : state === 'failure' || state === 'error' ? 'failure' : null;
  return wanted === null || wanted === deployment.wanted ? deployment : { ...deployment, wanted };
}

/** Returns the records of other commits that wait, closed in favor of a newer commit. */
export function supersede(
  records: readonly CommitStatusRecord[],
  commit: string,
  now: number,
): readonly CommitStatusRecord[] {
  return records
    .filter(({ commit: other, wanted }) => other !== commit && ['pending', 'running'].includes(wanted.state))
    .map((record): CommitStatusRecord => {
      const { deployment, wanted } = record;
      const isOpen = deployment !== null && deployment.wanted === 'in_progress';
      return {
        ...record,
        wanted: { state: 'superseded', description: `superseded by ${commit.slice(0, 7)}`, url: wanted.url },
        deployment: isOpen ? { ...deployment, wanted: 'inactive' } : deployment,
        changedAt: now,
      };
    });
}

/** Request that a record still needs. */
export type PendingRequest = 'status' | 'deployment';

/** Returns the requests that a record needs, because the forge shows something else. */
export function pendingRequests({ wanted, sent, deployment }: CommitStatusRecord): readonly PendingRequest[] {
  return [
    ...(sent === null || !sameContent(wanted, sent) ? (['status'] as const) : []),
    ...(deployment !== null && needsDeployment(deployment) ? (['deployment'] as const) : []),
  ];
}

function sameContent(a: StatusContent, b: StatusContent): boolean {
  return a.state === b.state && a.description === b.description && a.url === b.url;
}

function needsDeployment({ wanted, sent, id, isAttempted }: DeploymentRecord): boolean {
  const isUnknown = id === null && !isAttempted;
  return wanted !== sent && !(wanted === 'inactive' && isUnknown);
}
