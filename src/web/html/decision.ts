/** Plans that wait for the decision of a person: as data, and as HTML. */

import { html } from 'hono/html';
import { approvalsOf } from '../../plan/guard.ts';
import { type ChangeDocument, changeTitle, type PlanDocument } from '../../plan/render/document.ts';
import { heldChanges, partSentence, waitingChanges } from '../../plan/render/sentence.ts';
import { counted, isDeletion, kindWords } from '../../plan/render/words.ts';
import { approvedChecksums, authorsNotice, countApprovers, refusalOf } from '../../reconcile/approvals.ts';
import type { Actor } from '../../store/history.ts';
import type { PlanDecision } from '../../store/record.ts';
import type { Html, OrganizationState, PageRequest } from '../model/page.ts';
import { appliedChanges, runningChanges } from '../model/status.ts';
import { forgeLinks, isoTime, planPath } from '../model/words.ts';
import { age, commitText, icon, link, organizationName, shown } from './elements.ts';
import { actionForm, reasonField } from './form.ts';

/**
 * Returns the card. `title`: name of the organization, where the page is not of one. `isOnPlan`: the page shows the plan
 * itself, so that the card stays in view and needs no link to it.
 */
export function decisionCard(
  view: DecisionView,
  request: PageRequest,
  { title = '', isOnPlan = false }: { readonly title?: string; readonly isOnPlan?: boolean } = {},
): Html {
  const { running, deletionCount, sentence } = view;
  const state = running !== null ? 'running' : deletionCount > 0 ? 'deletes' : '';
  const id = `decision-${view.plan.slice(-8)}`;
  return html`<section class="card decision ${state}${isOnPlan ? ' sticky' : ''}" aria-labelledby="${id}">
<h2 id="${id}">${icon(running !== null ? 'sync' : deletionCount > 0 ? 'trash' : 'shield-check')} ${title === '' ? '' : html`${organizationName(view.organization, title)}: `}${shown(sentence, 400)}</h2>
${origin(view, request.now)}
${running === null ? waiting(view, request, isOnPlan) : progress(running)}
</section>`;
}

/** `de7916c Remove the playground by ana@acme.example, planned 2 minutes ago`. */
function origin({ commit, commitUrl, subject, author, at }: DecisionView, now: number): Html {
  const by = author === null ? '' : html` by ${shown(author)}`;
  return html`<p class="faint">${commitText(commit, commitUrl)} ${shown(subject)}${by}, planned ${age(at, now)}</p>`;
}

function progress({ reached, total }: NonNullable<DecisionView['running']>): Html {
  return html`<p role="status">Applying, ${reached} of ${total}</p>
<progress max="${total}" value="${reached}" aria-label="Changes applied">${reached} of ${total}</progress>`;
}

function waiting(view: DecisionView, request: PageRequest, isOnPlan: boolean): Html {
  const { organization, approval, path, deletions, deletionCount } = view;
  if (approval === null) {
    return html``;
  }
  const review = isOnPlan
    ? ''
    : link(path, 'Review', { class: 'button primary', label: `Review ${counted(approval.changes, 'change')}` });
  const isApprover = request.viewer.role(organization) === 'approver';
  const words = isApprover ? approvalWords(approval) : `${approvalWords(approval)} Approving needs the role approver.`;
  const refusal =
    isApprover && approval.refusal !== null
      ? html`<p class="notice">You cannot approve this plan: ${shown(approval.refusal, 400)}.</p>`
      : '';
  const isAsked = isApprover && approval.refusal === null && !approval.isComplete;
  return html`<p>${words}</p>
${undoText(view)}
${approval.notice === '' ? '' : html`<p class="notice">${approval.notice}</p>`}
${refusal}
<div class="actions">${review}${isAsked ? approveForm(view, approval) : ''}${isApprover ? rejectForm(view, approval) : ''}</div>
${deletionCount > deletions.length ? html`<p class="faint">The plan lists all ${deletionCount} deletions.</p>` : ''}`;
}

type ApprovalView = NonNullable<DecisionView['approval']>;

function approvalWords({ changes, needed, given, isComplete }: ApprovalView): string {
  const waits = `${counted(changes, 'change')} ${changes === 1 ? 'waits' : 'wait'}`;
  if (isComplete) {
    return `Approved: ${waits} for the next run.`;
  }
  return `${waits} for approval: ${Math.min(given, needed)} of ${needed} approvals so far.`;
}

/** Says what of a deletion can come back. See docs/undo.md. */
function undoText({ deletedKinds }: DecisionView): Html {
  if (deletedKinds.length === 0) {
    return html``;
  }
  const hasOthers = deletedKinds.some((kind) => kind !== 'space' && kind !== 'member');
  const sentences = [
    ...(deletedKinds.includes('space')
      ? ['The platform can restore a deleted space for 7 days; a revert creates a new one, which is empty.']
      : []),
    ...(deletedKinds.includes('member') ? ['A member who is removed has to join again.'] : []),
    ...(hasOthers
      ? [
          `${deletedKinds.length === 1 ? 'This' : 'The rest'} cannot be undone: a revert creates it again, with what the manifests say and nothing else.`,
        ]
      : []),
  ];
  return html`<p class="faint">${sentences.join(' ')}</p>`;
}

function formOf(view: DecisionView, { checksum }: ApprovalView, action: 'approve' | 'reject') {
  const id = view.plan.slice(-8);
  return {
    organization: view.organization,
    action,
    hidden: { checksum, plan: view.plan },
    back: view.path,
    id: `${action}-reason-${id}`,
  };
}

/** A deletion is confirmed: its titles are listed, and a reason is asked for. */
function approveForm(view: DecisionView, approval: ApprovalView): Html {
  const { id, ...form } = formOf(view, approval, 'approve');
  const button = `Approve ${counted(approval.changes, 'change')}`;
  if (view.deletionCount === 0) {
    return actionForm({ ...form, button, class: 'primary' });
  }
  return html`<details class="menu" id="${id}-ask" name="${view.plan.slice(-8)}"><summary>Approve…</summary>
<p>This deletes:</p>
<ul class="deletions" tabindex="0" aria-label="What it deletes">${view.deletions.map(deletion)}</ul>
${actionForm({ ...form, button, class: 'danger', fields: reasonField(id, true) })}
</details>`;
}

function deletion({ kind, address, title, impact }: DecisionView['deletions'][number]): Html {
  return html`<li>${kindWords(kind)} ${impact.startsWith(`"${title}"`) ? shown(impact) : html`<b>${shown(title === '' ? address : title)}</b> ${shown(impact)}`}</li>`;
}

function rejectForm(view: DecisionView, approval: ApprovalView): Html {
  const { id, ...form } = formOf(view, approval, 'reject');
  return html`<details class="menu" id="${id}-ask" name="${view.plan.slice(-8)}"><summary>Reject…</summary>
<p>Removes the approvals of the plan. It stays held until somebody approves it again.</p>
${actionForm({ ...form, button: 'Reject', class: 'danger', fields: reasonField(id, false) })}
</details>`;
}

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
