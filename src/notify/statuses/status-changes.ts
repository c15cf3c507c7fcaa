/** Decides which commit statuses change, from what is recorded. */
import type { CommitStatusRecord, DeploymentRecord, StatusContent } from '../../store/commit-statuses.ts';
import { type StatusProgress, supersededProgress } from './pass-progress.ts';

/** StatusProgress of one commit. */
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
        wanted: { ...supersededProgress(commit), url: wanted.url },
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
