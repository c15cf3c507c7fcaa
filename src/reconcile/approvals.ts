/** Decides whether the decisions of people approve a plan, and finds out who wrote what it would apply. */
import { z } from 'zod';
import { LAST_TIME } from '../core/clock.ts';
import { RefusedPlanError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { type CommitAuthors, MAX_COMMITS, normalizeEmail } from '../git/commits.ts';
import type { Actor } from '../store/history.ts';
import type { Note, PlanDecision } from '../store/record.ts';
import type { DesiredSource } from './source.ts';

const MAX_REASON = 500;

const reason = z.string().trim().max(MAX_REASON).default('');

const checksum = z.string().min(1, 'is missing').max(100);

/** Address of a resource; empty for the whole organization. */
const address = z.string().max(1000).default('');

/** Schema of an action. `until` is milliseconds since the epoch; null: until it is resumed. */
export const actionRequest = z.discriminatedUnion('subcommand', [
  z.strictObject({ subcommand: z.literal('approve'), checksum, reason }),
  z.strictObject({ subcommand: z.literal('reject'), checksum, reason }),
  z.strictObject({
    subcommand: z.literal('pause'),
    address,
    reason: z.string().trim().min(1, 'is missing; say why').max(MAX_REASON),
    until: z.number().max(LAST_TIME, 'is too late; choose an earlier end').nullable(),
  }),
  z.strictObject({ subcommand: z.literal('resume'), address, reason }),
  z.strictObject({ subcommand: z.literal('reconcile'), reason }),
]);

export type ActionRequest = z.input<typeof actionRequest>;

/** Rules for approvals. See docs/approvals.md#two-people. */
interface ApprovalRules {
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
 * who can open the control socket could send any name, so all decisions through it count as those of one person. Whose an
 * account of a forge is is not known: approvals by comment and all others do not add up.
 */
export function countApprovers(
  decisions: readonly PlanDecision[],
  rules: ApprovalRules,
  authors: CommitAuthors | null,
): number {
  const valid = decisions.filter(({ verdict, by }) => verdict === 'approved' && refusalOf(by, authors, rules) === null);
  const [comments = [], others = []] = [true, false].map((isComment) =>
    valid.filter(({ by }) => (by.method === 'comment') === isComment),
  );
  const people = (some: readonly PlanDecision[]) =>
    new Set(some.map(({ by }) => (by.method === 'socket' ? '' : normalizeEmail(by.name)))).size;
  return Math.max(people(comments), people(others));
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

/** Authors of the plans of one organization. */
export class PlanAuthors {
  readonly #note: Note;
  readonly #source: Pick<DesiredSource, 'authors' | 'applied'>;
  /** Last commit that was applied completely; null if there is none, undefined before it was read. */
  #applied: string | null | undefined;
  #last: { readonly range: string; readonly authors: CommitAuthors } | null = null;

  /** `note` keeps the last commit that was applied completely. */
  constructor(note: Note, source: Pick<DesiredSource, 'authors' | 'applied'>) {
    this.#note = note;
    this.#source = source;
  }

  /** Returns who wrote what a plan for this commit would apply; null if it cannot be known. Throws what the source throws. */
  async read(commit: string | null): Promise<CommitAuthors | null> {
    if (commit === null) {
      return null;
    }
    this.#applied ??= (await this.#noted()) ?? (await this.#source.applied?.read())?.commit ?? null;
    const range = `${this.#applied} ${commit}`;
    if (this.#last?.range !== range) {
      const authors = await this.#source.authors({ from: this.#applied, to: commit });
      this.#last = authors === null ? null : { range, authors };
    }
    return this.#last?.authors ?? null;
  }

  /** Records that every change of a commit was applied. Throws StoreError. */
  async recordApplied(commit: string | null): Promise<void> {
    if (commit !== null && commit !== this.#applied) {
      await this.#note.write({ commit });
      this.#applied = commit;
    }
  }

  async #noted(): Promise<string | null> {
    const value = await this.#note.read();
    return isObject(value) && typeof value.commit === 'string' ? value.commit : null;
  }
}
