/** Page of a plan: access, dangerous changes, the others, and last the form that approves exactly these. */

import { html } from 'hono/html';
import { type PlanDocument, planToJson, readPlan } from '../../plan/render/document.ts';
import type { Effect } from '../../plan/render/effects.ts';
import { counted, kindWords } from '../../plan/render/words.ts';
import {
  type ChangeView,
  changeRows,
  comparePlans,
  differenceSection,
  type PlanDifference,
  type PlanSelection,
  planContent,
  statusesOf,
} from '../html/changes.ts';
import { approvalView, decisionCard, decisionsOn, decisionView } from '../html/decision.ts';
import {
  age,
  checksumText,
  commitText,
  type IconName,
  icon,
  link,
  paging,
  personText,
  shown,
  stateBadge,
} from '../html/elements.ts';
import { defineOrganizationPage, type Html, type OrganizationState, type PageRequest } from '../model/page.ts';
import { checkTimes } from '../model/status.ts';
import { forgeLinks, isoTime, passPath, planPath, shortChecksum, withQuery } from '../model/words.ts';

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
  const decisions = decisionsOn(plan, await record.decisions());
  const unique = [...new Map(decisions.map((each) => [`${each.verdict} ${each.by.name} ${each.at}`, each])).values()];
  const { freshness } = await checkTimes(state, now);
  const desired = reconciler?.lastDesired ?? null;
  const end = reconciler?.lastEnd;
  const results = end?.plan === plan ? end.results : [];
  const reached = (status: string) => results.filter((result) => result.status === status).length;
  return {
    organization: id,
    ...planContent(id, plan, forgeLinks(config.source), selectionOf(query), statusesOf(results)),
    /** Changes that the last run has applied, and could not apply. */
    results: { applied: reached('applied'), failed: reached('failed') },
    subject: desired?.commit === plan.commit ? (desired?.subject ?? '') : '',
    /** Age of the comparison with the platform that the plan is of. */
    freshness,
    /** True if it is the last plan of the organization. */
    isCurrent: true,
    /** Why the plan is not what it seems; empty if it is. */
    notice: freshness.isStale ? 'The platform may have changed since this plan was made.' : '',
    /** Decision that the plan waits for; null if nothing does, or the plan is not the present one. */
    approval: await approvalView(state, plan, viewer.actor),
    /** The card of what it waits for, or of what is being applied; null if neither. */
    decision: await decisionView(state, viewer.actor),
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

function selectionOf({ from, effect = '', q: text = '' }: PageRequest['query']): PlanSelection {
  return { from: Number(from ?? 0), effect, text };
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
    ...planContent(id, plan, forgeLinks(config.source), selectionOf(query), statusesOf(kept.changes)),
    subject,
    freshness: {
      asOf: isoTime(endedAt),
      ageSeconds: Math.floor((now - endedAt) / 1000),
      intervalSeconds: null,
      isStale: true,
    },
    isCurrent: false,
    results: null,
    notice: `This is not the present plan, and cannot be approved.${partial}`,
    approval: null,
    decision: null,
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
  title: ({ checksum }) => `Plan ${shown(shortChecksum(checksum))}`,
  render: (view, request) => html`${titleSection(view, request.now)}
${view.decision === null ? '' : decisionCard(view.decision, request, { isOnPlan: true })}
${view.current === null ? '' : differenceSection(view.current)}
${view.verdict.reasons.length === 0 ? '' : html`<ul>${view.verdict.reasons.map((reason) => html`<li>${shown(reason, 400)}</li>`)}</ul>`}
${changesSection(view, request)}
${notesSection(view)}
${decisionsSection(view, request)}
${footer(view, request.now)}`,
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

function titleSection(view: PlanView, now: number): Html {
  const { commit, commitUrl, subject, notice, pass, freshness, sentence, decision } = view;
  const made = html`planned ${age(freshness.asOf, now)}${pass === null ? '' : html` in run ${link(pass.path, `#${pass.number}`)}`}`;
  return html`<h1>Plan ${checksumText(view.checksum)} <span class="badge">${verdictBadge(view)}</span></h1>
${notice === '' ? '' : html`<p class="notice">${notice}</p>`}
${decision !== null ? '' : html`<p class="lead">${sentence === '' ? 'This plan changes nothing.' : `${shown(sentence, 400)}.`}</p><p class="faint">${commitText(commit, commitUrl)} ${shown(subject)}, ${made}</p>`}`;
}

/** Facts that only few people ask for. */
function footer(
  { organization, checksum, cost, summaryText, commit, commitUrl, freshness }: PlanView,
  now: number,
): Html {
  return html`<dl class="facts footer">
<div><dt>Summary</dt><dd>${summaryText}</dd></div>
<div><dt>Commit</dt><dd>${commitText(commit, commitUrl)}, planned ${age(freshness.asOf, now)}</dd></div>
<div><dt>Cost</dt><dd>${cost}</dd></div>
<div><dt>Checksum</dt><dd><code>${shown(checksum)}</code></dd></div>
<div><dt>Download</dt><dd>${link(`${planPath(organization, checksum)}/plan.json`, 'The whole plan as JSON')}</dd></div>
</dl>`;
}

function verdictBadge({ verdict, approval, decision, results, total }: PlanView): Html {
  if (results === null) {
    return stateBadge({ tone: 'old', word: 'not the present plan' });
  }
  if (verdict.state === 'refused') {
    return stateBadge({ tone: 'bad', word: 'refused' });
  }
  if (decision?.running) {
    return stateBadge({ tone: 'busy', word: 'applying' });
  }
  if (results.failed > 0) {
    return stateBadge({ tone: 'bad', word: `${results.failed} failed` });
  }
  if (approval === null) {
    const isApplied = total > 0 && results.applied === total;
    return stateBadge({ tone: 'ok', word: isApplied ? 'applied' : 'needs no approval' });
  }
  return approval.isComplete
    ? stateBadge({ tone: 'busy', word: 'approved, not applied yet' })
    : stateBadge({ tone: 'wait', word: approval.given === 0 ? 'needs approval' : 'needs more approvals' });
}

const ACCESS = {
  gains: { tone: 'busy', word: 'gains access' },
  loses: { tone: 'busy', word: 'loses access' },
  changes: { tone: 'busy', word: 'changes' },
} as const;

const HEADINGS: Readonly<Record<Effect, readonly [title: string, icon: IconName]>> = {
  deleted: ['Deleted', 'trash'],
  access: ['Access', 'shield-lock'],
  created: ['Created', 'diff-added'],
  updated: ['Updated', 'diff-modified'],
  moved: ['Moved', 'diff-renamed'],
};

/** The changes under what they do, and then by kind, with a filter and a choice of the form. */
function changesSection(view: PlanView, { query }: PageRequest): Html {
  const { changes, effects, total, selected, from, next, organization, checksum, selection } = view;
  if (total === 0) {
    return html``;
  }
  const path = planPath(organization, checksum);
  const isSplit = query.view === 'split';
  const kept = { effect: selection.effect, q: selection.text, view: isSplit ? 'split' : '' };
  const groups = Map.groupBy(changes, ({ effect }) => effect);
  const sections = effects.map(({ effect, count, kinds }) => {
    const own = groups.get(effect) ?? [];
    const access = effect === 'access' ? accessList(view) : html``;
    return own.length === 0 && String(access) === ''
      ? ''
      : effectSection(effect, effect === 'access' ? view.accessTotal : count, kinds, own, access, isSplit);
  });
  const isAccessOnly = effects.every(({ effect }) => effect !== 'access') && view.access.length > 0;
  return html`${filterForm(path, view)}
<p class="count" role="status">${selected === total ? counted(total, 'change') : `${selected} of ${counted(total, 'change')}`}${selected > changes.length ? `, ${from + 1} to ${from + changes.length} on this page` : ''} · ${link(withQuery(path, { ...kept, view: isSplit ? '' : 'split' }), isSplit ? 'In one column' : 'Side by side')}</p>
${isAccessOnly ? html`<section aria-labelledby="effect-access"><h2 id="effect-access">${icon('shield-lock')} Access <span class="count">${view.accessTotal}</span></h2>${accessList(view)}</section>` : ''}
${sections}
${paging(from === 0 ? null : withQuery(path, kept), next === null ? null : withQuery(path, { ...kept, from: next }), 'changes')}`;
}

function filterForm(path: string, { effects, selection, total }: PlanView): Html {
  return total <= FEW
    ? html``
    : html`<form class="filter live" method="get" action="${path}" role="search">
<p class="field"><label for="q">Title or address</label> <input id="q" name="q" type="search" value="${selection.text}" autocomplete="off"></p>
<p class="field"><label for="effect">Changes</label> <select id="effect" name="effect"><option value="">all</option>
${effects.map(({ effect, count }) => html`<option value="${effect}"${effect === selection.effect ? html` selected` : ''}>${HEADINGS[effect][0].toLowerCase()} (${count})</option>`)}</select></p>
<button>Filter</button>
</form>`;
}

/** Changes that need no filter. */
const FEW = 10;

function effectSection(
  effect: Effect,
  count: number,
  kinds: PlanView['effects'][number]['kinds'],
  changes: readonly ChangeView[],
  access: Html,
  isSplit: boolean,
): Html {
  const [title, name] = HEADINGS[effect];
  const id = `effect-${effect}`;
  const counts = new Map(kinds.map(({ kind, count: of }) => [kind, of]));
  const lists = [...Map.groupBy(changes, ({ kind }) => kind)].map(([kind, own]) => {
    const heading = counted(counts.get(kind) ?? own.length, kindWords(kind));
    return html`<h3>${heading.charAt(0).toUpperCase()}${heading.slice(1)}</h3>
${changeRows(own, isSplit)}`;
  });
  return html`<section class="effect ${effect}" aria-labelledby="${id}"><h2 id="${id}">${icon(name)} ${title} <span class="count">${count}</span></h2>
${access}${lists}</section>`;
}

function accessList({ access, accessTotal }: PlanView): Html {
  const more = accessTotal - access.length;
  return access.length === 0
    ? html``
    : html`<ul class="rows access">${access.map((each) => html`<li><b>${shown(each.person)}</b> ${stateBadge(ACCESS[each.effect])} ${each.effect === 'changes' ? 'in' : 'to'} ${shown(each.place)}</li>`)}</ul>
${more === 0 ? '' : html`<p>${more} more are on the other pages of this plan.</p>`}`;
}

function notesSection({ notes }: PlanView): Html {
  if (notes.length === 0) {
    return html``;
  }
  return html`<section aria-labelledby="notes"><h2 id="notes">Notes</h2>
<dl class="facts">${notes.map(({ name, text }) => html`<div><dt>${name}</dt><dd>${shown(text, 1000)}</dd></div>`)}</dl></section>`;
}

function decisionsSection({ decisions }: PlanView, { now }: PageRequest): Html {
  return decisions.length === 0
    ? html``
    : html`<section aria-labelledby="decisions"><h2 id="decisions">Decisions</h2>
<ul class="rows">${decisions.map((each) => decision(each, now))}</ul></section>`;
}

function decision({ by, method, verdict, reason, at }: PlanView['decisions'][number], now: number): Html {
  const tone = verdict === 'approved' ? 'ok' : 'bad';
  return html`<li>${stateBadge({ tone, word: verdict })} <span>by ${personText(by, method)}${reason === '' ? '' : html`: “${shown(reason, 500)}”`}</span><span class="end faint">${age(at, now)}</span></li>`;
}
