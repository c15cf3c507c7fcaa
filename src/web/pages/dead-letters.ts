/** Pages of the conversations that the platform refused, and of one of them, which alone has its content. */

import { html } from 'hono/html';
import { ConfigError } from '../../core/errors.ts';
import { isObject, type Json } from '../../core/json.ts';
import { printable } from '../../plan/render/words.ts';
import type { Actor } from '../../store/history.ts';
import type { DeadLetter } from '../../store/outbox/outbox.ts';
import { actionForm } from '../html/form.ts';
import { link, pathTo, queryOf } from '../html/link.ts';
import { table } from '../html/table.ts';
import { age, shown } from '../html/text.ts';
import { isOperator } from '../html/visibility.ts';
import type { Backend, OrganizationState } from '../model/backend.ts';
import { isoTime } from '../model/words.ts';
import { definePage, type Html, type PageRequest } from '../page.ts';

export interface DeadLetterView {
  readonly key: string;
  readonly source: string;
  readonly reason: string;
  readonly refusedAt: string;
  readonly bytes: number;
}

export interface DeadLettersView {
  readonly organization: string;
  /** Source that was selected; null for all. */
  readonly source: string | null;
  readonly sources: readonly string[];
  /** Oldest first. */
  readonly deadLetters: readonly DeadLetterView[];
  /** Number of others. */
  readonly more: number;
}

export interface DeadLetterPageView {
  readonly organization: string;
  readonly deadLetter: DeadLetterView;
  /** Redacted conversation; null for people who may not read it. */
  readonly conversation: Json;
}

/** Number of dead letters in a list. */
const LISTED = 100;

/** Returns the dead letters of an organization, or of one of its sources. Throws StoreError. */
async function deadLettersView(
  { id, conversations }: OrganizationState,
  source: string | null,
): Promise<DeadLettersView> {
  const { sources } = await conversations.status();
  const letters = await conversations.deadLetters(source === null ? {} : { source }, LISTED);
  const all = sources
    .filter((each) => source === null || each.source === source)
    .reduce((sum, { deadLetters }) => sum + deadLetters, 0);
  return {
    organization: id,
    source,
    sources: sources.filter(({ deadLetters }) => deadLetters > 0).map(({ source }) => source),
    deadLetters: letters.map(toDeadLetter),
    more: Math.max(0, all - letters.length),
  };
}

/**
 * Returns a dead letter; null if there is none with this key. With `reader`, also its content, and this is recorded in
 * the audit. Throws StoreError.
 */
async function deadLetterView(
  backend: Backend,
  { id, conversations }: OrganizationState,
  key: string,
  reader: Actor | null,
): Promise<DeadLetterPageView | null> {
  const [letter] = await conversations.deadLetters({ key }, 1);
  if (letter === undefined) {
    return null;
  }
  const conversation = reader === null ? null : await readContent(backend, id, key, reader);
  return { organization: id, deadLetter: toDeadLetter(letter), conversation };
}

/** Returns null if somebody has retried or dropped it meanwhile. */
async function readContent({ actions }: Backend, organization: string, key: string, reader: Actor): Promise<Json> {
  try {
    const answer = await actions.conversations(reader, organization, { subcommand: 'dead show', key });
    return isObject(answer) ? (answer.conversation ?? null) : null;
  } catch (error) {
    if (error instanceof ConfigError) {
      return null;
    }
    throw error;
  }
}

export function toDeadLetter({ key, source, reason, at, bytes }: DeadLetter): DeadLetterView {
  return { key, source, reason, refusedAt: isoTime(at), bytes };
}

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
