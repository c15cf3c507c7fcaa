/** The card of a decision: what waits, in words, with what a person can do about it, and what happens after that. */
import { html } from 'hono/html';
import { counted, kindWords } from '../../plan/render/words.ts';
import type { DecisionView } from '../model/decision.ts';
import type { Html, PageRequest } from '../page.ts';
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
