/** A plan that waits: the decision of a person, in words, or the changes that are being applied. */
import { approvalsOf } from '../../plan/guard.ts';
import { type ChangeDocument, changeTitle, type PlanDocument } from '../../plan/render/document.ts';
import { heldChanges, partSentence, waitingChanges } from '../../plan/render/sentence.ts';
import { isDeletion } from '../../plan/render/words.ts';
import { approvedChecksums, authorsNotice, countApprovers, refusalOf } from '../../reconcile/approvals.ts';
import type { Actor } from '../../store/history.ts';
import type { PlanDecision } from '../../store/record.ts';
import type { OrganizationState } from './backend.ts';
import { forgeLinks, planPath } from './paths.ts';
import { appliedChanges, runningChanges } from './status.ts';
import { isoTime } from './words.ts';

/** Titles that a decision lists. */
const MAX_TITLES = 50;

export type DecisionView = NonNullable<Awaited<ReturnType<typeof decisionView>>>;

/** Describes the decision that the present plan of an organization waits for, or its changes that are being applied; null if neither. */
export async function decisionView(state: OrganizationState, by: Actor) {
  const plan = state.reconciler?.lastCheck?.plan ?? null;
  const running = state.reconciler === null ? null : runningChanges(state.reconciler);
  if (plan === null || (running === null && heldChanges(plan) === 0)) {
    return null;
  }
  const { id, config, reconciler } = state;
  const desired = reconciler?.lastDesired ?? null;
  const isOfPlan = desired !== null && desired.commit === plan.commit;
  return {
    organization: id,
    ...contentOf(plan, running !== null),
    path: planPath(id, plan.checksum),
    plan: plan.checksum,
    commit: plan.commit,
    commitUrl: plan.commit === null ? null : forgeLinks(config.source).commit(plan.commit),
    subject: isOfPlan ? desired.subject : '',
    author: isOfPlan ? desired.author : null,
    /** When the plan was made. */
    at: isoTime(reconciler?.lastCheck?.at ?? null),
    /** Changes that have ended, and all of them; null if nothing is being applied. */
    running,
    approval: running === null ? await approvalView(state, plan, by) : null,
  };
}

type DecisionContent = ReturnType<typeof describeContent>;
/** Contents of decisions by their plan, while it waits and while it is applied: reading 100,000 changes takes longer than a page may take. */
const contents = {
  waiting: new WeakMap<PlanDocument, DecisionContent>(),
  running: new WeakMap<PlanDocument, DecisionContent>(),
};

function contentOf(plan: PlanDocument, isRunning: boolean): DecisionContent {
  const known = contents[isRunning ? 'running' : 'waiting'];
  const content = known.get(plan) ?? describeContent(plan, isRunning ? appliedChanges(plan) : waitingChanges(plan));
  known.set(plan, content);
  return content;
}

function describeContent(plan: PlanDocument, changes: readonly ChangeDocument[]) {
  const deleted = changes.filter(isDeletion);
  return {
    /** `Deletes 21 spaces, makes Acme Team public`. */
    sentence: partSentence(plan, changes),
    /** Titles of what it deletes, or addresses; of many, the first. */
    deletions: deleted.slice(0, MAX_TITLES).map((change) => ({
      kind: change.kind,
      address: change.address,
      title: changeTitle(change),
      impact: change.impact,
    })),
    deletionCount: deleted.length,
    /** Kinds of what it deletes. */
    deletedKinds: [...new Set(deleted.map(({ kind }) => kind))],
  };
}

/** Describes the approval that a plan waits for; null if it waits for none. */
export async function approvalView({ config, reconciler, record }: OrganizationState, plan: PlanDocument, by: Actor) {
  const changes = heldChanges(plan);
  if (changes === 0) {
    return null;
  }
  const checksum = approvedChecksum(plan);
  const authors = reconciler?.lastCheck?.authors ?? null;
  const decisions = decisionsOn(plan, await record.decisions());
  return {
    /** Checksum that an approval has to carry. */
    checksum,
    /** Changes that it releases. */
    changes,
    /** People who have to approve, and those who have. */
    needed: config.approvals.count,
    given: countApprovers(decisions, config.approvals, authors),
    /** True if enough people have approved and nobody has rejected it: the next pass applies it, unless it is paused. */
    isComplete: approvedChecksums(decisions, config.approvals, authors).includes(checksum),
    /** Why this person cannot approve; null if they can, as far as the plan is concerned. */
    refusal: refusalOf(by, authors, config.approvals),
    /** Sentence on what the check of the authors could not cover; empty if it covers everything. */
    notice: authorsNotice(authors, config.approvals),
  };
}

/** Returns the decisions about a plan or what is held in it. */
export function decisionsOn(plan: PlanDocument, decisions: readonly PlanDecision[]): readonly PlanDecision[] {
  const covered = [plan.checksum, ...approvalsOf(plan, approvedChecksum(plan))];
  return decisions.filter(({ checksum }) => covered.includes(checksum));
}

/** Returns the checksum that releases what waits, and nothing else. */
function approvedChecksum({ verdict, checksum, heldChecksum }: PlanDocument): string {
  return verdict.state === 'held' ? checksum : (heldChecksum ?? checksum);
}
