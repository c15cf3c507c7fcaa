/** Search for one ticket by its number, key or address: whether it waits, was sent, refused or left out, without its content. */
import { html } from 'hono/html';
import { DAYS_KEPT, type KnownTicket } from '../../store/outbox/outbox.ts';
import { age, link, shown, stateBadge, type Tone } from '../html/elements.ts';
import type { OrganizationState } from '../model/backend.ts';
import { deadLetterPath, organizationPath } from '../model/paths.ts';
import { isoTime } from '../model/words.ts';
import type { Html } from '../page.ts';
import { reasonWords } from './dead-letters.ts';

type TicketSearchView = Awaited<ReturnType<typeof findTicket>>;

/** Looks up what a person has typed. Throws StoreError. */
export async function findTicket(conversations: Pick<OrganizationState['conversations'], 'find'>, text: string) {
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
export function ticketSearch(organization: string, ticket: TicketSearchView | null, now: number): Html {
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
export function leftOutWords(reason: string): string {
  return REASONS.get(reason) ?? shown(reason.replaceAll('-', ' '));
}
