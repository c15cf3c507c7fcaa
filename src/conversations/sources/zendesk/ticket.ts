import { textOfHtml } from '../../model/html.ts';
import { PeopleCollector } from '../../model/people.ts';
import type { AuthorRole, Part, SourceRecord, TicketSkipReason } from '../../model/ticket.ts';
import type { ZendeskComment, ZendeskEvent, ZendeskTicket, ZendeskUser } from './wire.ts';

/** The data that was read for one ticket. */
export interface ZendeskThread {
  readonly comments: readonly ZendeskComment[];
  /** Conversation log of a messaging ticket; null if it was not read. */
  readonly log: readonly ZendeskEvent[] | null;
  /** Users that were returned with the ticket, by id. */
  readonly users: ReadonlyMap<number, ZendeskUser>;
}

const SETTLED = new Set(['solved', 'closed']);
const MERGED = 'closed_by_merge';
const MESSAGING = /messaging|chat/i;

export function keyOf(subdomain: string, id: number | string): string {
  return `zendesk/${subdomain}/${id}`;
}

/** Decides from the ticket alone whether it is skipped; null: its comments must be read. */
export function decidedByTicket(subdomain: string, ticket: ZendeskTicket): SourceRecord | null {
  const key = keyOf(subdomain, ticket.id);
  if (ticket.status === 'deleted') {
    return { kind: 'gone', key };
  }
  const reason = reasonOf(ticket);
  return reason === null ? null : { kind: 'skipped', key, reason };
}

function reasonOf(ticket: ZendeskTicket): TicketSkipReason | null {
  if (!SETTLED.has(ticket.status)) {
    return 'open';
  }
  return ticket.tags?.includes(MERGED) === true ? 'merged' : null;
}

/**
 * Reports whether the conversation log must be read: comments have few or none of the messages of a messaging ticket.
 * Source: docs/helpdesk-notes.md#zendesk
 */
export function needsLog(ticket: ZendeskTicket, comments: readonly ZendeskComment[]): boolean {
  return MESSAGING.test(String(ticket.via?.channel ?? '')) || !comments.some((comment) => isShown(comment));
}

/**
 * Converts a Zendesk ticket. The status and the time of the last update are not attributes: a solved ticket is closed
 * automatically some days later, and would otherwise be sent again.
 */
export function ticketOf(subdomain: string, wire: ZendeskTicket, thread: ZendeskThread): SourceRecord {
  const key = keyOf(subdomain, wire.id);
  const logged = (thread.log ?? []).flatMap((event) => partOfEvent(event, wire, thread.users) ?? []);
  const parts = logged.length > 0 ? logged : thread.comments.flatMap((comment) => partOfComment(comment, wire, thread));
  if (!parts.some(({ role }) => role === 'user')) {
    return { kind: 'skipped', key, reason: reasonWithoutCustomer(parts, thread) };
  }
  return {
    kind: 'ticket',
    ticket: {
      key,
      subject: wire.subject ?? '',
      createdAt: wire.created_at ?? null,
      settledAt: settledAt(wire),
      url: `https://${subdomain}.zendesk.com/agent/tickets/${wire.id}`,
      attributes: attributesOf(wire),
      parts,
      people: peopleOf(wire, thread),
      completeness:
        wire.comment_count == null ? null : { reported: wire.comment_count, fetched: thread.comments.length },
    },
  };
}

function reasonWithoutCustomer(parts: readonly Part[], { comments, log }: ZendeskThread): TicketSkipReason {
  if (parts.length > 0) {
    return 'no-customer';
  }
  const hidden = comments.some((comment) => !comment.public) || (log ?? []).some((event) => !isPublic(event));
  return hidden ? 'private' : 'empty';
}

function settledAt(wire: ZendeskTicket): number | null {
  const solved = Date.parse(wire.metric_set?.solved_at ?? '');
  if (!Number.isNaN(solved)) {
    return solved;
  }
  const updated = Date.parse(wire.updated_at ?? '');
  return Number.isNaN(updated) ? (wire.generated_timestamp ?? 0) * 1000 || null : updated;
}

function attributesOf({ via, tags, brand_id: brand }: ZendeskTicket): Record<string, string> {
  return {
    ...(via?.channel == null ? {} : { channel: String(via.channel) }),
    ...(tags == null || tags.length === 0 ? {} : { tags: [...tags].sort().join(', ') }),
    ...(brand == null ? {} : { brand: String(brand) }),
  };
}

function isShown(comment: ZendeskComment): boolean {
  return comment.public && textOfComment(comment) !== '';
}

/** Returns the text of a comment. Some plain bodies contain the entity of the non-breaking space. */
function textOfComment({ plain_body: plain, body }: ZendeskComment): string {
  return (plain ?? body ?? '').replaceAll('&nbsp;', ' ').trim();
}

function partOfComment(comment: ZendeskComment, wire: ZendeskTicket, { users }: ZendeskThread): Part[] {
  return isShown(comment) ? [{ role: roleOf(comment.author_id, wire, users), body: textOfComment(comment) }] : [];
}

/** Returns the role of an author. Only users that the helpdesk marks as end users are customers. */
function roleOf(author: number | null | undefined, wire: ZendeskTicket, users: ZendeskThread['users']): AuthorRole {
  if (author == null) {
    return 'team-member';
  }
  return author === wire.requester_id || users.get(author)?.role === 'end-user' ? 'user' : 'team-member';
}

function isPublic({ type, metadata }: ZendeskEvent): boolean {
  return type === 'Messaging::ConversationMessage' ? metadata?.public !== false : metadata?.public === true;
}

function partOfEvent(event: ZendeskEvent, wire: ZendeskTicket, users: ZendeskThread['users']): Part | null {
  const { type, author, content } = event;
  if (!isPublic(event) || (type !== 'Comment' && type !== 'Messaging::ConversationMessage')) {
    return null;
  }
  const written = content?.text ?? content?.body ?? '';
  const isHtml = content?.type === 'html' || (type === 'Comment' && content?.text == null);
  const body = isHtml ? textOfHtml(written) : written.trim();
  return body === '' ? null : { role: roleOfEvent(author, wire, users), body };
}

function roleOfEvent(author: ZendeskEvent['author'], wire: ZendeskTicket, users: ZendeskThread['users']): AuthorRole {
  switch (author?.type) {
    case 'user':
    case 'end-user':
      return 'user';
    case 'bot':
      return 'assistant';
    default:
      return roleOf(author?.['zen:support:user_id'], wire, users);
  }
}

function peopleOf(wire: ZendeskTicket, { comments, log, users }: ZendeskThread) {
  const people = new PeopleCollector();
  for (const { name, alias, email } of users.values()) {
    people.add([name, alias], [email]);
  }
  for (const via of [wire.via, ...comments.map((comment) => comment.via)]) {
    people.add([via?.source?.from?.name], [via?.source?.from?.address]);
    // The name of the receiving address is usually that of the product.
    people.add([], [via?.source?.to?.address]);
  }
  for (const { author } of log ?? []) {
    people.add(author?.type === 'bot' ? [] : [author?.display_name], []);
  }
  return people.all();
}
