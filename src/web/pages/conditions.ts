/** Page of the conditions of all organizations. */
import { html } from 'hono/html';
import type { Severity } from '../../core/condition-codes.ts';
import { counted } from '../../plan/render/words.ts';
import { type ConditionsView, type ConditionView, conditionsView } from '../../views/conditions.ts';
import { age } from '../html/age.ts';
import { link, pathTo } from '../html/link.ts';
import { type StateLabel, stateBadge } from '../html/state.ts';
import { table } from '../html/table.ts';
import { shown } from '../html/text.ts';
import { visibilityOf } from '../html/visibility.ts';
import { definePage, type Html } from '../page.ts';

export const conditionsPage = definePage<ConditionsView>({
  path: '/conditions',
  load: async (backend, { viewer, now, query: { organization = null } }) => {
    const visibility = visibilityOf(backend, viewer);
    const isVisible = backend.organizations().some(({ id }) => id === organization && visibility.isVisible(id));
    return organization === null || isVisible
      ? conditionsView(backend.notifications, visibility, now, organization)
      : null;
  },
  title: () => 'Conditions',
  render: (view, { now }) => html`<h1>Conditions</h1>
<p class="sentence">${view.sentence}</p>
<p>${link('/deliveries', 'Messages about conditions')}</p>
${section('Firing', 'Conditions that fire, the most severe first', view.firing, now)}
${section('Pending', 'Conditions that fire unless they end soon', view.pending, now)}
${view.notShown === 0 ? '' : html`<p>${view.notShown.toLocaleString('en')} more are not shown.</p>`}
${section('Recently resolved', 'Conditions that were resolved in the last 24 hours', view.resolved, now)}`,
  topics: () => ['notifications'],
});

const SEVERITY_LABELS: Readonly<Record<Severity, StateLabel>> = {
  page: { tone: 'bad', word: 'page' },
  warning: { tone: 'wait', word: 'warning' },
  info: { tone: 'busy', word: 'info' },
};

function section(heading: string, caption: string, conditions: readonly ConditionView[], now: number): Html {
  const head = ['Condition', 'Severity', 'Organization', 'Since', 'What and why'];
  const rows = conditions.map((each) => toRow(each, now));
  return html`<h2>${heading}</h2>
${table({ caption, head, rows, empty: 'None.' })}`;
}

function toRow(condition: ConditionView, now: number): readonly Html[] {
  const { title, path, severity, state, organization, since, resolvedAt } = condition;
  const label = state === 'resolved' ? ({ tone: 'ok', word: 'resolved' } as const) : SEVERITY_LABELS[severity];
  return [
    path === null ? html`${title}` : link(path, title),
    stateBadge(label),
    organization === null ? html`<span class="faint">all</span>` : organizationLink(organization),
    html`${age(since, now)}${resolvedAt === null ? '' : html`, resolved ${age(resolvedAt, now)}`}`,
    html`${shown(condition.summary, LONGEST_SUMMARY)}${notes(condition)}${details(condition)}`,
  ];
}

const LONGEST_SUMMARY = 400;

function organizationLink(organization: string): Html {
  return link(pathTo(['o', organization]), shown(organization));
}

function notes({ isFlapping }: ConditionView): Html {
  return isFlapping ? html` <span class="faint">It starts and ends again and again.</span>` : html``;
}

function details({ id, details: lines, inhibits, inhibited }: ConditionView): Html {
  const explained = inhibited.map(({ organization, title, summary }) => {
    const who = organization === null ? '' : html`${organizationLink(organization)}: `;
    return html`<li>${who}${title}. ${shown(summary)}</li>`;
  });
  const rest = inhibits - inhibited.length;
  const summary = [
    ...(lines.length === 0 ? [] : [counted(lines.length, 'detail')]),
    ...(inhibits === 0 ? [] : [`${counted(inhibits, 'condition')} explained by it`]),
  ].join(', ');
  return lines.length === 0 && inhibits === 0
    ? html``
    : html`<details id="c-${id}"><summary>${summary}</summary><ul>${lines.map((line) => html`<li>${shown(line)}</li>`)}${explained}${
        rest === 0 ? '' : html`<li>${rest.toLocaleString('en')} more</li>`
      }</ul></details>`;
}
