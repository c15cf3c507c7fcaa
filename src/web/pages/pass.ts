/** Page of one pass: what it found, did and could not do. */
import { html } from 'hono/html';
import { counted } from '../../plan/render/words.ts';
import { organizationPath } from '../../views/model/paths.ts';
import { secondsWords } from '../../views/model/words.ts';
import { type PassView, passView } from '../../views/passes.ts';
import { age } from '../html/age.ts';
import { actionWord, changeList } from '../html/changes.ts';
import { link } from '../html/link.ts';
import { OUTCOME_LABELS, RESULT_LABELS, stateBadge } from '../html/state.ts';
import { table } from '../html/table.ts';
import { commitText, shown, shownLines } from '../html/text.ts';
import { definePage, type Html } from '../page.ts';
import { requestWords } from './passes.ts';

export const passPage = definePage<PassView>({
  path: '/o/:organization/passes/:number',
  load: async (backend, { params }) =>
    /^\d{1,15}$/.test(params.number ?? '') ? passView(backend, params.organization ?? '', Number(params.number)) : null,
  title: ({ number, organization }) => `Pass ${number} of ${shown(organization, 80)}`,
  render: (
    view,
    { now },
  ) => html`<p class="up">${link(organizationPath(view.organization, '/passes'), 'All passes')}</p>
<h1>Pass #${view.number}</h1>
${facts(view, now)}
${view.error === null ? '' : html`<section aria-labelledby="error"><h2 id="error">Error</h2>${shownLines(view.error)}</section>`}
${results(view)}
${
  view.plan === null
    ? ''
    : html`<section aria-labelledby="plan"><h2 id="plan">Plan</h2>
<p>${view.plan.summaryText}. ${view.planPath === null ? '' : link(view.planPath, 'The plan with all changes')}</p>
${changeList(view.plan.changes)}</section>`
}`,
  topics: ({ organization }) => [organization],
});

function facts(view: PassView, now: number): Html {
  const { outcome, trigger, commit, commitUrl, subject, author, times } = view;
  const since = times === 1 ? '' : html`; ${times} passes with the same result since ${age(view.firstEndedAt, now)}`;
  const by = author === null ? '' : html` <span class="faint">by ${shown(author)}</span>`;
  return html`<dl class="facts">
<div><dt>Outcome</dt><dd>${stateBadge(OUTCOME_LABELS[outcome])}</dd></div>
<div><dt>Ended</dt><dd>${age(view.endedAt, now)}${since}</dd></div>
<div><dt>Cause</dt><dd>${shown(trigger)}</dd></div>
<div><dt>Commit</dt><dd>${commitText(commit, commitUrl)} ${shown(subject)}${by}</dd></div>
<div><dt>Changes</dt><dd>${view.summary}</dd></div>
<div><dt>Requests</dt><dd>${requestWords(view)}${view.refused === 0 ? '' : ' because of the rate limit'}</dd></div>
<div><dt>Duration</dt><dd>${secondsWords(view.milliseconds)}</dd></div>
</dl>`;
}

function results({ changes, unlisted, notKept }: PassView): Html {
  const kept =
    notKept === 0
      ? html``
      : html`<p>${counted(notKept, changes.length === 0 ? 'change' : 'more change')} not kept.</p>`;
  if (changes.length === 0) {
    return kept;
  }
  const rows = changes.map(({ address, path, action, status, error }) => [
    link(path, shown(address)),
    actionWord(action),
    html`${stateBadge(RESULT_LABELS.get(status) ?? { tone: 'none', word: shown(status) })}`,
    error === null ? '' : shown(error, 400),
  ]);
  return html`<section aria-labelledby="results"><h2 id="results">Results</h2>
${table({ caption: 'Changes of this pass', head: ['Resource', 'Change', 'Result', 'Error'], rows, empty: '' })}
${unlisted === 0 ? '' : html`<p>${unlisted} more are not listed.</p>`}
${kept}</section>`;
}
