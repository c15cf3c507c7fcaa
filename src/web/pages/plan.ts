/** Page of a plan: access, dangerous changes, the others, and last the form that approves exactly these. */
import { html } from 'hono/html';
import { planPath, withQuery } from '../../views/model/paths.ts';
import type { AccessView, ChangeView } from '../../views/model/plan-content.ts';
import { shortChecksum } from '../../views/model/words.ts';
import { type ApprovalView, type DecisionView, type PlanView, planJson, planView } from '../../views/plan.ts';
import { age } from '../html/age.ts';
import { personText } from '../html/audit-line.ts';
import { changeList } from '../html/changes.ts';
import { differenceSection } from '../html/difference.ts';
import { actionForm, reasonField } from '../html/form.ts';
import { link } from '../html/link.ts';
import { paging } from '../html/paging.ts';
import { stateBadge } from '../html/state.ts';
import { checksumText, commitText, shown } from '../html/text.ts';
import { definePage, type Html, type PageRequest } from '../page.ts';

export const planPage = definePage<PlanView>({
  path: '/o/:organization/plans/:checksum',
  load: (backend, { params, query, viewer, now }) =>
    planView(backend, params.organization ?? '', {
      checksum: params.checksum ?? '',
      from: Number(query.from ?? 0),
      viewer: viewer.actor,
      now,
    }),
  title: ({ organization }) => `Plan for ${shown(organization, 80)}`,
  render: (view, request) => html`<h1>Plan ${checksumText(view.checksum)}</h1>
${head(view, request.now)}
${accessSection(view)}
${changesSections(view)}
${notesSection(view)}
${decisionSection(view, request)}`,
  topics: ({ organization }) => [organization],
});

/** The whole plan as JSON, as `octavo plan` prints it. */
export const planFile = definePage<object>({
  path: '/o/:organization/plans/:checksum/plan.json',
  load: (backend, { params }) => planJson(backend, params.organization ?? '', params.checksum ?? ''),
  title: () => 'Plan',
  render: null,
  fileName: ({ params }) => `plan-${shortChecksum(params.checksum ?? '')}.json`,
  topics: () => [],
});

function head(view: PlanView, now: number): Html {
  const { commit, commitUrl, subject, freshness, notice, current, pass, verdict, summaryText, cost } = view;
  return html`${notice === '' ? '' : html`<p class="notice">${notice}</p>`}
${current === null ? '' : differenceSection(current)}
<p class="sentence">${verdictBadge(view)} ${summaryText}</p>
${verdict.reasons.length === 0 ? '' : html`<ul>${verdict.reasons.map((reason) => html`<li>${shown(reason, 400)}</li>`)}</ul>`}
<dl class="facts">
<div><dt>Commit</dt><dd>${commitText(commit, commitUrl)} ${shown(subject)}</dd></div>
<div><dt>Made</dt><dd>${age(freshness.asOf, now)}${pass === null ? '' : html`, in pass ${link(pass.path, `#${pass.number}`)}`}</dd></div>
<div><dt>Cost</dt><dd>${cost}</dd></div>
<div><dt>Checksum</dt><dd><code>${shown(view.checksum)}</code></dd></div>
<div><dt>Download</dt><dd>${link(`${planPath(view.organization, view.checksum)}/plan.json`, 'The whole plan as JSON')}</dd></div>
</dl>`;
}

function verdictBadge({ verdict, approval, isCurrent }: PlanView): Html {
  if (!isCurrent) {
    return stateBadge({ tone: 'old', word: 'not the present plan' });
  }
  if (verdict.state === 'refused') {
    return stateBadge({ tone: 'bad', word: 'refused' });
  }
  if (approval === null) {
    return stateBadge({ tone: 'ok', word: 'needs no approval' });
  }
  return approval.isComplete
    ? stateBadge({ tone: 'busy', word: 'approved, not applied yet' })
    : stateBadge({ tone: 'wait', word: approval.given === 0 ? 'needs approval' : 'needs more approvals' });
}

const EFFECTS = {
  gains: { tone: 'wait', word: 'gains access' },
  loses: { tone: 'bad', word: 'loses access' },
  changes: { tone: 'busy', word: 'changes' },
} as const;

function accessSection({ access, accessTotal }: PlanView): Html {
  if (accessTotal === 0) {
    return html``;
  }
  const more = accessTotal - access.length;
  return html`<section aria-labelledby="access"><h2 id="access">Who gains or loses access (${accessTotal})</h2>
<ul class="access">${access.map((each: AccessView) => html`<li>${shown(each.person)} ${stateBadge(EFFECTS[each.effect])} ${each.effect === 'changes' ? 'in' : 'to'} ${shown(each.place)}</li>`)}</ul>
${more === 0 ? '' : html`<p>${more} more are on the other pages of this plan.</p>`}</section>`;
}

function changesSections({ changes, from, total, next, organization, checksum }: PlanView): Html {
  const section = (id: string, title: string, shownChanges: readonly ChangeView[]) =>
    shownChanges.length === 0
      ? ''
      : html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${changeList(shownChanges)}</section>`;
  const path = planPath(organization, checksum);
  const part =
    total > changes.length
      ? html`<p class="count">Changes ${from + 1} to ${from + changes.length} of ${total}, the most dangerous first</p>`
      : '';
  return html`${part}
${section(
  'dangerous',
  'Deletions and held changes',
  changes.filter(({ isDangerous }) => isDangerous),
)}
${section(
  'others',
  'Other changes',
  changes.filter(({ isDangerous }) => !isDangerous),
)}
${total === 0 ? html`<p class="empty">This plan changes nothing.</p>` : ''}
${paging(from === 0 ? null : path, next === null ? null : withQuery(path, { from: next }), 'changes')}`;
}

function notesSection({ notes }: PlanView): Html {
  if (notes.length === 0) {
    return html``;
  }
  return html`<section aria-labelledby="notes"><h2 id="notes">Notes</h2>
<dl class="facts">${notes.map(({ name, text }) => html`<div><dt>${name}</dt><dd>${shown(text, 1000)}</dd></div>`)}</dl></section>`;
}

function decisionSection(view: PlanView, request: PageRequest): Html {
  const { approval, decisions } = view;
  if (approval === null && decisions.length === 0) {
    return html``;
  }
  return html`<section aria-labelledby="approval"><h2 id="approval">Approval</h2>
${decisions.length === 0 ? '' : html`<ul>${decisions.map((each) => decision(each, request.now))}</ul>`}
${
  approval === null
    ? ''
    : html`<p>${approvalWords(approval)}</p>
${decisionForms(view, approval, request)}`
}</section>`;
}

function approvalWords({ needed, given, isComplete }: ApprovalView): string {
  if (isComplete) {
    return 'Approved. The next pass applies it.';
  }
  return needed === 1 ? 'One approval is needed.' : `${needed} approvals are needed; ${given} given so far.`;
}

function decision({ by, method, verdict, reason, at }: DecisionView, now: number): Html {
  const tone = verdict === 'approved' ? 'ok' : 'bad';
  return html`<li>${stateBadge({ tone, word: verdict })} ${personText(by, method)} ${age(at, now)}${reason === '' ? '' : html`: ${shown(reason, 500)}`}</li>`;
}

function decisionForms(
  { organization, checksum, total, changes }: PlanView,
  approval: ApprovalView,
  { viewer }: PageRequest,
): Html {
  if (viewer.role(organization) !== 'approver') {
    return html`<p>Approving needs the role approver.</p>`;
  }
  const count = `${approval.changes} ${approval.changes === 1 ? 'change' : 'changes'}`;
  const common = {
    organization,
    hidden: { checksum: approval.checksum, plan: checksum },
    back: planPath(organization, checksum),
  };
  const partial =
    total > changes.length
      ? html`<p class="notice">This page shows ${changes.length} of the ${total} changes of the plan.</p>`
      : '';
  return html`${partial}
${approval.notice === '' ? '' : html`<p class="notice">${approval.notice}</p>`}
${
  approval.isComplete
    ? ''
    : approval.refusal === null
      ? actionForm({
          ...common,
          action: 'approve',
          button: `Approve ${count}`,
          class: 'primary',
          fields: reasonField('approve-reason', false),
        })
      : html`<p class="notice">You cannot approve this plan: ${shown(approval.refusal, 400)}.</p>`
}
<details class="ask" id="reject"><summary>Reject</summary>
<p>Removes the approvals of the plan. It stays held until somebody approves it again.</p>
${actionForm({ ...common, action: 'reject', button: `Reject ${count}`, class: 'danger', fields: reasonField('reject-reason', false) })}
</details>`;
}
