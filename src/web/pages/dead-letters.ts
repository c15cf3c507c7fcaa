/** Pages of the conversations that the platform refused, and of one of them, which alone has its content. */

import { html } from 'hono/html';
import { ConfigError } from '../../core/errors.ts';
import { isObject, type Json } from '../../core/json.ts';
import { printable } from '../../plan/render/words.ts';
import type { DeadLetter } from '../../store/outbox/outbox.ts';
import { actionForm } from '../html/form.ts';
import { link, queryOf } from '../html/link.ts';
import { table } from '../html/table.ts';
import { age, shown } from '../html/text.ts';
import { isOperator } from '../html/visibility.ts';
import type { OrganizationState } from '../model/backend.ts';
import { deadLetterPath, organizationPath } from '../model/paths.ts';
import { isoTime } from '../model/words.ts';
import { defineOrganizationPage, type Html, type PageRequest } from '../page.ts';

/** Number of dead letters in a list. */
const LISTED = 100;

type DeadLettersView = Awaited<ReturnType<typeof loadList>>;

/** Returns the dead letters of an organization, or of one of its sources. Throws StoreError. */
async function loadList({ id, conversations }: OrganizationState, { query }: PageRequest) {
  const source = query.source || null;
  const { sources } = await conversations.status();
  const letters = await conversations.deadLetters(source === null ? {} : { source }, LISTED);
  const all = sources
    .filter((each) => source === null || each.source === source)
    .reduce((sum, { deadLetters }) => sum + deadLetters, 0);
  return {
    organization: id,
    /** Source that was selected; null for all. */
    source,
    sources: sources.filter(({ deadLetters }) => deadLetters > 0).map(({ source }) => source),
    /** Oldest first. */
    deadLetters: letters.map(toDeadLetter),
    /** Number of others. */
    more: Math.max(0, all - letters.length),
  };
}

type DeadLetterPageView = NonNullable<Awaited<ReturnType<typeof loadLetter>>>;

/**
 * Returns a dead letter; null if there is none with this key. For an operator, also its content, and this is recorded in
 * the audit. Throws StoreError.
 */
async function loadLetter({ id, conversations }: OrganizationState, request: PageRequest) {
  const { key = '' } = request.params;
  const [letter] = await conversations.deadLetters({ key }, 1);
  return letter === undefined
    ? null
    : {
        organization: id,
        deadLetter: toDeadLetter(letter),
        /** Redacted conversation; null for people who may not read it. */
        conversation: isOperator(request, id) ? await readContent(request, id, key) : null,
      };
}

/** Returns null if somebody has retried or dropped it meanwhile. */
async function readContent({ handlers, viewer }: PageRequest, organization: string, key: string): Promise<Json> {
  try {
    const answer = await handlers.conversations(viewer.actor, organization, { subcommand: 'dead show', key });
    return isObject(answer) ? (answer.conversation ?? null) : null;
  } catch (error) {
    if (error instanceof ConfigError) {
      return null;
    }
    throw error;
  }
}

type DeadLetterView = ReturnType<typeof toDeadLetter>;

export function toDeadLetter({ key, source, reason, at, bytes }: DeadLetter) {
  return { key, source, reason, refusedAt: isoTime(at), bytes };
}

export const deadLettersPage = defineOrganizationPage<DeadLettersView>({
  path: '/refused',
  load: loadList,
  title: ({ organization }) => `Dead letters of ${organization}`,
  render: (view, request) => html`<h1>Dead letters</h1>
<p>Conversations that the platform refused. They stay until somebody retries or discards them.</p>
${sourceLinks(view)}
${view.deadLetters.length === 0 ? html`<p class="sentence">None.</p>` : list(view, request)}`,
  topic: ({ organization }) => organization,
});

/** An event does not reload it, because every reading of the content is recorded. */
export const deadLetterPage = defineOrganizationPage<DeadLetterPageView>({
  path: '/refused/:key',
  load: loadLetter,
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
<p>${link(organizationPath(organization, '/refused'), 'All dead letters')}</p>`,
  topic: null,
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
  const path = organizationPath(organization, '/refused');
  const item = (name: string | null) => {
    const text = name === null ? 'All sources' : shown(name);
    return html`<li>${name === source ? html`<strong>${text}</strong>` : link(`${path}${queryOf({ source: name })}`, text)}</li>`;
  };
  return html`<ul class="filters">${[null, ...sources].map(item)}</ul>`;
}

function list({ organization, deadLetters, more, source }: DeadLettersView, request: PageRequest): Html {
  const all = source === null ? 'all dead letters' : `all dead letters of ${shown(source)}`;
  const hidden: Record<string, string> = source === null ? {} : { source };
  const back = organizationPath(organization, '/refused');
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
    link(deadLetterPath(organization, letter.key), shown(letter.key)),
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
  const back = organizationPath(organization, '/refused');
  const form = (action: string, button: string) =>
    actionForm({ organization, action, hidden: { key }, button, label: `${button} ${shown(key)}`, back });
  return html`<div class="actions">${form('dead-retry', 'Retry')}${form('dead-drop', 'Discard')}</div>`;
}
