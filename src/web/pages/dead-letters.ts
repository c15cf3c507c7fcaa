/** Pages of the dead letters of an organization, and of one of them. */
import { html } from 'hono/html';
import type { Json } from '../../core/json.ts';
import { printable } from '../../plan/render/words.ts';
import {
  type DeadLetterPageView,
  type DeadLettersView,
  type DeadLetterView,
  deadLettersView,
  deadLetterView,
} from '../../views/dead-letters.ts';
import { age } from '../html/age.ts';
import { actionForm } from '../html/form.ts';
import { link, pathTo, queryOf } from '../html/link.ts';
import { isOperator } from '../html/operator.ts';
import { table } from '../html/table.ts';
import { shown } from '../html/text.ts';
import { definePage, type Html, type PageRequest } from '../page.ts';

export const deadLettersPage = definePage<DeadLettersView>({
  path: '/o/:organization/dead-letters',
  load: async (backend, { params, query }) => {
    const state = backend.organizations().find(({ id }) => id === params.organization);
    return state === undefined ? null : deadLettersView(state, query.source || null);
  },
  title: ({ organization }) => `Dead letters of ${organization}`,
  render: (view, request) => html`<h1>Dead letters</h1>
<p>Conversations that the platform refused. They stay until somebody retries or discards them.</p>
${sourceLinks(view)}
${view.deadLetters.length === 0 ? html`<p class="sentence">None.</p>` : list(view, request)}`,
  topics: ({ organization }) => [organization],
});

/** An event does not reload it, because every reading of the content is recorded. */
export const deadLetterPage = definePage<DeadLetterPageView>({
  path: '/o/:organization/dead-letters/:key',
  load: async (backend, request) => {
    const { organization = '', key = '' } = request.params;
    const state = backend.organizations().find(({ id }) => id === organization);
    const reader = isOperator(request, organization) ? request.viewer.actor : null;
    return state === undefined ? null : deadLetterView(backend, state, key, reader);
  },
  title: ({ deadLetter }) => `Dead letter ${shown(deadLetter.key)}`,
  render: ({ organization, deadLetter, conversation }, request) => html`<h1>Dead letter ${shown(deadLetter.key)}</h1>
<p class="sentence">The platform refused it ${age(deadLetter.refusedAt, request.now)}: ${shown(deadLetter.reason, LONGEST_REASON)}</p>
<p>Source ${shown(deadLetter.source)}, ${deadLetter.bytes.toLocaleString('en')} bytes.</p>
${buttons(organization, deadLetter, request)}
<h2>Content</h2>
${
  conversation === null
    ? html`<p>Only operators can read the content.</p>`
    : html`<p>Redacted, as it is sent. That you read it is in the audit.</p><pre class="text" tabindex="0">${contentText(conversation)}</pre>`
}
<p>${link(pathTo(['o', organization, 'dead-letters']), 'All dead letters')}</p>`,
  topics: () => [],
});

/** Longest reason that is shown: it names what the platform refused. */
const LONGEST_REASON = 500;

/** Longest content that is shown, in characters. */
const LONGEST_CONTENT = 200_000;

function contentText(conversation: Json): string {
  const text = JSON.stringify(conversation, null, 2);
  const start = text.slice(0, LONGEST_CONTENT).split('\n').map(printable).join('\n');
  return text.length > LONGEST_CONTENT ? `${start}\n…` : start;
}

function sourceLinks({ organization, source, sources }: DeadLettersView): Html {
  if (sources.length < 2 && source === null) {
    return html``;
  }
  const path = pathTo(['o', organization, 'dead-letters']);
  const item = (name: string | null) => {
    const text = name === null ? 'All sources' : shown(name);
    return html`<li>${name === source ? html`<strong>${text}</strong>` : link(`${path}${queryOf({ source: name })}`, text)}</li>`;
  };
  return html`<ul class="filters">${[null, ...sources].map(item)}</ul>`;
}

function list({ organization, deadLetters, more, source }: DeadLettersView, request: PageRequest): Html {
  const all = source === null ? 'all dead letters' : `all dead letters of ${shown(source)}`;
  const hidden: Record<string, string> = source === null ? {} : { source };
  const back = pathTo(['o', organization, 'dead-letters']);
  const form = (action: string, verb: string) =>
    actionForm({ organization, action, hidden, button: `${verb} ${all}`, back });
  return html`${deadLetterTable(organization, deadLetters, request)}
${more === 0 ? '' : html`<p>${more.toLocaleString('en')} more.</p>`}
${isOperator(request, organization) ? html`<div class="actions">${form('dead-retry', 'Retry')}${form('dead-drop', 'Discard')}</div>` : ''}`;
}

/** Renders dead letters without their content. */
export function deadLetterTable(organization: string, letters: readonly DeadLetterView[], request: PageRequest): Html {
  const canAct = isOperator(request, organization);
  const columns = ['Conversation', 'Source', 'Reason', 'Refused', 'Bytes', ...(canAct ? ['Actions'] : [])];
  const rows = letters.map((letter) => [
    link(pathTo(['o', organization, 'dead-letters', letter.key]), shown(letter.key)),
    html`${shown(letter.source)}`,
    html`${shown(letter.reason, LONGEST_REASON)}`,
    age(letter.refusedAt, request.now),
    letter.bytes.toLocaleString('en'),
    ...(canAct ? [buttons(organization, letter, request)] : []),
  ]);
  return table({ caption: 'Dead letters, oldest first', head: columns, rows, empty: 'None.' });
}

function buttons(organization: string, { key }: DeadLetterView, request: PageRequest): Html {
  if (!isOperator(request, organization)) {
    return html``;
  }
  const back = pathTo(['o', organization, 'dead-letters']);
  const form = (action: string, button: string) =>
    actionForm({ organization, action, hidden: { key }, button, label: `${button} ${shown(key)}`, back });
  return html`<div class="actions">${form('dead-retry', 'Retry')}${form('dead-drop', 'Discard')}</div>`;
}
