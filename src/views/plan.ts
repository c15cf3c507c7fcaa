/** View of a plan: what it would change, who approved it, and whether it is still the present one. */

import type { Plan } from '../core/change.ts';
import { approvalsOf } from '../plan/checksum.ts';
import { planToJson } from '../plan/render/json.ts';
import { counted } from '../plan/render/words.ts';
import { approvedChecksums, authorsNotice, countApprovers, refusalOf } from '../reconcile/approvals.ts';
import type { Actor } from '../store/history.ts';
import type { Backend, OrganizationState } from './model/backend.ts';
import { checkTimes } from './model/checks.ts';
import { forgeLinks } from './model/forge-links.ts';
import type { Freshness } from './model/freshness.ts';
import { passPath, planPath } from './model/paths.ts';
import { type PlanContent, planContent, statusesOf } from './model/plan-content.ts';
import { comparePlans, type PlanDifference, readPlan, type ShownPlan } from './model/shown-plan.ts';
import { heldChanges } from './model/status.ts';
import { isoTime } from './model/words.ts';

/** Decision of a person on this plan. */
export interface DecisionView {
  readonly by: string;
  readonly method: Actor['method'];
  readonly verdict: 'approved' | 'rejected';
  readonly reason: string;
  readonly at: string;
}

/** Decision that the plan waits for. */
export interface ApprovalView {
  /** Checksum that an approval has to carry. */
  readonly checksum: string;
  /** Changes that it releases. */
  readonly changes: number;
  /** People who have to approve, and those who have. */
  readonly needed: number;
  readonly given: number;
  /** True if enough people have approved and nobody has rejected it: the next pass applies it, unless it is paused. */
  readonly isComplete: boolean;
  /** Why this person cannot approve; null if they can, as far as the plan is concerned. */
  readonly refusal: string | null;
  /** Sentence on what the check of the authors could not cover; empty if it covers everything. */
  readonly notice: string;
}

export interface PlanView extends PlanContent {
  readonly organization: string;
  readonly subject: string;
  /** Age of the comparison with the platform that the plan is of. */
  readonly freshness: Freshness;
  /** True if it is the last plan of the organization. */
  readonly isCurrent: boolean;
  /** Why the plan is not what it seems; empty if it is. */
  readonly notice: string;
  /** Null if nothing waits for approval, or the plan is not the present one. */
  readonly approval: ApprovalView | null;
  readonly decisions: readonly DecisionView[];
  /** The present plan and what differs, for a plan that is not the present one. */
  readonly current: { readonly path: string; readonly checksum: string; readonly difference: PlanDifference } | null;
  /** Changes that the history did not keep. */
  readonly notKept: number;
  /** Pass that made a plan of the history. */
  readonly pass: { readonly number: number; readonly path: string } | null;
}

export interface PlanQuery {
  readonly checksum: string;
  /** Index of the first change to show. */
  readonly from: number;
  readonly viewer: Actor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Describes a plan, by its checksum or that of its held changes. Null if it is not known any more. */
export async function planView(backend: Backend, id: string, query: PlanQuery): Promise<PlanView | null> {
  const state = backend.organizations().find((each) => each.id === id);
  if (state === undefined) {
    return null;
  }
  const plan = state.reconciler?.lastPlan ?? null;
  return plan !== null && isPlan(plan, query.checksum)
    ? currentPlan(backend, state, plan, query)
    : pastPlan(state, plan, query);
}

/**
 * Returns the plan with this checksum as JSON, complete while it is the present one. Null if it is not known any more.
 */
export async function planJson(backend: Backend, id: string, checksum: string): Promise<object | null> {
  const state = backend.organizations().find((each) => each.id === id);
  const plan = state?.reconciler?.lastPlan ?? null;
  if (plan !== null && isPlan(plan, checksum)) {
    return planToJson(plan);
  }
  const kept = await state?.history.passOfPlan(checksum);
  return kept === undefined || kept === null || readPlan(kept.plan) === null ? null : (kept.plan as object);
}

/** Compares a plan of the history with the present one. Null if either is not known any more. */
export async function planDifference(
  { reconciler, history }: Pick<OrganizationState, 'reconciler' | 'history'>,
  checksum: string,
): Promise<PlanDifference | null> {
  const plan = reconciler?.lastPlan ?? null;
  const kept = await history.passOfPlan(checksum);
  const before = kept === null ? null : readPlan(kept.plan);
  return plan === null || before === null ? null : comparePlans(before, plan);
}

function isPlan(plan: Plan, checksum: string): boolean {
  return plan.checksum === checksum || plan.heldChecksum === checksum;
}

async function currentPlan(
  backend: Backend,
  state: OrganizationState,
  plan: Plan,
  { from, viewer, now }: PlanQuery,
): Promise<PlanView> {
  const { id, config, reconciler, record } = state;
  const covered = [plan.checksum, ...approvalsOf(plan, approvedChecksum(plan))];
  const decisions = (await record.decisions()).filter(({ checksum }) => covered.includes(checksum));
  const unique = [...new Map(decisions.map((each) => [`${each.verdict} ${each.by.name} ${each.at}`, each])).values()];
  const { freshness } = await checkTimes(backend, state, now);
  const desired = reconciler?.lastDesired ?? null;
  const changes = heldChanges(plan);
  const end = reconciler?.lastEnd;
  const authors = reconciler?.lastCheck?.authors ?? null;
  return {
    organization: id,
    ...planContent(id, plan, forgeLinks(config.source), from, statusesOf(end?.plan === plan ? end.results : [])),
    subject: desired?.commit === plan.commit ? (desired?.subject ?? '') : '',
    freshness,
    isCurrent: true,
    notice: freshness.isStale ? 'The platform may have changed since this plan was made.' : '',
    approval:
      changes === 0
        ? null
        : {
            checksum: approvedChecksum(plan),
            changes,
            needed: config.approvals.count,
            given: countApprovers(unique, config.approvals, authors),
            isComplete: approvedChecksums(decisions, config.approvals, authors).includes(approvedChecksum(plan)),
            refusal: refusalOf(viewer, authors, config.approvals),
            notice: authorsNotice(authors, config.approvals),
          },
    decisions: unique.map(({ by, verdict, reason, at }) => ({
      ...{ by: by.name, method: by.method, verdict, reason },
      at: isoTime(at),
    })),
    current: null,
    notKept: 0,
    pass: null,
  };
}

/** Returns the checksum that releases what waits, and nothing else. */
function approvedChecksum({ verdict, checksum, heldChecksum }: Plan): string {
  return verdict.state === 'held' ? checksum : (heldChecksum ?? checksum);
}

async function pastPlan(
  { id, config, history }: OrganizationState,
  present: Plan | null,
  { checksum, from, now }: PlanQuery,
): Promise<PlanView | null> {
  const kept = await history.passOfPlan(checksum);
  const plan: ShownPlan | null = kept === null ? null : readPlan(kept.plan);
  if (kept === null || plan === null) {
    return null;
  }
  const { number, subject, endedAt } = kept.pass;
  const content = planContent(id, plan, forgeLinks(config.source), from, statusesOf(kept.changes));
  const notKept = plan.notKept?.changes ?? 0;
  const partial =
    notKept === 0 ? '' : ` ${counted(notKept, 'more change')} ${notKept === 1 ? 'was' : 'were'} not kept.`;
  return {
    organization: id,
    ...content,
    subject,
    freshness: {
      asOf: isoTime(endedAt),
      ageSeconds: Math.floor((now - endedAt) / 1000),
      intervalSeconds: null,
      isStale: true,
    },
    isCurrent: false,
    notice: `This is not the present plan, and cannot be approved.${partial}`,
    approval: null,
    decisions: [],
    current:
      present === null
        ? null
        : {
            path: planPath(id, present.checksum),
            checksum: present.checksum,
            difference: comparePlans(plan, present),
          },
    notKept,
    pass: { number, path: passPath(id, number) },
  };
}
