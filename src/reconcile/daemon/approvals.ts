/** Decides whether the decisions of people approve a plan. */
import { RefusedPlanError } from '../../core/errors.ts';
import { type CommitAuthors, MAX_COMMITS, normalizeEmail } from '../../git/commits.ts';
import type { Actor } from '../../store/history.ts';
import type { PlanDecision } from '../../store/store.ts';

/** Rules for approvals. See docs/approvals.md#two-people. */
export interface ApprovalRules {
  /** Number of people who have to approve. */
  readonly count: number;
  /** True: people who wrote a commit of the plan cannot approve it. */
  readonly notAuthor: boolean;
}

/**
 * Returns the checksums of plans that enough people approved and nobody rejected, oldest first. `authors`: who wrote the
 * commits of the plan that is made now; null if that is not known.
 */
export function approvedChecksums(
  decisions: readonly PlanDecision[],
  rules: ApprovalRules,
  authors: CommitAuthors | null,
): readonly string[] {
  const byChecksum = Map.groupBy(decisions, ({ checksum }) => checksum);
  return [...byChecksum]
    .filter(
      ([, all]) =>
        all.every(({ verdict }) => verdict === 'approved') && countApprovers(all, rules, authors) >= rules.count,
    )
    .map(([checksum]) => checksum);
}

/**
 * Counts the people who approved and may approve. The same name is the same person, whichever way they signed in. A user
 * who can open the control socket could send any name, so all decisions through it count as those of one person.
 */
export function countApprovers(
  decisions: readonly PlanDecision[],
  rules: ApprovalRules,
  authors: CommitAuthors | null,
): number {
  const valid = decisions.filter(({ verdict, by }) => verdict === 'approved' && refusalOf(by, authors, rules) === null);
  return new Set(valid.map(({ by }) => (by.method === 'socket' ? '' : normalizeEmail(by.name)))).size;
}

/** Throws RefusedPlanError if a person must not approve a plan. */
export function checkApprover(by: Actor, authors: CommitAuthors | null, rules: ApprovalRules): void {
  const refusal = refusalOf(by, authors, rules);
  if (refusal !== null) {
    throw new RefusedPlanError(refusal);
  }
}

/** Returns why a person must not approve a plan; null if they may. `authors`: who wrote its commits; null: not known. */
export function refusalOf(by: Actor, authors: CommitAuthors | null, { notAuthor }: ApprovalRules): string | null {
  if (!notAuthor) {
    return null;
  }
  // A command can send any name.
  if (by.method === 'socket' || !by.name.includes('@')) {
    const name = by.name === '' ? 'the approver' : JSON.stringify(by.name);
    return `approvals.notAuthor is set, and the email of ${name} is not known; approve on the web page, signed in with an email`;
  }
  if (authors === null) {
    return 'approvals.notAuthor is set, and it is not known who wrote the commits since the last one that was applied; use a complete clone of a git repository as the source, or set approvals.notAuthor to false';
  }
  return authors.emails.has(normalizeEmail(by.name))
    ? `${by.name} wrote a commit that this plan applies, and approvals.notAuthor is set; somebody else has to approve the plan`
    : null;
}

/** Returns what the check of the authors could not cover, for people; empty if it covers everything. */
export function authorsNotice(authors: CommitAuthors | null, { notAuthor }: ApprovalRules): string {
  return notAuthor && authors?.isComplete === false
    ? `More than ${MAX_COMMITS} commits were made since the last one that was applied. Only people who wrote one of the newest ${MAX_COMMITS} are refused.`
    : '';
}
