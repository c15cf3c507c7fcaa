/** Page of all organizations, worst first. */

import { html } from 'hono/html';
import { counted } from '../../plan/render/words.ts';
import { formatCount } from '../html/charts.ts';
import { decisionCard, decisionView } from '../html/decision.ts';
import { age, commitText, link, organizationName, paging, STATUS_LABELS, shown, stateBadge } from '../html/elements.ts';
import { type Backend, definePage, type Html, type PageRequest } from '../model/page.ts';
import { ORGANIZATION_STATUSES, type OrganizationSummary, summarize } from '../model/status.ts';
import { withQuery } from '../model/words.ts';

/** Organizations of one page. */
const PAGE_SIZE = 50;

/** Decisions that are shown as cards; the others are in the list. */
const MAX_DECISIONS = 3;

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
  const waiting = selected.filter((each) => each.state === 'held').slice(0, MAX_DECISIONS);
  const states = new Map(visible.map((each) => [each.id, each]));
  const decisions = await Promise.all(
    waiting.map(async ({ id, title }) => {
      const state = states.get(id);
      const decision = state === undefined ? null : await decisionView(state, viewer.actor);
      return decision === null ? [] : [{ ...decision, title }];
    }),
  );
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
    /** Decisions that the first of those that wait ask for; only on the first page. */
    decisions: after === '' ? decisions.flat() : [],
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
  render: (view, request) => html`<h1>Organizations</h1>
${view.decisions.map((each) => decisionCard(each, request, { title: each.title }))}
${view.total === 0 ? html`<p class="empty">There is no organization that you may see.</p>` : content(view, request.now)}`,
  topics: () => ['*'],
});

function content(view: OrganizationsView, now: number): Html {
  const { filter, organizations, selected, total, next } = view;
  const query = { q: filter.text, state: filter.state };
  const isFiltered = filter.text !== '' || filter.state !== '';
  return html`${figures(view)}
${filterForm(view)}
<p class="count" role="status">${isFiltered ? `${selected} of ${counted(total, 'organization')}` : counted(total, 'organization')}, worst first${view.replicas === null ? '' : html` · ${link('/replicas', counted(view.replicas, 'replica'))}`}</p>
${organizations.length === 0 ? html`<p class="empty">No organization matches. ${link('/', 'Show all')}</p>` : html`<ul class="rows organizations">${organizations.map((each) => row(each, now))}</ul>`}
${paging(null, next === null ? null : withQuery('/', { ...query, after: next }), 'organizations')}`;
}

/** The number of organizations in each state, the worst first; each links to these. */
function figures({ states, total }: OrganizationsView): Html {
  if (total < 2) {
    return html``;
  }
  const items = states.map(({ state, count }) => {
    const { tone, word } = STATUS_LABELS[state];
    return html`<li><a class="${tone}" href="${withQuery('/', { state })}"><b>${formatCount(count)}</b> ${word}</a></li>`;
  });
  return html`<ul class="figures">${items}</ul>`;
}

function filterForm({ filter, states, total }: OrganizationsView): Html {
  return total < FEW
    ? html``
    : html`<form class="filter live" method="get" action="/" role="search">
<p class="field"><label for="q">Name</label> <input id="q" name="q" type="search" value="${filter.text}" autocomplete="off"></p>
<p class="field"><label for="state">State</label> <select id="state" name="state"><option value="">all</option>
${states.map(
  ({ state, count }) =>
    html`<option value="${state}"${state === filter.state ? html` selected` : ''}>${STATUS_LABELS[state].word} (${count})</option>`,
)}</select></p>
<button>Filter</button>
</form>`;
}

/** Organizations that need no filter. */
const FEW = 5;

/** The state, the name with the commit and the last check below it, and what is the case in a sentence. */
function row({ id, title, path, state, sentence, commit, freshness }: OrganizationSummary, now: number): Html {
  const checked = freshness.asOf === null ? 'not checked yet' : html`checked ${age(freshness.asOf, now)}`;
  return html`<li>${stateBadge(STATUS_LABELS[state])} ${link(path, organizationName(id, title), { class: 'name' })}
<span class="words${state === 'in-sync' ? ' faint' : ''}">${shown(sentence)}</span><span class="below">${commit === null ? '' : html`${commitText(commit, null)}, `}${checked}</span></li>
`;
}
