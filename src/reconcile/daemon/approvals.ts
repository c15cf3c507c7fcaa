/** Decides whether the decisions of people approve a plan. */
import { RefusedPlanError } from '../../core/errors.ts';
import type { Actor } from '../../store/history.ts';
import type { PlanDecision } from '../../store/store.ts';

/** Rules for approvals. See docs/web-page.md#approvals. */
export interface ApprovalRules {
  /** Number of people who have to approve. */
  readonly count: number;
  /** True: the author of the commit cannot approve it. */
  readonly notAuthor: boolean;
}

/** Returns the checksums of plans that enough people approved and nobody rejected, oldest first. */
export function approvedChecksums(decisions: readonly PlanDecision[], { count }: ApprovalRules): readonly string[] {
  const byChecksum = Map.groupBy(decisions, ({ checksum }) => checksum);
  return [...byChecksum]
    .filter(([, all]) => all.every(({ verdict }) => verdict === 'approved') && peopleIn(all) >= count)
    .map(([checksum]) => checksum);
}

/**
 * Counts the people behind decisions. The same name is the same person, whichever way they signed in. A user who can open
 * the control socket could send any name, so all decisions through it count as those of one person.
 */
export function peopleIn(decisions: readonly PlanDecision[]): number {
  return new Set(decisions.map(({ by }) => (by.method === 'socket' ? '' : by.name.toLowerCase()))).size;
}

/**
 * Throws RefusedPlanError if a person must not approve a commit. `authors`: emails of the commit's author and committer;
 * empty if they are not known.
 */
export function checkApprover(by: Actor, authors: readonly string[], { notAuthor }: ApprovalRules): void {
  if (!notAuthor) {
    return;
  }
  if (!by.name.includes('@')) {
    throw new RefusedPlanError(
      `approvals.notAuthor is set, and the email of ${by.name === '' ? 'the approver' : JSON.stringify(by.name)} is not known; approve on the web page, signed in with an email`,
    );
  }
  if (authors.some((author) => author.toLowerCase() === by.name.toLowerCase())) {
    throw new RefusedPlanError(
      `${by.name} wrote the commit, and approvals.notAuthor is set; somebody else has to approve the plan`,
    );
  }
}
