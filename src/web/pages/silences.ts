/** Page of the silences, with the forms that add and end them. */
import { html } from 'hono/html';
import { CONDITION_CODES, CONDITION_RULES } from '../../core/condition-codes.ts';
import { type SilencesView, type SilenceView, silencesView } from '../../views/silences.ts';
import { age } from '../html/age.ts';
import { personText } from '../html/audit-line.ts';
import { reasonField } from '../html/form.ts';
import { link, pathTo } from '../html/link.ts';
import { table } from '../html/table.ts';
import { shown } from '../html/text.ts';
import { canOperate, visibilityOf } from '../html/visibility.ts';
import { definePage, type Html, type PageRequest } from '../page.ts';

interface SilencesPageView extends SilencesView {
  /** Organizations that the person may silence. */
  readonly operated: readonly string[];
  /** True if the person may also silence what concerns all organizations. */
  readonly operatesAll: boolean;
}

export const silencesPage = definePage<SilencesPageView>({
  path: '/silences',
  load: async (backend, { viewer, now }) => {
    const ids = backend.organizations().map(({ id }) => id);
    const view = await silencesView(backend.notifications, ids, visibilityOf(backend, viewer), now);
    return {
      ...view,
      operated: ids.filter((id) => canOperate(backend, viewer, id)),
      operatesAll: canOperate(backend, viewer, null),
    };
  },
  title: () => 'Silences',
  render: (view, request) => html`<h1>Silences</h1>
<p>While a silence lasts, nobody is notified of the conditions that it matches. What somebody was notified of before is still resolved.</p>
<p>${link('/conditions', 'Conditions')} · ${link('/deliveries', 'Deliveries')}</p>
<h2>Active</h2>
${silenceTable('Silences that have not ended', view.active, view, request.now)}
${view.operated.length === 0 ? '' : addForm(view, request)}
<h2>Ended</h2>
${silenceTable('Silences that have ended, newest first', view.ended, null, request.now)}`,
  topics: () => ['notifications'],
});

/** Lengths of a silence; the values are those of `octavo silence add --for`. */
const LENGTHS = [
  ['1h', '1 hour'],
  ['4h', '4 hours'],
  ['24h', '1 day'],
  ['168h', '1 week'],
  ['720h', '30 days'],
] as const;

/** `rights`: those of the person who may end them; null: they have ended. */
function silenceTable(
  caption: string,
  silences: readonly SilenceView[],
  rights: SilencesPageView | null,
  now: number,
): Html {
  const canEnd = ({ organization }: SilenceView) =>
    rights !== null && (organization === null ? rights.operatesAll : rights.operated.includes(organization));
  const withActions = silences.some(canEnd);
  const head = ['Condition', 'Organization', 'Reason', 'By', 'Since', 'End', ...(withActions ? ['Actions'] : [])];
  const rows = silences.map((each) => [
    each.code === null ? html`All conditions` : html`${CONDITION_RULES[each.code].title}`,
    each.organization === null
      ? html`<span class="faint">all</span>`
      : link(pathTo(['o', each.organization]), shown(each.organization)),
    html`${shown(each.reason)}`,
    personText(each.by, each.method),
    age(each.since, now),
    age(each.endedAt ?? each.until, now),
    ...(withActions ? [canEnd(each) ? endForm(each) : html``] : []),
  ]);
  return table({ caption, head, rows, empty: 'None.' });
}

function endForm({ id, code, organization }: SilenceView): Html {
  const what = code === null ? 'all conditions' : CONDITION_RULES[code].title;
  const label = `End silence: ${what}, ${organization === null ? 'all organizations' : shown(organization)}`;
  return html`<form class="action" method="post" action="/silences">
<input type="hidden" name="action" value="silence-end"><input type="hidden" name="id" value="${id}">
<button aria-label="${label}">End silence</button>
</form>`;
}

function addForm({ operated, operatesAll }: SilencesPageView, { query }: PageRequest): Html {
  const { code = '', organization = '' } = query;
  const isOpen = code !== '' || organization !== '';
  const all = operatesAll ? [['', 'all organizations'] as const] : [];
  const organizations = [...all, ...operated.map((id) => [id, shown(id)] as const)];
  const codes = [
    ['', 'all conditions'],
    ...CONDITION_CODES.map((each) => [each, CONDITION_RULES[each].title]),
  ] as const;
  return html`<details class="ask" id="silence"${isOpen ? html` open` : ''}><summary>Add a silence</summary>
<form class="action" method="post" action="/silences">
<input type="hidden" name="action" value="silence">
${choice('code', 'Condition', codes as readonly (readonly [string, string])[], code)}
${choice('organization', 'Organization', organizations, organization)}
${reasonField('silence-reason', true)}
${choice('for', 'For', LENGTHS, '4h')}
<button class="primary">Add silence</button>
</form></details>`;
}

function choice(name: string, label: string, options: readonly (readonly [string, string])[], selected: string): Html {
  return html`<p class="field"><label for="silence-${name}">${label}</label> <select id="silence-${name}" name="${name}">${options.map(
    ([value, text]) => html`<option value="${value}"${value === selected ? html` selected` : ''}>${text}</option>`,
  )}</select></p>`;
}
