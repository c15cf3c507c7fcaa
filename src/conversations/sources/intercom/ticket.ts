import { textOfHtml } from '../../model/html.ts';
import { PeopleCollector } from '../../model/people.ts';
import type { AuthorRole, Part, SourceRecord, TicketSkipReason } from '../../model/ticket.ts';
import type { IntercomAuthor, IntercomConversation, IntercomPart } from './wire.ts';

/** Types of parts that may be messages; notes and unknown types are excluded. */
const MESSAGES = new Set(['open', 'comment', 'quick_reply', 'close', 'assignment']);
/** A body that is HTML as a whole: plain text is requested, but not always returned. */
const HTML = /^\s*<(p|div|h[1-6]|ul|ol|blockquote)\b[^>]*>[\s\S]*<\/(?:p|div|h[1-6]|ul|ol|blockquote)>\s*$/i;

/** A workspace and the address of its inbox. */
export interface Workspace {
  readonly appId: string;
  readonly inbox: string;
}

export function keyOf({ appId }: Workspace, id: string): string {
  return `intercom/${appId}/${id}`;
}

/** Decides from the state alone whether a conversation is skipped; null: it must be read. */
export function decidedByState(
  workspace: Workspace,
  { id, state }: { id: string; state: string },
): SourceRecord | null {
  return state === 'closed' ? null : { kind: 'skipped', key: keyOf(workspace, id), reason: 'open' };
}

/** Converts a conversation to a ticket. Its state and the time of its last update are not sent. */
export function ticketOf(workspace: Workspace, wire: IntercomConversation): SourceRecord {
  const decided = decidedByState(workspace, wire);
  if (decided !== null) {
    return decided;
  }
  const key = keyOf(workspace, wire.id);
  const messages = messagesOf(wire);
  const parts = messages.flatMap((message) => partOf(message) ?? []);
  if (!parts.some(({ role }) => role === 'user')) {
    return { kind: 'skipped', key, reason: reasonWithoutCustomer(wire, messages) };
  }
  const { conversation_parts: list, statistics, created_at: created, updated_at: updated } = wire;
  const reported = statistics?.count_conversation_parts ?? list.total_count ?? null;
  const closed = statistics?.last_close_at ?? updated ?? null;
  return {
    kind: 'ticket',
    ticket: {
      key,
      subject: textOf(wire.source?.subject) || textOf(wire.title),
      createdAt: created == null ? null : new Date(created * 1000).toISOString(),
      settledAt: closed === null ? null : closed * 1000,
      url: `${workspace.inbox}/a/inbox/_/inbox/conversation/${wire.id}`,
      attributes: attributesOf(wire),
      parts,
      people: peopleOf(wire),
      completeness: reported === null ? null : { reported, fetched: list.conversation_parts.length },
    },
  };
}

/** Returns the first message and the following ones, without those redacted in Intercom. */
function messagesOf({ source, conversation_parts: list }: IntercomConversation): IntercomPart[] {
  const first = source == null ? [] : [{ ...source, part_type: 'open' }];
  return [...first, ...list.conversation_parts].filter(
    (part) => MESSAGES.has(part.part_type) && part.redacted !== true && textOf(part.body) !== '',
  );
}

function partOf({ author, body }: IntercomPart): Part | null {
  const role = roleOf(author);
  return role === null ? null : { role, body: textOf(body) };
}

/** Returns the role of an author; null for a machine that only forwards, and for unknown types. */
function roleOf(author: IntercomAuthor): AuthorRole | null {
  if (author?.from_ai_agent === true) {
    return 'assistant';
  }
  switch (author?.type) {
    case 'user':
    case 'lead':
    case 'contact':
      return 'user';
    case 'admin':
    case 'team':
      return 'team-member';
    default:
      return null;
  }
}

function reasonWithoutCustomer(
  { conversation_parts: list }: IntercomConversation,
  messages: readonly IntercomPart[],
): TicketSkipReason {
  if (messages.length === 0) {
    const isNoted = list.conversation_parts.some(({ part_type: type, body }) => type.startsWith('note') && body);
    return isNoted ? 'private' : 'empty';
  }
  return messages.every(({ author }) => author?.type === 'bot') ? 'bot' : 'no-customer';
}

function textOf(body: string | null | undefined): string {
  const text = body ?? '';
  return HTML.test(text) ? textOfHtml(text) : text.trim();
}

function attributesOf({ source, tags }: IntercomConversation): Record<string, string> {
  const names = (tags?.tags ?? []).map(({ name }) => name).sort();
  return {
    ...(source?.type == null ? {} : { channel: source.type }),
    ...(names.length === 0 ? {} : { tags: names.join(', ') }),
  };
}

function peopleOf({ source, teammates, conversation_parts: list }: IntercomConversation) {
  const people = new PeopleCollector();
  const authors = [
    source?.author,
    ...list.conversation_parts.map(({ author }) => author),
    ...(teammates?.admins ?? []),
  ];
  for (const author of authors) {
    if (author?.type !== 'bot') {
      people.add([author?.name], [author?.email]);
    }
  }
  return people.all();
}
