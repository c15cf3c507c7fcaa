/** Page of one resource. */

import { html } from 'hono/html';
import { spanWords } from '../../plan/render/words.ts';
import { organizationPath, resourcePath } from '../../views/model/paths.ts';
import { type FieldView, type PastChangeView, type ResourceView, resourceView } from '../../views/resource.ts';
import { age } from '../html/age.ts';
import { actionWord, changeList, sourceText } from '../html/changes.ts';
import { link } from '../html/link.ts';
import { pauseForm, pauseNotice } from '../html/pauses.ts';
import { RESOURCE_LABELS, RESULT_LABELS, stateBadge } from '../html/state.ts';
import { table } from '../html/table.ts';
import { commitText, shown, shownLines } from '../html/text.ts';
import { definePage, type Html, type PageRequest } from '../page.ts';

export const resourcePage = definePage<ResourceView>({
  path: '/o/:organization/r/*',
  load: (backend, { params, now }) =>
    resourceView(backend, params.organization ?? '', { address: params['*'] ?? '', now }),
  title: ({ address }) => shown(address, 80),
  render: (view, request) => html`<p class="up">${link(organizationPath(view.organization), 'All resources')}${
    view.parent === null ? '' : html` · ${link(view.parent.path, shown(view.parent.address, 80))}`
  }</p>
<h1>${shown(view.address)}</h1>
${facts(view, request.now)}
${view.pause === null ? '' : pauseNotice(view.pause)}
${changesSection(view)}
${fieldsSection(view, request.now)}
${historySection(view.history, request.now)}
${actionsSection(view, request)}`,
  topics: ({ organization }) => [organization],
});

function facts(view: ResourceView, now: number): Html {
  const { state, title, kind, source, id, freshness, pending, declaredPause } = view;
  return html`<p class="sentence">${stateBadge(RESOURCE_LABELS[state])} ${stateSentence(view)}</p>
<dl class="facts">
${title === '' ? '' : html`<div><dt>Title</dt><dd>${shown(title)}</dd></div>`}
<div><dt>Kind</dt><dd>${shown(kind)}</dd></div>
<div><dt>Declared at</dt><dd>${source === null ? 'No manifest declares it' : sourceText(source)}</dd></div>
<div><dt>Id</dt><dd>${id === null ? html`<span class="faint">none</span>` : html`<code>${shown(id)}</code>`}</dd></div>
<div><dt>Last check</dt><dd>${age(freshness.asOf, now)}</dd></div>
${pending === null ? '' : html`<div><dt>Pending</dt><dd>${shown(pending)}</dd></div>`}
${declaredPause === null ? '' : html`<div><dt>Paused in the manifest</dt><dd>${shown(declaredPause.reason)}${declaredPause.until === null ? '' : `, until ${shown(declaredPause.until)}`}</dd></div>`}
</dl>`;
}

function stateSentence({ state, changes, freshness, source }: ResourceView): string {
  const since = freshness.ageSeconds === null ? '' : ` ${spanWords(freshness.ageSeconds * 1000)} ago`;
  if (source === null && changes.length === 0) {
    return 'It is not declared, and the platform did not have it.';
  }
  switch (state) {
    case 'in-sync':
      return `The platform had it as declared${since}.`;
    case 'stale':
      return `The platform had it as declared${since}. It has not been checked since then.`;
    case 'unknown':
      return 'It has not been checked since the daemon started.';
    default:
      return changes.some(({ isDrift }) => isDrift) ? 'Somebody changed it on the platform.' : '';
  }
}

function changesSection({ changes, state, planPath }: ResourceView): Html {
  const waiting = changes.filter(({ status }) => status !== 'applied');
  if (waiting.length === 0) {
    return html``;
  }
  const errors = waiting.flatMap(({ error }) => (error === null ? [] : [shownLines(error)]));
  const heading = waiting.every(({ isDrift }) => isDrift) ? 'Drift' : 'What differs';
  return html`<section aria-labelledby="changes"><h2 id="changes">${heading}</h2>
${changeList(waiting)}
${planPath === null ? '' : html`<p>${link(planPath, 'The plan that it is part of')}</p>`}
${state === 'failed' ? errors : ''}</section>`;
}

function fieldsSection({ fields, freshness }: ResourceView, now: number): Html {
  const rows = fields.map((field) => [
    html`<code>${shown(field.name)}</code>`,
    html`${field.declaredText === '' ? html`<span class="faint">not declared</span>` : html`<code>${shown(field.declaredText)}</code>`}`,
    liveCell(field),
  ]);
  return html`<section aria-labelledby="fields"><h2 id="fields">Fields</h2>
<p class="faint">Values of the platform are those of the last check, ${age(freshness.asOf, now)}. Large texts are shown as digests.</p>
${table({ caption: 'Declared and live values', head: ['Field', 'Declared', 'On the platform'], rows, empty: 'No fields are declared.' })}</section>`;
}

function liveCell({ liveText, differs, declaredText }: FieldView): Html {
  const text =
    liveText === ''
      ? html`<span class="faint">${declaredText === '' ? 'not known' : 'none'}</span>`
      : html`<code>${shown(liveText)}</code>`;
  return differs ? html`${stateBadge({ tone: 'busy', word: 'differs' })} ${text}` : text;
}

function historySection(history: readonly PastChangeView[], now: number): Html {
  const rows = history.map(({ at, action, status, error, commit, commitUrl, subject, pass }) => [
    age(at, now),
    actionWord(action),
    html`${stateBadge(RESULT_LABELS.get(status) ?? { tone: 'none', word: shown(status) })}${error === null ? '' : html` ${shown(error)}`}`,
    html`${commitText(commit, commitUrl)} ${shown(subject, 80)}`,
    link(pass.path, `#${pass.number}`),
  ]);
  return html`<section aria-labelledby="history"><h2 id="history">Last changes</h2>
${table({ caption: 'Changes by Octavo, newest first', head: ['Time', 'Change', 'Result', 'Commit', 'Pass'], rows, empty: 'Octavo has not changed it since its history begins.' })}</section>`;
}

function actionsSection(
  { organization, address, pause, source, changes }: ResourceView,
  { viewer }: PageRequest,
): Html {
  const role = viewer.role(organization);
  const isKnown = source !== null || changes.length > 0;
  if (!isKnown || role === null || role === 'viewer' || (pause !== null && pause.address === '')) {
    return html``;
  }
  const back = resourcePath(organization, address);
  return html`<section aria-labelledby="actions"><h2 id="actions">Actions</h2>
${pauseForm({ organization, address, pause, back })}</section>`;
}
