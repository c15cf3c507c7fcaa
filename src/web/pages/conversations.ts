/** Page of conversations: what happened to tickets lately, their sources, what waits or was refused, and what was removed. */

import { html } from 'hono/html';
import type { IngestionStatus } from '../../conversations/ingestion.ts';
import type { SenderState } from '../../conversations/model/source.ts';
import { REDACTION_TYPES, type RedactionType } from '../../conversations/model/ticket.ts';
import { largest } from '../../core/lists.ts';
import { capital, counted } from '../../plan/render/words.ts';
import { DAYS_KEPT, type KnownTicket, type RecentCounts } from '../../store/outbox/tables.ts';
import { type ChartTone, formatCount, spark } from '../html/charts.ts';
import { age, icon, link, observed, shown, stateBadge, type Tone, table } from '../html/elements.ts';
import {
  defineOrganizationPage,
  type Html,
  isOperator,
  type OrganizationState,
  type PageRequest,
} from '../model/page.ts';
import { type Freshness, freshness } from '../model/status.ts';
import { deadLetterPath, isoTime, organizationPath } from '../model/words.ts';
import { deadLetterList, reasonWords, toDeadLetter } from './dead-letters.ts';

type SourceState = IngestionStatus['sources'][number];

/** Number of dead letters in the view. */
const SHOWN_LETTERS = 5;

export type ConversationsView = Awaited<ReturnType<typeof load>>;

/** Describes the ingestion of an organization. Throws StoreError. */
async function load({ conversations, config, id }: OrganizationState, { now, query }: PageRequest) {
  const status = await conversations.status();
  const outdated = await conversations.outdated();
  const configured = new Map(config.conversations.sources.map((source) => [source.name, source]));
  const sources = status.sources.map((source) =>
    toSource(source, configured.get(source.source), outdated.get(source.source) ?? 0, now),
  );
  const outbox = toOutbox(status);
  const recent = await conversations.recent(now);
  const asked = query.ticket?.trim() ?? '';
  const isConfigured = configured.size > 0 || sources.length > 0;
  return {
    organization: id,
    sentence: isConfigured ? sentenceOf(status.sender, sources, outbox) : 'No source of conversations is configured',
    isConfigured,
    sender: status.sender.kind,
    /** Why nothing is sent; null if it is. */
    senderReason: 'reason' in status.sender ? status.sender.reason : null,
    sources,
    outbox,
    /** Numbers of the last 30 days in UTC; the last one of each is today's. */
    days: {
      takenIn: sumOfDays(recent.days, 'queued'),
      sent: sumOfDays(recent.days, 'sent'),
      leftOut: sumOfDays(recent.days, SKIPPED),
      refused: sumOfDays(recent.days, 'refused'),
    },
    /** Tickets that were read and left out in the last 30 days, by reason, with keys of some that still are. */
    leftOut: toLeftOut(recent),
    /** Text that was looked up, and the tickets; null: nothing was. */
    ticket: asked === '' ? null : await findTicket(conversations, asked),
    /** Number of redacted values by type since the state file was created; only those above 0. */
    redactions: countsOf(status, 'redacted.')
      .map(({ name, count }) => ({ type: name as RedactionType, count }))
      .sort((a, b) => REDACTION_TYPES.indexOf(a.type) - REDACTION_TYPES.indexOf(b.type)),
    /** Tickets that were read and not sent, by reason. */
    skipped: countsOf(status, SKIPPED).map(({ name, count }) => ({ reason: name, count })),
    /** The oldest ones. */
    deadLetters: outbox.deadLetters === 0 ? [] : (await conversations.deadLetters({}, SHOWN_LETTERS)).map(toDeadLetter),
  };
}

const SKIPPED = 'skipped.';

/** Adds the numbers of each day of all counters whose name starts with a prefix. */
function sumOfDays(days: RecentCounts['days'], prefix: string): readonly number[] {
  const sums = Array<number>(DAYS_KEPT).fill(0);
  for (const [name, numbers] of days) {
    if (name.startsWith(prefix)) {
      for (const [index, count] of numbers.entries()) {
        sums[index] = (sums[index] ?? 0) + count;
      }
    }
  }
  return sums;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function toLeftOut({ days, leftOut }: RecentCounts) {
  return [...days]
    .filter(([name]) => name.startsWith(SKIPPED))
    .map(([name, numbers]) => {
      const reason = name.slice(SKIPPED.length);
      return { reason, count: sum(numbers), examples: leftOut.get(reason) ?? [] };
    })
    .sort((a, b) => b.count - a.count);
}

type ConfiguredSource = OrganizationState['config']['conversations']['sources'][number];

const KINDS = ['zendesk', 'intercom', 'freshdesk', 'github', 'webhook', 'folder'] as const;

/** States of a source, with their labels. */
const STATES = {
  working: ['ok', 'working'],
  failing: ['bad', 'cannot be read'],
  stale: ['bad', 'not asked lately'],
  'not-read': ['none', 'not asked yet'],
  other: ['none', 'receives'],
} as const satisfies Record<string, readonly [Tone, string]>;

type ConversationSourceView = ReturnType<typeof toSource>;

function toSource(
  { source, polledAt, arrivedAt, counts, error, waiting, waitingSince, sending, deadLetters }: SourceState,
  configured: ConfiguredSource | undefined,
  outdated: number,
  now: number,
) {
  // A webhook is not polled, so it has no interval.
  const isPolled = configured !== undefined && configured.webhook === undefined;
  const age = freshness(polledAt, now, isPolled ? configured.pollInterval : null);
  return {
    name: source,
    /** Such as `zendesk`; null if it is not configured, such as pushed files. */
    kind: configured === undefined ? null : (KINDS.find((kind) => configured[kind] !== undefined) ?? null),
    state: stateOf(isPolled, error, age),
    freshness: age,
    /** When its last ticket came that was taken in or left out. */
    lastTicketAt: isoTime(arrivedAt),
    /** Number of tickets that were read, also again. */
    found: counts.found ?? 0,
    error,
    waiting,
    waitingSince: isoTime(waitingSince),
    sending,
    deadLetters,
    /** Waiting conversations that were redacted with other settings than those of now. */
    outdated,
  };
}

function stateOf(isPolled: boolean, error: string | null, { asOf, isStale }: Freshness): keyof typeof STATES {
  if (!isPolled) {
    return 'other';
  }
  if (error !== null) {
    return 'failing';
  }
  if (asOf === null) {
    return 'not-read';
  }
  return isStale ? 'stale' : 'working';
}

type OutboxView = ReturnType<typeof toOutbox>;

function toOutbox({ sources, outbox }: IngestionStatus) {
  const sumOf = (count: (source: SourceState) => number) => sum(sources.map(count));
  return {
    waiting: sumOf(({ waiting }) => waiting),
    /** Being sent, without those in doubt. */
    sending: sumOf(({ sending, inDoubt }) => sending - inDoubt),
    /** Being sent again, because a response was lost. */
    inDoubt: sumOf(({ inDoubt }) => inDoubt),
    deadLetters: sumOf(({ deadLetters }) => deadLetters),
    bytes: outbox.stored.bytes,
    items: outbox.stored.items,
    maxItems: outbox.limit.items,
    maxBytes: outbox.limit.bytes,
    isFull: outbox.isFull,
  };
}

/** Describes the ingestion: the worst of what is true of it, then what waits. */
function sentenceOf(sender: SenderState, sources: readonly ConversationSourceView[], outbox: OutboxView): string {
  const failing = sources.filter(({ state }) => state === 'failing' || state === 'stale').length;
  const parts = [
    ...('reason' in sender ? [SENDER_WORDS[sender.kind]] : []),
    ...(outbox.isFull ? ['there is no room for more, so sources wait'] : []),
    ...(failing > 0 ? [`${counted(failing, 'source')} cannot be read`] : []),
    ...(outbox.deadLetters > 0
      ? [
          `${counted(outbox.deadLetters, 'refused conversation')} ${outbox.deadLetters === 1 ? 'needs' : 'need'} a person`,
        ]
      : []),
    outbox.waiting === 0
      ? 'nothing waits to be sent'
      : `${counted(outbox.waiting, 'conversation')} ${outbox.waiting === 1 ? 'waits' : 'wait'} to be sent`,
  ];
  const text = parts.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

const SENDER_WORDS = {
  failing: 'the platform fails, so nothing is sent',
  refused: 'the platform refuses the token, so nothing is sent',
  unsupported: 'the platform has no ingestion, so nothing is sent',
} as const;

/** Sums the counters of all sources whose name starts with a prefix, largest first. */
function countsOf({ sources }: IngestionStatus, prefix: string): { name: string; count: number }[] {
  const sums = new Map<string, number>();
  for (const { counts } of sources) {
    for (const [key, value] of Object.entries(counts)) {
      if (key.startsWith(prefix) && value > 0) {
        const name = key.slice(prefix.length);
        sums.set(name, (sums.get(name) ?? 0) + value);
      }
    }
  }
  return [...sums].map(([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count);
}

export const conversationsPage = defineOrganizationPage<ConversationsView>({
  path: '/conversations',
  load,
  title: () => 'Conversations',
  render: (view, request) =>
    view.isConfigured
      ? content(view, request)
      : html`${FIRST_STEPS}
${tryLink(view.organization, request)}`,
  topic: ({ organization }) => organization,
});

/** Instructions for the time before anything can be shown. */
const FIRST_STEPS = html`<h1>Conversations</h1>
<p class="lead">No source of conversations is configured.</p>
<section class="card" aria-labelledby="first">
<h2 id="first">${icon('comment-discussion')} Connect your helpdesk first</h2>
<p>Octavo reads solved tickets, removes everything private, and sends them to the platform, which finds the questions that readers ask. Add a source to <code>conversations.sources</code> of this organization in the configuration:</p>
<pre class="text">conversations:
  sources:
    - { name: helpdesk, zendesk: { subdomain: acme, email: bot@acme.example, token: "\${env:ZENDESK_TOKEN}" } }</pre>
<p>Zendesk, Intercom, Freshdesk, GitHub issues, webhooks and folders with files can be sources. <code>docs/conversations.md</code> describes each of them.</p>
<p>To see what would be sent before anything is: <code>octavo conversations push --dry-run tickets.csv</code></p>
</section>`;

function content(view: ConversationsView, request: PageRequest): Html {
  const { sender, senderReason } = view;
  return html`<div class="head"><h1>Conversations</h1>${tryLink(view.organization, request)}</div>
<p class="lead">${shown(view.sentence)}.</p>
${senderReason === null ? '' : html`<p class="notice" role="alert">Nothing is sent now (${sender}): ${shown(senderReason, LONGEST_ERROR)}${sender === 'refused' ? '. Check the token of this organization in the configuration' : '. Octavo tries again by itself'}.</p>`}
${figures(view)}
${ticketSearch(view.organization, view.ticket, request.now)}
<h2>Sources</h2>
${sourceTable(view.sources, request.now)}
${waitingSection(view, request.now)}
${refusedSection(view, request)}
${leftOutSection(view)}
${removedSection(view)}`;
}

/** A link to the page where operators try redaction. */
function tryLink(organization: string, request: PageRequest): Html {
  return isOperator(request, organization)
    ? link(organizationPath(organization, '/conversations/redaction'), 'Try redaction', { class: 'button' })
    : html``;
}

function countBadge(count: number): Html {
  return html` <span class="count">${formatCount(count)}</span>`;
}

/** `Sent in the last 30 days: at most 4 on a day, 2 today.` */
function daysSentence(days: readonly number[], name: string): string {
  const most = largest(days, 0);
  const numbers = most === 0 ? 'none' : `at most ${formatCount(most)} on a day, ${formatCount(days.at(-1) ?? 0)} today`;
  return `${capital(name)} in the last ${days.length} days: ${numbers}.`;
}

/** Numbers of the last days, each with its course. */
function figures({ organization, days, outbox }: ConversationsView): Html {
  const figure = (numbers: readonly number[], words: string, tone: ChartTone) =>
    html`<b>${formatCount(sum(numbers))}</b> ${words}${spark(numbers, tone, daysSentence(numbers, words))}`;
  const refused = figure(days.refused, 'refused', 'bad');
  return html`<ul class="figures">
<li><span>${figure(days.takenIn, 'taken in', 'busy')}</span></li>
<li><span>${figure(days.sent, 'sent', 'ok')}</span></li>
<li><span>${figure(days.leftOut, 'left out', 'none')}</span></li>
<li>${outbox.deadLetters === 0 ? html`<span>${refused}</span>` : link(organizationPath(organization, '/refused'), refused, { class: 'bad' })}</li>
</ul>
<p class="faint small">The last ${DAYS_KEPT} days, a bar for each (UTC). A ticket counts each time it is taken in or left out.</p>`;
}

/** Longest error that is shown. */
const LONGEST_ERROR = 400;

const KIND_WORDS: Readonly<Record<(typeof KINDS)[number], string>> = {
  zendesk: 'Zendesk',
  intercom: 'Intercom',
  freshdesk: 'Freshdesk',
  github: 'GitHub',
  webhook: 'webhook',
  folder: 'folder',
};

function sourceTable(sources: readonly ConversationSourceView[], now: number): Html {
  const rows = sources.map((source) => {
    const { name, state, error, lastTicketAt, found, waiting, waitingSince, outdated, deadLetters } = source;
    const [tone, word] = STATES[state];
    const old = outdated === 0 ? '' : html`, ${formatCount(outdated)} with earlier settings of <code>redact</code>`;
    return [
      html`<b>${shown(name)}</b> <span class="address">${kindOf(source)}</span>`,
      html`${stateBadge({ tone, word: state === 'other' && source.kind === null && name !== PUSHED ? 'not configured any more' : word })}${error === null ? '' : html`<br>${shown(error, LONGEST_ERROR)}. ${adviceFor(error)}`}`,
      lastTicketAt === null && found > 0 ? html`<span class="faint">not known</span>` : age(lastTicketAt, now),
      state === 'other' ? html`<span class="faint">not asked</span>` : observed(source.freshness, now, 'never'),
      html`${formatCount(waiting)}${waitingSince === null ? '' : html`, oldest ${age(waitingSince, now)}`}${old}`,
      formatCount(deadLetters),
    ];
  });
  return table({
    caption: 'Sources',
    head: ['Source', 'State', 'Last ticket', 'Last asked', 'Waiting', 'Refused'],
    rows,
    empty: 'No source is configured.',
  });
}

/** Name of the source of pushed files, which need no setting. */
const PUSHED = 'push';

function kindOf({ name, kind }: ConversationSourceView): string {
  return kind === null ? (name === PUSHED ? 'pushed files' : '') : KIND_WORDS[kind];
}

/** Returns advice about the error of a source. */
function adviceFor(error: string): string {
  return /credentials|permission|\b40[13]\b/.test(error)
    ? 'Check its token in conversations.sources.'
    : 'Octavo asks again by itself.';
}

function waitingSection({ outbox, sources }: ConversationsView, now: number): Html {
  const { waiting, sending, inDoubt, isFull, items, maxItems, bytes, maxBytes } = outbox;
  const [since = null] = sources.flatMap(({ waitingSince }) => waitingSince ?? []).sort();
  const used = Math.floor(100 * Math.max(items / maxItems, bytes / maxBytes));
  const room = isFull
    ? html`<p class="problem">There is no room for more. Sources wait until something is sent or discarded.</p>`
    : used > HALF
      ? html`<p>${used} % of the room for what waits and what is refused is used. When it is full, sources wait.</p>`
      : '';
  if (waiting + sending + inDoubt === 0 && room === '') {
    return html``;
  }
  const parts = [
    waiting === 0 ? 'Nothing waits' : `${countOf(waiting, ['conversation waits', 'conversations wait'])}`,
    ...(sending === 0 ? [] : [`${formatCount(sending)} being sent`]),
    ...(inDoubt === 0 ? [] : [`${formatCount(inDoubt)} sent again, because an answer was lost`]),
  ];
  return html`<h2>Waiting to be sent${countBadge(waiting)}</h2>
<p>${parts.join('; ')}.${since === null ? '' : html` The oldest came ${age(since, now)}.`}</p>${room}`;
}

/** Percentage of the room from which it is shown. */
const HALF = 50;

function refusedSection({ organization, outbox, deadLetters }: ConversationsView, request: PageRequest): Html {
  if (outbox.deadLetters === 0) {
    return html``;
  }
  return html`<h2>Refused${countBadge(outbox.deadLetters)}</h2>
${deadLetterList(organization, deadLetters, request)}
<p>${link(organizationPath(organization, '/refused'), `All ${counted(outbox.deadLetters, 'refused conversation')}`)}</p>`;
}

function leftOutSection({ leftOut }: ConversationsView): Html {
  if (leftOut.length === 0) {
    return html``;
  }
  const items = leftOut.map(({ reason, count, examples }) => {
    const keys = examples.map((key, index) => html`${index === 0 ? '' : ', '}<code>${shown(key, 80)}</code>`);
    return html`<li><b>${formatCount(count)}</b> <span>${leftOutWords(reason)}</span>${examples.length === 0 ? '' : html` <span class="faint">such as ${keys}</span>`}</li>
`;
  });
  return html`<h2>Left out in the last ${DAYS_KEPT} days</h2>
<ul class="rows">${items}</ul>`;
}

/** Nouns of what is removed, for one and for several. */
const REMOVED: Readonly<Record<RedactionType, readonly [string, string]>> = {
  secret: ['password or key', 'passwords or keys'],
  email: ['email address', 'email addresses'],
  card: ['payment card number', 'payment card numbers'],
  iban: ['account number', 'account numbers'],
  ssn: ['social security number', 'social security numbers'],
  national_id: ['identity number', 'identity numbers'],
  birthdate: ['date of birth', 'dates of birth'],
  phone: ['phone number', 'phone numbers'],
  address: ['postal address', 'postal addresses'],
  ip: ['IP address', 'IP addresses'],
  mac: ['device address', 'device addresses'],
  person: ['name', 'names'],
  pattern: ['match of your own patterns', 'matches of your own patterns'],
};

function countOf(count: number, [one, several]: readonly [string, string]): string {
  return `${formatCount(count)} ${count === 1 ? one : several}`;
}

/** `Removed 33 names, 4 phone numbers and 2 passwords or keys from what was sent.` */
function removedSection({ redactions }: ConversationsView): Html {
  const parts = redactions
    .toSorted((a, b) => b.count - a.count)
    .map(({ type, count }) => countOf(count, REMOVED[type] ?? [type, type]));
  if (parts.length === 0) {
    return html``;
  }
  const last = parts.at(-1) ?? '';
  const all = parts.length === 1 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
  return html`<h2>Removed</h2>
<p>Removed ${all} from what was sent.</p>`;
}

type TicketSearchView = Awaited<ReturnType<typeof findTicket>>;

/** Looks up what a person has typed. Throws StoreError. */
async function findTicket(conversations: Pick<OrganizationState['conversations'], 'find'>, text: string) {
  return { text, found: (await conversations.find(idOf(text))).map(toTicket) };
}

/** Returns the key or id that a person means: `#123` and the address of a ticket's page end with its id. */
function idOf(text: string): string {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  return url === null ? text.replace(/^#/, '') : (url.pathname.split('/').findLast((part) => part !== '') ?? '');
}

type TicketView = ReturnType<typeof toTicket>;

function toTicket({ key, source, waiting, isSending, refused, sentAt, isDiscarded, leftOut }: KnownTicket) {
  return {
    key,
    source,
    state: stateOfTicket({ waiting, isSending, refused, sentAt, isDiscarded, leftOut }),
    waitingSince: isoTime(waiting?.since ?? null),
    /** Earliest time to send it. */
    notBefore: isoTime(waiting?.at ?? null),
    /** When content of it was last sent, also if a later version waits or was refused. */
    sentAt: isoTime(sentAt),
    refusedAt: isoTime(refused?.at ?? null),
    leftOutAt: isoTime(leftOut?.at ?? null),
    /** Why it was refused or left out. */
    reason: refused?.reason ?? leftOut?.reason ?? null,
  };
}

/** The latest that is known: what is being sent can no longer be left out, and what waits was taken in since. */
function stateOfTicket({
  waiting,
  isSending,
  refused,
  isDiscarded,
  leftOut,
}: Omit<KnownTicket, 'key' | 'source'>): keyof typeof TICKET_LABELS {
  if (isSending) {
    return 'sending';
  }
  if (waiting !== null) {
    return 'waiting';
  }
  if (refused !== null) {
    return 'refused';
  }
  if (leftOut !== null) {
    return leftOut.reason === 'gone' ? 'deleted' : 'left-out';
  }
  return isDiscarded ? 'discarded' : 'sent';
}

/** Returns the form, and what it has found. */
function ticketSearch(organization: string, ticket: TicketSearchView | null, now: number): Html {
  return html`<h2 id="ticket-title">Find a ticket</h2>
<form class="filter" method="get" action="${organizationPath(organization, '/conversations')}#ticket-title" role="search">
<p class="field"><label for="ticket">Number, key or address of a ticket</label> <input id="ticket" name="ticket" type="search" size="40" maxlength="500" value="${ticket?.text ?? ''}" autocomplete="off"></p>
<button>Find</button>
</form>
${ticket === null ? '' : ticketResult(organization, ticket, now)}`;
}

function ticketResult(organization: string, { text, found }: TicketSearchView, now: number): Html {
  if (found.length === 0) {
    return html`<p role="status">Octavo knows no ticket “${shown(text, 80)}”. It may not have come yet: see below when each source was last asked. What was left out is known for ${DAYS_KEPT} days.</p>`;
  }
  const items = found.map((ticket) => {
    const [tone, word] = TICKET_LABELS[ticket.state];
    return html`<li>${stateBadge({ tone, word })} <b>${shown(ticket.key)}</b> <span class="address">${shown(ticket.source)}</span> <span>${ticketSentence(organization, ticket, now)}</span></li>
`;
  });
  return html`<ul class="rows" role="status">${items}</ul>`;
}

const TICKET_LABELS = {
  sending: ['busy', 'being sent'],
  waiting: ['busy', 'waiting'],
  refused: ['bad', 'refused'],
  'left-out': ['none', 'left out'],
  deleted: ['none', 'deleted'],
  discarded: ['none', 'discarded'],
  sent: ['ok', 'sent'],
} as const satisfies Record<string, readonly [Tone, string]>;

function ticketSentence(organization: string, ticket: TicketView, now: number): Html {
  const { key, state, waitingSince, notBefore, sentAt, refusedAt, leftOutAt, reason } = ticket;
  const before = sentAt === null || state === 'sent' ? '' : html` An earlier version was sent ${age(sentAt, now)}.`;
  switch (state) {
    case 'sending':
      return html`It is being sent now.${before}`;
    case 'waiting': {
      const isDue = notBefore === null || Date.parse(notBefore) <= now;
      const next = isDue
        ? 'It is sent with one of the next requests.'
        : html`It is sent ${age(notBefore, now)} at the earliest, as solved tickets are often opened again.`;
      return html`Taken in ${age(waitingSince, now)}. ${next}${before}`;
    }
    case 'refused':
      return html`The platform refused it ${age(refusedAt, now)}. ${reasonWords(reason ?? '')} ${link(deadLetterPath(organization, key), 'Open')}${before}`;
    case 'left-out':
      return html`Left out ${age(leftOutAt, now)}: ${leftOutWords(reason ?? '')}.${before}`;
    case 'deleted':
      return html`It was deleted at its source; Octavo noticed ${age(leftOutAt, now)}.${before}`;
    case 'discarded':
      return html`The platform refused it, and a person discarded it. It is sent when the ticket changes.${before}`;
    case 'sent':
      return html`Sent ${age(sentAt, now)}.`;
  }
}

/** Reasons why a ticket is left out. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['open', 'still open'],
  ['private', 'nothing public in it'],
  ['spam', 'marked as spam'],
  ['empty', 'no text in it'],
  ['no-customer', 'no message from a customer'],
  ['merged', 'merged into another ticket'],
  ['bot', 'nothing but an automatic reply'],
  ['declined', 'closed without an answer'],
  ['bulk', 'written to many people'],
]);

/** Returns why a ticket is left out, in words. */
function leftOutWords(reason: string): string {
  return REASONS.get(reason) ?? shown(reason.replaceAll('-', ' '));
}
