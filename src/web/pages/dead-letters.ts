/** Pages of the conversations that the platform refused, and of one of them, which alone has its content. */

import { html } from 'hono/html';
import { ConfigError } from '../../core/errors.ts';
import { isObject, type Json } from '../../core/json.ts';
import { counted, printable } from '../../plan/render/words.ts';
import type { DeadLetter } from '../../store/outbox/tables.ts';
import { age, link, shown } from '../html/elements.ts';
import { actionForm } from '../html/form.ts';
import {
  defineOrganizationPage,
  type Html,
  isOperator,
  type OrganizationState,
  type PageRequest,
} from '../model/page.ts';
import { deadLetterPath, isoTime, organizationPath } from '../model/words.ts';

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
  title: () => 'Refused',
  render: (view, request) => html`${head(view, request)}
<p class="faint">The platform did not accept these ${link(organizationPath(view.organization, '/conversations'), 'conversations')}. They stay here until somebody sends them again or discards them, or until their ticket changes.</p>
${sourceFilter(view)}
${
  view.deadLetters.length === 0
    ? html`<p class="empty">Nothing is refused${view.source === null ? '' : html` from ${shown(view.source)}`}.</p>`
    : deadLetterList(view.organization, view.deadLetters, request)
}
${view.more === 0 ? '' : html`<p class="faint">${counted(view.more, 'more conversation')}, refused later.</p>`}`,
  topic: ({ organization }) => organization,
});

/** An event does not reload it, because every reading of the content is recorded. */
export const deadLetterPage = defineOrganizationPage<DeadLetterPageView>({
  path: '/refused/:key',
  load: loadLetter,
  title: ({ deadLetter }) => `Refused: ${shown(deadLetter.key)}`,
  render: (
    { organization, deadLetter, conversation },
    request,
  ) => html`<div class="head"><h1>${shown(deadLetter.key)}</h1>${buttons(organization, deadLetter, request)}</div>
<p class="lead">${reasonWords(deadLetter.reason)}</p>
<dl class="facts">
<div><dt>Refused</dt><dd>${age(deadLetter.refusedAt, request.now)}</dd></div>
<div><dt>Source</dt><dd>${shown(deadLetter.source)}</dd></div>
<div><dt>Size</dt><dd>${sizeWords(deadLetter.bytes)}</dd></div>
</dl>
<h2>Content</h2>
${
  conversation === null
    ? html`<p>Only operators can read the content.</p>`
    : html`<p class="faint">Redacted, as it is sent. That you read it is in the audit.</p><pre class="text" tabindex="0">${contentText(conversation)}</pre>`
}
<p>${link(organizationPath(organization, '/refused'), 'All refused conversations')}</p>`,
  topic: null,
});

/** Longest reason that is shown: it names what the platform refused. */
const LONGEST_REASON = 500;

/** Longest content that is shown, in characters. */
const LONGEST_CONTENT = 200_000;

/** HTTP status of a request that is too large. */
const TOO_LARGE = '413';

function contentText(conversation: Json): string {
  const text = JSON.stringify(conversation, null, 2);
  const start = text.slice(0, LONGEST_CONTENT).split('\n').map(printable).join('\n');
  return text.length > LONGEST_CONTENT ? `${start}\n…` : start;
}

/** Returns why a conversation was refused, without the name of the request. */
export function reasonWords(reason: string): string {
  const [, status, said] = /^\w+: the platform refused it \((\d{3})\)(?:: (.+))?$/s.exec(reason) ?? [];
  if (status === undefined) {
    return shown(reason, LONGEST_REASON);
  }
  const what = status === TOO_LARGE ? 'It is too large for the platform' : 'The platform does not accept its content';
  return said === undefined ? `${what} (status ${status}).` : `${what}: ${shown(said, LONGEST_REASON)}`;
}

/** `412 bytes`, `3.1 kB`, `2.0 MB`. */
function sizeWords(bytes: number): string {
  if (bytes < KILOBYTE) {
    return counted(bytes, 'byte');
  }
  return bytes < KILOBYTE ** 2
    ? `${(bytes / KILOBYTE).toFixed(1)} kB`
    : `${(bytes / KILOBYTE ** 2).toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })} MB`;
}

const KILOBYTE = 1000;

/** The title, with actions on all that the page is about. */
function head({ organization, source, deadLetters }: DeadLettersView, request: PageRequest): Html {
  if (deadLetters.length === 0 || !isOperator(request, organization)) {
    return html`<h1>Refused</h1>`;
  }
  const of = source === null ? '' : ` of ${shown(source, 80)}`;
  const hidden: Record<string, string> = source === null ? {} : { source };
  const back = organizationPath(organization, '/refused');
  return html`<div class="head"><h1>Refused</h1><div class="actions">
${actionForm({ organization, action: 'dead-retry', hidden, button: `Send all${of} again`, back })}
<details class="menu" id="discard-all"><summary>Discard all${of}…</summary>
<p>None of them is sent again until its ticket changes. This cannot be undone.</p>
${actionForm({ organization, action: 'dead-drop', hidden, button: `Discard all${of}`, back, class: 'danger' })}
</details></div></div>`;
}

function sourceFilter({ organization, source, sources }: DeadLettersView): Html {
  if (sources.length < 2 && source === null) {
    return html``;
  }
  const names = source === null || sources.includes(source) ? sources : [source, ...sources];
  const options = names.map(
    (name) => html`<option value="${name}"${name === source ? html` selected` : ''}>${shown(name, 60)}</option>`,
  );
  return html`<form class="filter" method="get" action="${organizationPath(organization, '/refused')}">
<p class="field"><label for="source">Source</label> <select id="source" name="source"><option value="">all</option>${options}</select></p>
<button>Filter</button>
</form>`;
}

/** Returns a list of refused conversations, oldest first, without their content. */
export function deadLetterList(organization: string, letters: readonly DeadLetterView[], request: PageRequest): Html {
  const items = letters.map(
    (
      letter,
    ) => html`<li class="letter"><span>${link(deadLetterPath(organization, letter.key), shown(letter.key), { class: 'name' })} <span class="address">${shown(letter.source)}</span></span>
<span class="end faint">${age(letter.refusedAt, request.now)}, ${sizeWords(letter.bytes)}</span>
<p>${reasonWords(letter.reason)}</p>
${buttons(organization, letter, request)}</li>
`,
  );
  return html`<ul class="rows">${items}</ul>`;
}

/** Discarding is confirmed: the ticket may never change again. */
function buttons(organization: string, { key }: DeadLetterView, request: PageRequest): Html {
  if (!isOperator(request, organization)) {
    return html``;
  }
  const common = { organization, hidden: { key }, back: organizationPath(organization, '/refused') };
  const name = shown(key);
  return html`<div class="actions">${actionForm({ ...common, action: 'dead-retry', button: 'Send again', label: `Send again: ${name}` })}
<details class="menu"><summary aria-label="Discard… ${name}">Discard…</summary>
<p>It is not sent again until its ticket changes. This cannot be undone.</p>
${actionForm({ ...common, action: 'dead-drop', button: 'Discard', label: `Discard ${name}`, class: 'danger' })}
</details></div>`;
}
