/** Page of the conditions: those that fire, those that may fire soon, and those that were resolved lately. */

import { html } from 'hono/html';
import { CONDITION_RULES, type ConditionCode, type Severity } from '../../core/condition-codes.ts';
import { inhibited, isFlapping } from '../../notify/conditions.ts';
import { counted } from '../../plan/render/words.ts';
import type { Condition, Fact } from '../../store/notifications.ts';
import { age, link, organizationLink, type StateLabel, shown, stateBadge } from '../html/elements.ts';
import {
  canSee,
  definePage,
  type Html,
  type NotificationReader,
  type PageRequest,
  type Visibility,
  visibilityOf,
} from '../model/page.ts';
import { isoTime } from '../model/words.ts';

/** Number of conditions that are read, and of those that are shown in each list. */
const READ = 5000;
const SHOWN = 200;
const SHOWN_INHIBITED = 10;
/** Milliseconds for which a resolved condition is shown. */
const LATELY = 24 * 3_600_000;
const SEVERITIES: readonly Severity[] = ['page', 'warning', 'info'];

export type ConditionsView = Awaited<ReturnType<typeof conditionsView>>;

/**
 * Returns the conditions that a person may see. `organization`: only its conditions, and what explains them; null: all of
 * them. Throws StoreError.
 */
async function conditionsView(
  notifications: Pick<NotificationReader, 'conditions'>,
  visibility: Visibility,
  now: number,
  organization: string | null,
) {
  const all = await notifications.conditions(READ);
  const present = all.filter(({ state, clearSince }) => state !== 'resolved' && clearSince === null);
  const causes = inhibited(present.map(({ fact }) => fact));
  const visible = all
    .filter(({ fact }) => canSee(visibility, fact.scope.organization))
    .filter(({ fact }) => organization === null || isAbout(organization, fact, causes));
  const isVisible = new Set(visible.map(({ fact }) => fact));
  const toView = (condition: Condition) => conditionView(condition, causes, isVisible);
  // Somebody who may not see the cause still sees what it causes.
  const isHeldBack = ({ state, fact }: Condition) => {
    const cause = causes.get(fact);
    return state === 'pending' && cause !== undefined && isVisible.has(cause);
  };
  const firing = visible.filter(({ state }) => state === 'firing').toSorted(bySeverity);
  const pending = visible.filter((each) => each.state === 'pending' && !isHeldBack(each)).toSorted(bySeverity);
  const resolved = visible
    .filter(({ state, resolvedAt }) => state === 'resolved' && resolvedAt !== null && now - resolvedAt < LATELY)
    .toSorted((a, b) => (b.resolvedAt ?? 0) - (a.resolvedAt ?? 0));
  return {
    sentence: sentenceOf(firing.length, pending.length, visibility),
    /** The most severe first. */
    firing: firing.slice(0, SHOWN).map(toView),
    /** They fire unless they end soon. */
    pending: pending.slice(0, SHOWN).map(toView),
    /** Newest first. */
    resolved: resolved.slice(0, SHOWN).map(toView),
    /** Number of firing and pending conditions that are not shown. */
    notShown: Math.max(0, firing.length - SHOWN) + Math.max(0, pending.length - SHOWN),
  };
}

/** Returns true for a fact about an organization, and for one that explains such a fact. */
function isAbout(organization: string, fact: Fact, causes: ReadonlyMap<Fact, Fact>): boolean {
  const isOwn = ({ scope }: Fact) => scope.organization === organization;
  return isOwn(fact) || [...causes].some(([caused, cause]) => cause === fact && isOwn(caused));
}

export type ConditionView = ReturnType<typeof conditionView>;

/** Describes a condition. `isVisible`: facts that the person may see. */
function conditionView(condition: Condition, causes: ReadonlyMap<Fact, Fact>, isVisible: ReadonlySet<Fact>) {
  const { id, fact, state, starts } = condition;
  const { code, subject, details, path } = fact;
  const caused = [...causes].filter(([each, cause]) => cause === fact && isVisible.has(each)).map(([each]) => each);
  return {
    ...shortView(fact),
    id,
    state,
    /** Such as the name of a source; may be empty. */
    subject,
    details,
    /** Page that shows it; null if there is none. */
    path,
    severity: CONDITION_RULES[code].severity,
    since: isoTime(fact.since),
    firedAt: isoTime(condition.firedAt),
    resolvedAt: isoTime(condition.resolvedAt),
    isFlapping: state === 'firing' && isFlapping({ starts }),
    /** Number of conditions that it explains, so that nobody is notified of them, and the first of these. */
    inhibits: caused.length,
    inhibited: caused.slice(0, SHOWN_INHIBITED).map(shortView),
  };
}

function shortView({ code, scope, summary }: Fact) {
  return { code, title: CONDITION_RULES[code].title, organization: scope.organization, summary };
}

function bySeverity(a: Condition, b: Condition): number {
  const rank = ({ fact }: Condition) => SEVERITIES.indexOf(CONDITION_RULES[fact.code].severity);
  return rank(a) - rank(b) || b.since - a.since || (a.id < b.id ? -1 : 1);
}

function sentenceOf(firing: number, pending: number, { seesAll, seesNone }: Visibility): string {
  if (seesNone) {
    return 'You have no role in any organization, so you see no alerts';
  }
  if (firing === 0 && pending === 0) {
    return seesAll ? 'Nothing is wrong' : 'Nothing is wrong in the organizations that you may see';
  }
  const fire = firing === 0 ? 'No alert is on' : `${firing} ${firing === 1 ? 'alert is' : 'alerts are'} on`;
  return pending === 0 ? fire : `${fire}; ${pending} may follow`;
}

export const conditionsPage = definePage<ConditionsView>({
  path: '/alerts',
  load: async (backend, { viewer, now, query: { organization = null } }) => {
    const visibility = visibilityOf(backend, viewer);
    const isVisible = backend.organizations().some(({ id }) => id === organization && visibility.isVisible(id));
    return organization === null || isVisible
      ? conditionsView(backend.notifications, visibility, now, organization)
      : null;
  },
  title: () => 'Alerts',
  render: (
    view,
    request,
  ) => html`<div class="head"><h1>Alerts</h1><p>${link('/deliveries', 'Messages about alerts')}</p></div>
<p class="lead">${view.sentence}.</p>
${section('On now', view.firing, request)}
${section('Soon, unless they end', view.pending, request)}
${view.notShown === 0 ? '' : html`<p>${view.notShown.toLocaleString('en')} others are on or may follow.</p>`}
${section('Resolved in the last 24 hours', view.resolved, request)}`,
  topics: () => ['notifications'],
});

const SEVERITY_LABELS: Readonly<Record<Severity, StateLabel>> = {
  page: { tone: 'bad', word: 'urgent' },
  warning: { tone: 'busy', word: 'warning' },
  info: { tone: 'none', word: 'info' },
};

const RESOLVED: StateLabel = { tone: 'ok', word: 'resolved' };
const WAITS: StateLabel = { tone: 'wait', word: 'needs approval' };

/** Alerts about a plan that waits for a person. */
const PLAN_CODES: ReadonlySet<ConditionCode> = new Set(['waiting-for-approval', 'plan-refused']);

/** Titles in the words of the pages, where those of notifications have others. */
const TITLES: Readonly<Partial<Record<ConditionCode, string>>> = { 'pass-failing': 'Runs fail' };

/** Returns the title of an alert in the words of the pages. */
export function alertTitle(code: ConditionCode): string {
  return TITLES[code] ?? CONDITION_RULES[code].title;
}

function section(heading: string, conditions: readonly ConditionView[], request: PageRequest): Html {
  return conditions.length === 0
    ? html``
    : html`<h2>${heading} <span class="count">${conditions.length}</span></h2>
<ul class="rows">${conditions.slice(0, LISTED).map((each) => item(each, request))}</ul>
${conditions.length <= LISTED ? '' : html`<p class="faint">${conditions.length - LISTED} more are not listed. The overview of an organization leads to its own.</p>`}`;
}

/** Alerts that the page lists of each kind; its JSON has more. */
const LISTED = 40;

function item(condition: ConditionView, request: PageRequest): Html {
  const { titleOf, now } = request;
  const { code, path, severity, state, organization, since, resolvedAt } = condition;
  const title = alertTitle(code);
  const label = state === 'resolved' ? RESOLVED : code === 'waiting-for-approval' ? WAITS : SEVERITY_LABELS[severity];
  const about =
    organization === null
      ? html`<span class="faint">all organizations</span>`
      : organizationLink(organization, titleOf(organization));
  const review =
    state !== 'resolved' && path !== null && PLAN_CODES.has(code)
      ? html` ${link(path, 'Review plan', { class: 'button', label: `Review plan: ${title}` })}`
      : '';
  const when = resolvedAt === null ? html`started ${age(since, now)}` : html`resolved ${age(resolvedAt, now)}`;
  return html`<li><div class="line">${stateBadge(label)} ${path === null ? html`<b>${title}</b>` : link(path, title, { class: 'name' })} ${about}<span class="end faint">${when}</span></div>
<span class="rest">${shown(reasonOf(condition), LONGEST_SUMMARY)}${notes(condition)}</span>${review}${details(condition, titleOf)}</li>
`;
}

const LONGEST_SUMMARY = 400;

/** Returns what the summary says in addition to the title that it begins with. */
function reasonOf({ title, summary }: Pick<ConditionView, 'title' | 'summary'>): string {
  return summary.startsWith(`${title}: `) ? summary.slice(title.length + 2) : summary;
}

function notes({ isFlapping }: ConditionView): Html {
  return isFlapping ? html` <span class="faint">It starts and ends again and again.</span>` : html``;
}

function details({ id, details: lines, inhibits, inhibited }: ConditionView, titleOf: PageRequest['titleOf']): Html {
  const explained = inhibited.map((each) => {
    const { organization, code } = each;
    const who = organization === null ? '' : html`${organizationLink(organization, titleOf(organization))}: `;
    return html`<li>${who}${alertTitle(code)}: ${shown(reasonOf(each))}</li>`;
  });
  const rest = inhibits - inhibited.length;
  const summary = [
    ...(lines.length === 0 ? [] : [counted(lines.length, 'detail')]),
    ...(inhibits === 0 ? [] : [`${counted(inhibits, 'alert')} explained by it`]),
  ].join(', ');
  return lines.length === 0 && inhibits === 0
    ? html``
    : html`<details id="c-${id}"><summary>${summary}</summary><ul>${lines.map((line) => html`<li>${shown(line)}</li>`)}${explained}${
        rest === 0 ? '' : html`<li>${rest.toLocaleString('en')} more</li>`
      }</ul></details>`;
}
