/** Page of all organizations, worst first. */
import { html } from 'hono/html';
import { counted } from '../../plan/render/words.ts';
import { withQuery } from '../../views/model/paths.ts';
import type { OrganizationSummary } from '../../views/model/summary.ts';
import { type OrganizationsView, organizationsView } from '../../views/organizations.ts';
import { age } from '../html/age.ts';
import { link } from '../html/link.ts';
import { paging } from '../html/paging.ts';
import { STATUS_LABELS, stateBadge } from '../html/state.ts';
import { shown } from '../html/text.ts';
import { definePage, type Html } from '../page.ts';

export const organizationsPage = definePage<OrganizationsView>({
  path: '/',
  load: (backend, { viewer, query, now }) =>
    organizationsView(backend, {
      text: query.q ?? '',
      state: query.state ?? '',
      after: query.after ?? '',
      isVisible: (id) => viewer.role(id) !== null,
      now,
    }),
  title: () => 'Organizations',
  render: (view, { now }) => html`<h1>Organizations</h1>
${view.total === 0 ? html`<p class="empty">There is no organization that you may see.</p>` : content(view, now)}`,
  topics: () => ['*'],
});

function content(view: OrganizationsView, now: number): Html {
  const { filter, organizations, selected, total, next } = view;
  const query = { q: filter.text, state: filter.state };
  const isFiltered = filter.text !== '' || filter.state !== '';
  return html`${filterForm(view)}
<p class="count" role="status">${isFiltered ? `${selected} of ${counted(total, 'organization')}` : counted(total, 'organization')}, worst first</p>
${view.replicas === null ? '' : html`<p>${link('/replicas', counted(view.replicas, 'replica'))}</p>`}
${organizations.length === 0 ? html`<p class="empty">No organization matches. ${link('/', 'Show all')}</p>` : html`<ul class="cards">${organizations.map((each) => card(each, now))}</ul>`}
${paging(null, next === null ? null : withQuery('/', { ...query, after: next }), 'organizations')}`;
}

function filterForm({ filter, states }: OrganizationsView): Html {
  return html`<form class="filter" method="get" action="/" role="search">
<p class="field"><label for="q">Name</label> <input id="q" name="q" type="search" value="${filter.text}" autocomplete="off"></p>
<p class="field"><label for="state">State</label> <select id="state" name="state"><option value="">all</option>
${states.map(
  ({ state, count }) =>
    html`<option value="${state}"${state === filter.state ? html` selected` : ''}>${STATUS_LABELS[state].word} (${count})</option>`,
)}</select></p>
<button>Filter</button>
</form>`;
}

function card({ id, title, path, state, sentence, freshness }: OrganizationSummary, now: number): Html {
  const name = title === id ? '' : html` <span class="faint">${shown(id)}</span>`;
  // The sentences of these states say their age themselves.
  const hasAge = state === 'in-sync' || state === 'stale' || freshness.asOf === null;
  const checked = hasAge ? '' : html` <span class="faint">(checked ${age(freshness.asOf, now)})</span>`;
  return html`<li>${stateBadge(STATUS_LABELS[state])} ${link(path, shown(title, 80))}${name}
<p>${shown(sentence)}${checked}</p></li>
`;
}
