/** Page of all organizations, worst first. */

import { html } from 'hono/html';
import { counted } from '../../plan/render/words.ts';
import { link } from '../html/link.ts';
import { STATUS_LABELS, stateBadge } from '../html/state.ts';
import { paging } from '../html/table.ts';
import { age, shown } from '../html/text.ts';
import type { Backend } from '../model/backend.ts';
import { withQuery } from '../model/paths.ts';
import { ORGANIZATION_STATUSES, type OrganizationSummary, summarize } from '../model/status.ts';
import { definePage, type Html, type PageRequest } from '../page.ts';

/** Organizations of one page. */
const PAGE_SIZE = 100;

export type OrganizationsView = Awaited<ReturnType<typeof load>>;

/** Lists the organizations that a person may see. */
async function load(backend: Backend, { viewer, query, now }: PageRequest) {
  const { q: text = '', state = '', after = '' } = query;
  const visible = backend.organizations().filter(({ id }) => viewer.role(id) !== null);
  const all = await Promise.all(visible.map(async (each) => summarize(each, await each.history.pauses(now), now)));
  const wanted = text.toLowerCase();
  const selected = all
    .filter((each) => state === '' || each.state === state)
    .filter(({ id, title }) => wanted === '' || `${id}\n${title}`.toLowerCase().includes(wanted))
    .toSorted(compare);
  const start = selected.findIndex(({ id }) => id === after) + 1;
  const organizations = selected.slice(start, start + PAGE_SIZE);
  const isLast = start + organizations.length >= selected.length;
  return {
    version: backend.version,
    /** Number of replicas; null if there is no fleet. */
    replicas: backend.fleet()?.replicas.length ?? null,
    filter: { text, state },
    /** States that occur, with the number of organizations. */
    states: ORGANIZATION_STATUSES.map((each) => ({
      state: each,
      count: all.filter((summary) => summary.state === each).length,
    })).filter(({ count }) => count > 0),
    organizations,
    /** Organizations that the filter selects. */
    selected: selected.length,
    total: all.length,
    /** Value of `after` for the next page; null on the last one. */
    next: isLast ? null : (organizations.at(-1)?.id ?? null),
  };
}

function compare(a: OrganizationSummary, b: OrganizationSummary): number {
  return ORGANIZATION_STATUSES.indexOf(a.state) - ORGANIZATION_STATUSES.indexOf(b.state) || (a.id < b.id ? -1 : 1);
}

export const organizationsPage = definePage<OrganizationsView>({
  path: '/',
  load,
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
