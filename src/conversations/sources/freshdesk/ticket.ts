import { textOfHtml } from '../../model/html.ts';
import { PeopleCollector } from '../../model/people.ts';
import type { AuthorRole, Part, Person, SourceRecord, TicketSkipReason } from '../../model/ticket.ts';
import type { FreshdeskConversation, FreshdeskTicket } from './wire.ts';

const SETTLED = { resolved: 4, closed: 5 };
/** Ticket sources whose first message is from the team. Source: docs/helpdesk-notes.md#freshdesk */
const BY_TEAM = new Set([10, 14]);
/** Ticket source whose conversation repeats the description. Source: docs/helpdesk-notes.md#freshdesk */
const WEB_CHAT = 15;
const CHANNELS: Readonly<Record<number, string>> = {
  1: 'email',
  2: 'portal',
  3: 'phone',
  7: 'chat',
  9: 'feedback-widget',
  10: 'outbound-email',
  15: 'web-chat',
};

export function keyOf(domain: string, id: number | string): string {
  return `freshdesk/${domain}/${id}`;
}

/** Decides from the ticket alone whether it is skipped; null: its conversations must be read. */
export function decidedByTicket(domain: string, ticket: FreshdeskTicket): SourceRecord | null {
  const key = keyOf(domain, ticket.id);
  if (ticket.deleted === true) {
    return { kind: 'gone', key };
  }
  const reason = reasonOf(ticket);
  return reason === null ? null : { kind: 'skipped', key, reason };
}

function reasonOf({ spam, status }: FreshdeskTicket): TicketSkipReason | null {
  if (spam === true) {
    return 'spam';
  }
  return Object.values(SETTLED).includes(status) ? null : 'open';
}

/**
 * Converts a Freshdesk ticket. `authors` are the known authors of its conversations, by id. The status and the time of
 * the last update are not attributes: a resolved ticket is closed automatically some days later, and would otherwise be
 * sent again.
 */
export function ticketOf(
  domain: string,
  wire: FreshdeskTicket,
  conversations: readonly FreshdeskConversation[],
  authors: ReadonlyMap<number, Person>,
): SourceRecord {
  const key = keyOf(domain, wire.id);
  const ordered = [...conversations].sort((a, b) => timeOf(a.created_at) - timeOf(b.created_at) || a.id - b.id);
  const shown = ordered.filter((one) => !one.private);
  const parts = partsOf(wire, shown);
  if (!parts.some(({ role }) => role === 'user')) {
    const nothing = shown.length < conversations.length ? 'private' : 'empty';
    return { kind: 'skipped', key, reason: parts.length === 0 ? nothing : 'no-customer' };
  }
  return {
    kind: 'ticket',
    ticket: {
      key,
      subject: wire.subject ?? '',
      createdAt: wire.created_at ?? null,
      settledAt: settledAt(wire),
      url: `https://${domain}.freshdesk.com/a/tickets/${wire.id}`,
      attributes: attributesOf(wire),
      parts,
      people: peopleOf(wire, ordered, authors),
      // Freshdesk does not report the number of messages.
      completeness: null,
      // Freshdesk's list has no deleted tickets and no spam.
      recheck: String(wire.id),
    },
  };
}

function partsOf(wire: FreshdeskTicket, shown: readonly FreshdeskConversation[]): Part[] {
  const description = textOf(wire.description_text, wire.description);
  const messages = shown.map((one) => ({
    role: (one.incoming === true ? 'user' : 'team-member') satisfies AuthorRole as AuthorRole,
    body: textOf(one.body_text, one.body),
  }));
  const repeated = wire.source === WEB_CHAT && sameWords(messages[0]?.body ?? '', description);
  const first: Part = { role: BY_TEAM.has(wire.source ?? 0) ? 'team-member' : 'user', body: description };
  return [...(repeated ? [] : [first]), ...messages].filter(({ body }) => body !== '');
}

/** Returns the text, or the text of the HTML if there is none. */
function textOf(text: string | null | undefined, html: string | null | undefined): string {
  const plain = (text ?? '').trim();
  return plain === '' ? textOfHtml(html ?? '') : plain;
}

function sameWords(a: string, b: string): boolean {
  const words = (text: string) => text.split(/\s+/).join(' ');
  return words(a) === words(b);
}

function settledAt({ status, stats, updated_at: updated }: FreshdeskTicket): number | null {
  const { resolved_at: resolved, closed_at: closed } = stats ?? {};
  const times = status === SETTLED.resolved ? [resolved, closed, updated] : [closed, resolved, updated];
  return times.map((time) => Date.parse(time ?? '')).find((time) => !Number.isNaN(time)) ?? null;
}

function attributesOf({ source, tags }: FreshdeskTicket): Record<string, string> {
  return {
    ...(source == null ? {} : { channel: CHANNELS[source] ?? String(source) }),
    ...(tags == null || tags.length === 0 ? {} : { tags: [...tags].sort().join(', ') }),
  };
}

/** Returns the people of a ticket, including authors of private notes, who may be named in public messages. */
function peopleOf(
  wire: FreshdeskTicket,
  all: readonly FreshdeskConversation[],
  authors: ReadonlyMap<number, Person>,
): Person[] {
  const people = new PeopleCollector();
  people.add([wire.requester?.name], [wire.requester?.email]);
  for (const { names, emails } of authors.values()) {
    people.add(names, emails);
  }
  for (const address of [wire, ...all].flatMap((one) => one.cc_emails ?? [])) {
    addAddress(people, address);
  }
  for (const { from_email: address } of all) {
    addAddress(people, address ?? '');
  }
  return people.all();
}

/** Adds a person from `Bo Example <bo@example.org>` or an address alone. */
function addAddress(people: PeopleCollector, address: string): void {
  const trimmed = address.trim();
  const start = trimmed.indexOf('<');
  const inner = trimmed.endsWith('>') && start >= 0 ? trimmed.slice(start + 1, -1) : '';
  if (inner === '' || /[<>\s]/.test(inner)) {
    people.add([], [address.includes('@') ? address : '']);
  } else {
    people.add([trimmed.slice(0, start).trim().replaceAll('"', '').trim()], [inner]);
  }
}

function timeOf(time: string | null | undefined): number {
  return Date.parse(time ?? '') || 0;
}
