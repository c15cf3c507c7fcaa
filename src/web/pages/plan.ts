/** Page of a plan: access, dangerous changes, the others, and last the form that approves exactly these. */

import { html } from 'hono/html';
import { approvalsOf } from '../../plan/guard.ts';
import { type PlanDocument, planToJson, readPlan } from '../../plan/render/document.ts';
import { counted } from '../../plan/render/words.ts';
import { approvedChecksums, authorsNotice, countApprovers, refusalOf } from '../../reconcile/approvals.ts';
import { changeList, differenceSection } from '../html/changes.ts';
import { actionForm, reasonField } from '../html/form.ts';
import { link } from '../html/link.ts';
import { stateBadge } from '../html/state.ts';
import { paging } from '../html/table.ts';
import { age, checksumText, commitText, personText, shown } from '../html/text.ts';
import type { OrganizationState } from '../model/backend.ts';
import { forgeLinks, passPath, planPath, withQuery } from '../model/paths.ts';
import { type ChangeView, comparePlans, type PlanDifference, planContent, statusesOf } from '../model/plan.ts';
import { checkTimes, heldChanges } from '../model/status.ts';
import { isoTime, shortChecksum } from '../model/words.ts';
import { defineOrganizationPage, type Html, type PageRequest } from '../page.ts';

export type PlanView = NonNullable<Awaited<ReturnType<typeof load>>>;

/** Describes a plan, by its checksum or that of its held changes. Null if it is not known any more. */
async function load(state: OrganizationState, request: PageRequest) {
  const plan = presentPlan(state);
  return plan !== null && isPlan(plan, request.params.checksum ?? '')
    ? currentPlan(state, plan, request)
    : pastPlan(state, plan, request);
}

/**
 * Returns the plan with this checksum as JSON, complete while it is the present one. Null if it is not known any more.
 */
async function loadFile(state: OrganizationState, { params: { checksum = '' } }: PageRequest): Promise<object | null> {
  const plan = presentPlan(state);
  if (plan !== null && isPlan(plan, checksum)) {
    return planToJson(plan);
  }
  const kept = await state.history.passOfPlan(checksum);
  return kept === null || readPlan(kept.plan) === null ? null : (kept.plan as object);
}

/** Returns the plan of the last check; null if there is none. */
export function presentPlan({ reconciler }: Pick<OrganizationState, 'reconciler'>): PlanDocument | null {
  return reconciler?.lastCheck?.plan ?? null;
}

/** Returns true if the plan has this checksum, or its held changes have. */
export function isPlan(plan: PlanDocument, checksum: string): boolean {
  return plan.checksum === checksum || plan.heldChecksum === checksum;
}

/** Compares a plan of the history with the present one. Null if either is not known any more. */
export async function planDifference(
  state: Pick<OrganizationState, 'reconciler' | 'history'>,
  checksum: string,
): Promise<PlanDifference | null> {
  const plan = presentPlan(state);
  const kept = await state.history.passOfPlan(checksum);
  const before = kept === null ? null : readPlan(kept.plan);
  return plan === null || before === null ? null : comparePlans(before, plan);
}

async function currentPlan(state: OrganizationState, plan: PlanDocument, { query, viewer, now }: PageRequest) {
  const { id, config, reconciler, record } = state;
  const covered = [plan.checksum, ...approvalsOf(plan, approvedChecksum(plan))];
  const decisions = (await record.decisions()).filter(({ checksum }) => covered.includes(checksum));
  const unique = [...new Map(decisions.map((each) => [`${each.verdict} ${each.by.name} ${each.at}`, each])).values()];
  const { freshness } = await checkTimes(state, now);
  const desired = reconciler?.lastDesired ?? null;
  const changes = heldChanges(plan);
  const end = reconciler?.lastEnd;
  const authors = reconciler?.lastCheck?.authors ?? null;
  return {
    organization: id,
    ...planContent(
      id,
      plan,
      forgeLinks(config.source),
      firstChange(query),
      statusesOf(end?.plan === plan ? end.results : []),
    ),
    subject: desired?.commit === plan.commit ? (desired?.subject ?? '') : '',
    /** Age of the comparison with the platform that the plan is of. */
    freshness,
    /** True if it is the last plan of the organization. */
    isCurrent: true,
    /** Why the plan is not what it seems; empty if it is. */
    notice: freshness.isStale ? 'The platform may have changed since this plan was made.' : '',
    /** Decision that the plan waits for; null if nothing does, or the plan is not the present one. */
    approval:
      changes === 0
        ? null
        : {
            /** Checksum that an approval has to carry. */
            checksum: approvedChecksum(plan),
            /** Changes that it releases. */
            changes,
            /** People who have to approve, and those who have. */
            needed: config.approvals.count,
            given: countApprovers(unique, config.approvals, authors),
            /** True if enough people have approved and nobody has rejected it: the next pass applies it, unless it is paused. */
            isComplete: approvedChecksums(decisions, config.approvals, authors).includes(approvedChecksum(plan)),
            /** Why this person cannot approve; null if they can, as far as the plan is concerned. */
            refusal: refusalOf(viewer.actor, authors, config.approvals),
            /** Sentence on what the check of the authors could not cover; empty if it covers everything. */
            notice: authorsNotice(authors, config.approvals),
          },
    decisions: unique.map(({ by, verdict, reason, at }) => ({
      by: by.name,
      method: by.method,
      verdict,
      reason,
      at: isoTime(at),
    })),
    /** The present plan and what differs, for a plan that is not the present one. */
    current: null,
    /** Changes that the history did not keep. */
    notKept: 0,
    /** Pass that made a plan of the history. */
    pass: null,
  };
}

/** Returns the index of the first change to show. */
function firstChange({ from }: PageRequest['query']): number {
  return Number(from ?? 0);
}

/** Returns the checksum that releases what waits, and nothing else. */
function approvedChecksum({ verdict, checksum, heldChecksum }: PlanDocument): string {
  return verdict.state === 'held' ? checksum : (heldChecksum ?? checksum);
}

async function pastPlan(
  { id, config, history }: OrganizationState,
  present: PlanDocument | null,
  { params, query, now }: PageRequest,
) {
  const kept = await history.passOfPlan(params.checksum ?? '');
  const plan = kept === null ? null : readPlan(kept.plan);
  if (kept === null || plan === null) {
    return null;
  }
  const { number, subject, endedAt } = kept.pass;
  const notKept = plan.notKept?.changes ?? 0;
  const partial =
    notKept === 0 ? '' : ` ${counted(notKept, 'more change')} ${notKept === 1 ? 'was' : 'were'} not kept.`;
  return {
    organization: id,
    ...planContent(id, plan, forgeLinks(config.source), firstChange(query), statusesOf(kept.changes)),
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

export const planPage = defineOrganizationPage<PlanView>({
  path: '/plans/:checksum',
  load,
  title: ({ organization }) => `Plan for ${shown(organization, 80)}`,
  render: (view, request) => html`<h1>Plan ${checksumText(view.checksum)}</h1>
${head(view, request.now)}
${accessSection(view)}
${changesSections(view)}
${notesSection(view)}
${decisionSection(view, request)}`,
  topic: ({ organization }) => organization,
});

/** The whole plan as JSON, as `octavo plan` prints it. */
export const planFilePage = defineOrganizationPage<object>({
  path: '/plans/:checksum/plan.json',
  load: loadFile,
  title: () => 'Plan',
  render: null,
  fileName: ({ params }) => `plan-${shortChecksum(params.checksum ?? '')}.json`,
  topic: null,
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
<ul class="access">${access.map((each) => html`<li>${shown(each.person)} ${stateBadge(EFFECTS[each.effect])} ${each.effect === 'changes' ? 'in' : 'to'} ${shown(each.place)}</li>`)}</ul>
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

type ApprovalView = NonNullable<PlanView['approval']>;

function approvalWords({ needed, given, isComplete }: ApprovalView): string {
  if (isComplete) {
    return 'Approved. The next pass applies it.';
  }
  return needed === 1 ? 'One approval is needed.' : `${needed} approvals are needed; ${given} given so far.`;
}

function decision({ by, method, verdict, reason, at }: PlanView['decisions'][number], now: number): Html {
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
