/** Page of one organization. */
import { html } from 'hono/html';
import { counted, spanWords } from '../../plan/render/words.ts';
import { organizationPath, withQuery } from '../../views/model/paths.ts';
import type { ResourcePage } from '../../views/model/resource-list.ts';
import { type OrganizationView, organizationView } from '../../views/organization.ts';
import { outcomeBars } from '../charts/outcome-bars.ts';
import { age } from '../html/age.ts';
import { actionForm } from '../html/form.ts';
import { link } from '../html/link.ts';
import { paging } from '../html/paging.ts';
import { pauseForm, pauseNotice } from '../html/pauses.ts';
import { resourceList } from '../html/resources.ts';
import { RESOURCE_LABELS, STATUS_LABELS, stateBadge } from '../html/state.ts';
import { commitText, shown, shownLines } from '../html/text.ts';
import { definePage, type Html, type PageRequest } from '../page.ts';
import { passTable } from './passes.ts';

export const organizationPage = definePage<OrganizationView>({
  path: '/o/:organization',
  load: (backend, { params, query, now }) =>
    organizationView(backend, params.organization ?? '', {
      filter: {
        kind: query.kind ?? '',
        state: query.state ?? '',
        text: query.q ?? '',
        after: query.after ?? '',
      },
      now,
    }),
  title: ({ title }) => shown(title, 80),
  render: (view, request) => html`<h1>${shown(view.title)}</h1>
${stateSection(view, request)}
${waitingSection(view)}
${problemsSection(view)}
${resourcesSection(view)}
${passesSection(view, request.now)}
${actionsSection(view, request)}`,
  topics: ({ id }) => [id],
});

function stateSection(view: OrganizationView, { now }: PageRequest): Html {
  const { state, sentence, commit, commitUrl, freshness, nextCheck, pollSeconds, plan, webhook, replica } = view;
  const poll = pollSeconds === null ? '' : html` New commits are fetched every ${spanWords(pollSeconds * 1000)}.`;
  return html`<p class="sentence ${state}">${stateBadge(STATUS_LABELS[state])} ${shown(sentence)}</p>
<dl class="facts">
<div><dt>Last check</dt><dd>${age(freshness.asOf, now)}</dd></div>
<div><dt>Next check</dt><dd>${nextCheck === null ? 'when something changes' : age(nextCheck, now)}.${poll}</dd></div>
<div><dt>Commit</dt><dd>${commitText(commit, commitUrl)}</dd></div>
${webhook === null ? '' : html`<div><dt>Webhook</dt><dd>${webhook.lastAt === null ? '' : html`${age(webhook.lastAt, now)}: `}${webhook.sentence}</dd></div>`}
${replica === null ? '' : html`<div><dt>Replica</dt><dd>${link('/replicas', shown(replica))}</dd></div>`}
${plan === null ? '' : html`<div><dt>Last plan</dt><dd>${link(plan.path, counted(plan.changes, 'change'))}</dd></div>`}
</dl>
${view.pauses.map(pauseNotice)}`;
}

function waitingSection({ waiting }: OrganizationView): Html {
  const items = waiting.map(({ text, path }) => html`<li>${link(path, shown(text))}</li>`);
  return html`<section aria-labelledby="waiting"><h2 id="waiting">Needs attention</h2>
${items.length === 0 ? html`<p class="empty">Nothing.</p>` : html`<ul>${items}</ul>`}</section>`;
}

function problemsSection({ problems, brokenBy }: OrganizationView): Html {
  if (problems.length === 0) {
    return html``;
  }
  return html`<section aria-labelledby="problems"><h2 id="problems">Problems in the manifests</h2>
${brokenBy === null ? '' : html`<p>Invalid since commit ${commitText(brokenBy.commit, brokenBy.commitUrl)}${brokenBy.author === null ? '' : html` by ${shown(brokenBy.author)}`}${brokenBy.subject === '' ? '' : html`: ${shown(brokenBy.subject)}`}</p>`}
<ul class="problems">${problems.map(
    ({ file, line, address, message }) =>
      html`<li><code>${shown(file)}:${line}</code> ${address === '' ? '' : html`<code>${shown(address)}</code> `}${shownLines(message)}</li>`,
  )}</ul></section>`;
}

function resourcesSection({ id, list }: OrganizationView): Html {
  if (list === null) {
    return html``;
  }
  const { filter, rows, selected, total, next } = list;
  const path = organizationPath(id);
  const query = { kind: filter.kind, state: filter.state, q: filter.text };
  const isFiltered = Object.values(query).some((value) => value !== '');
  return html`<section aria-labelledby="resources"><h2 id="resources">Resources</h2>
${filterForm(path, list)}
<p class="count" role="status">${isFiltered ? `${selected} of ${counted(total, 'resource')}` : counted(total, 'resource')}</p>
${rows.length === 0 ? html`<p class="empty">No resource matches. ${link(path, 'Show all')}</p>` : resourceList(rows)}
${paging(
  filter.after === '' ? null : withQuery(path, query),
  next === null ? null : withQuery(path, { ...query, after: next }),
  'resources',
)}</section>`;
}

function filterForm(path: string, { filter, kinds, states }: ResourcePage): Html {
  const option = (value: string, text: string, chosen: string) =>
    html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`;
  return html`<form class="filter" method="get" action="${path}" role="search">
<p class="field"><label for="q">Address or title</label> <input id="q" name="q" type="search" value="${filter.text}" autocomplete="off"></p>
<p class="field"><label for="kind">Kind</label> <select id="kind" name="kind"><option value="">all</option>
${kinds.map(({ kind, count }) => option(kind, `${kind} (${count})`, filter.kind))}</select></p>
<p class="field"><label for="state">State</label> <select id="state" name="state"><option value="">all</option>
${states.map((state) => option(state, RESOURCE_LABELS[state].word, filter.state))}</select></p>
<button>Filter</button>
</form>`;
}

function passesSection({ id, passes }: OrganizationView, now: number): Html {
  return html`<section aria-labelledby="passes"><h2 id="passes">Last passes</h2>
${
  passes.length === 0
    ? ''
    : outcomeBars(
        'outcomes',
        passes.map(({ endedAt, ...pass }) => ({ ...pass, at: endedAt })),
      )
}
${passTable(passes.slice(0, 5), now)}
<p>${link(organizationPath(id, '/passes'), 'All passes')}</p></section>`;
}

function actionsSection({ id, pauses, path, list }: OrganizationView, { viewer }: PageRequest): Html {
  const role = viewer.role(id);
  if (list === null || role === null || role === 'viewer') {
    return html``;
  }
  const pause = pauses.find(({ address }) => address === '') ?? null;
  return html`<section aria-labelledby="actions"><h2 id="actions">Actions</h2>
${actionForm({ organization: id, action: 'reconcile', button: 'Check now', back: path })}
${pauseForm({ organization: id, address: '', pause, back: path })}</section>`;
}
