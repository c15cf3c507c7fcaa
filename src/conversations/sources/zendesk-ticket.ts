/** Conversion of Zendesk tickets, from the API or an export. */
import * as z from 'zod';
import { textOfHtml } from '../model/html.ts';
import {
  type AuthorRole,
  firstTime,
  listAttribute,
  type Part,
  PeopleCollector,
  type SourceRecord,
  ticketOrSkipped,
  withoutTicket,
} from '../model/ticket.ts';
import { NOT_A_TIME, parseTimestamp } from './dates.ts';
import { listOf } from './own-format.ts';

const id = z.number().int().nonnegative();
const ids = z.array(id).nullish();
const text = z.string().nullish();
/** Returns the schema of the way by which a ticket or comment came; `word`: that of its texts. */
function viaOf<Word extends z.ZodType<string | null | undefined>>(word: Word) {
  const sender = z
    .object({ name: word, address: word, original_recipients: z.array(z.string()).nullish().catch(null) })
    .nullish();
  return z
    .object({
      channel: z.union([z.string(), z.number()]).nullish(),
      source: z.object({ from: sender, to: sender }).nullish(),
    })
    .nullish();
}
const via = viaOf(text);

export const userSchema = z.object({ id, name: text, alias: text, email: text, role: text });
export type ZendeskUser = z.output<typeof userSchema>;

export const ticketSchema = z.object({
  id,
  status: z.string(),
  subject: text,
  created_at: text,
  /** Seconds since the epoch. System edits change it, but not `updated_at`. Source: docs/helpdesk-notes.md#zendesk */
  generated_timestamp: z.number().nullish(),
  updated_at: text,
  requester_id: id.nullish(),
  submitter_id: id.nullish(),
  assignee_id: id.nullish(),
  collaborator_ids: ids,
  follower_ids: ids,
  email_cc_ids: ids,
  tags: z.array(z.string()).nullish(),
  brand_id: id.nullish(),
  via,
  comment_count: z.number().int().nonnegative().nullish(),
  metric_set: z.object({ solved_at: text }).nullish(),
});
export type ZendeskTicket = z.output<typeof ticketSchema>;

/** A page of the export. Its tickets are parsed individually, so that an invalid one does not affect the others. */
export const exportSchema = z.object({
  tickets: z.array(z.unknown()),
  users: z.array(z.unknown()).nullish(),
  after_cursor: text,
  end_of_stream: z.boolean(),
});

export const shownSchema = z.object({ ticket: z.unknown(), users: z.array(z.unknown()).nullish() });

const meta = z.object({ has_more: z.boolean().nullish(), after_cursor: text }).nullish();
/** A page of the comments or the log of a ticket. */
export type ChildrenPage = { readonly meta?: z.output<typeof meta> };

const commentSchema = z.object({
  id,
  author_id: id.nullish(),
  public: z.boolean(),
  plain_body: text,
  body: text,
  via,
});
type ZendeskComment = z.output<typeof commentSchema>;

export const commentsSchema = z.object({
  comments: z.array(commentSchema),
  users: z.array(z.unknown()).nullish(),
  meta,
});

/** An event of a conversation log: a comment, a message, or something else. */
const eventSchema = z.object({
  type: z.string(),
  author: z.object({ type: text, display_name: text, 'zen:support:user_id': id.nullish() }).nullish(),
  content: z.object({ type: text, text: text, body: text }).nullish(),
  metadata: z.object({ public: z.boolean().nullish() }).nullish(),
});
type ZendeskEvent = z.output<typeof eventSchema>;

export const logSchema = z.object({ events: z.array(eventSchema), meta });

/** The data that was read for one ticket. */
interface ZendeskThread {
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
export function decidedByTicket(subdomain: string, { id, status, tags }: ZendeskTicket): SourceRecord | null {
  const merged = tags?.includes(MERGED) === true ? 'merged' : null;
  const open = status === 'deleted' ? 'gone' : 'open';
  return withoutTicket(keyOf(subdomain, id), SETTLED.has(status) ? merged : open);
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
  const { comments, log, users } = thread;
  const { via, brand_id: brand } = wire;
  const logged = (log ?? []).flatMap((event) => partOfEvent(event, wire, users) ?? []);
  const isHidden = comments.some((comment) => !comment.public) || (log ?? []).some((event) => !isPublic(event));
  return ticketOrSkipped(
    {
      key: keyOf(subdomain, wire.id),
      subject: wire.subject ?? '',
      createdAt: wire.created_at ?? null,
      settledAt:
        firstTime(wire.metric_set?.solved_at, wire.updated_at) ?? ((wire.generated_timestamp ?? 0) * 1000 || null),
      url: `https://${subdomain}.zendesk.com/agent/tickets/${wire.id}`,
      attributes: {
        ...(via?.channel == null ? {} : { channel: String(via.channel) }),
        ...listAttribute('tags', wire.tags),
        ...(brand == null ? {} : { brand: String(brand) }),
      },
      parts: logged.length > 0 ? logged : comments.flatMap((comment) => partOfComment(comment, wire, users)),
      people: peopleOf(wire, thread),
      completeness: wire.comment_count == null ? null : { reported: wire.comment_count, fetched: comments.length },
    },
    isHidden ? 'private' : 'empty',
  );
}

function isShown(comment: ZendeskComment): boolean {
  return comment.public && textOfComment(comment) !== '';
}

/** Returns the text of a comment. Some plain bodies contain the entity of the non-breaking space. */
function textOfComment({ plain_body: plain, body }: ZendeskComment): string {
  return (plain ?? body ?? '').replaceAll('&nbsp;', ' ').trim();
}

function partOfComment(comment: ZendeskComment, wire: ZendeskTicket, users: ZendeskThread['users']): Part[] {
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
    for (const address of via?.source?.from?.original_recipients ?? []) {
      people.add([], [address]);
    }
  }
  for (const { author } of log ?? []) {
    people.add(author?.type === 'bot' ? [] : [author?.display_name], []);
  }
  return people.all();
}

const exportedId = z.union([z.number().int().nonnegative(), z.string().regex(/^\d+$/).transform(Number)]);
const lenient = z.string().nullish().catch(null);
const exportedTime = lenient.refine(
  (value) => (value ?? '').trim() === '' || parseTimestamp(value) !== null,
  NOT_A_TIME,
);
/** People in the ticket itself, if the export contains them. */
const exportedPerson = z.object({
  id: exportedId.nullish().catch(null),
  name: lenient,
  alias: lenient,
  email: lenient,
  role: lenient,
});
const someone = exportedPerson.nullish().catch(null);
const exportedVia = viaOf(lenient).catch(null);
const exportedComment = z.object({
  author_id: exportedId.nullish(),
  author: someone,
  public: z.boolean().nullish(),
  plain_body: z.string().nullish(),
  body: z.string().nullish(),
  html_body: z.string().nullish(),
  created_at: exportedTime,
  via: exportedVia,
});
const exportedSchema = z.object({
  id: exportedId,
  url: lenient,
  subject: z.string().nullish(),
  status: z.string().trim().toLowerCase(),
  created_at: exportedTime,
  updated_at: lenient,
  solved_at: exportedTime,
  metric_set: z.object({ solved_at: lenient }).nullish().catch(null),
  requester_id: exportedId.nullish(),
  requester: someone,
  submitter: someone,
  assignee: someone,
  collaborator: listOf(someone).nullish().catch(null),
  follower: listOf(someone).nullish().catch(null),
  email_cc: listOf(someone).nullish().catch(null),
  brand_id: exportedId.nullish().catch(null),
  tags: listOf(z.string()).nullish().catch(null),
  via: exportedVia,
  comment_count: z.number().int().nonnegative().nullish().catch(null),
  comments: listOf(exportedComment),
});
type Exported = z.output<typeof exportedSchema>;

/**
 * Converts a ticket of a Zendesk export, or returns its problem. The result equals that of the Zendesk source for the
 * same ticket, so that it is recognized as unchanged. The account comes from the ticket's own URL, if it has one.
 * Source: docs/helpdesk-notes.md#zendesk
 */
export function foundOfExport(value: object, account: string): SourceRecord | { readonly problem: string } {
  const parsed = exportedSchema.safeParse(value);
  if (!parsed.success) {
    const path = (parsed.error.issues[0]?.path ?? []).slice(0, 3).join('.');
    const isTime = parsed.error.issues[0]?.message === NOT_A_TIME;
    return { problem: `${path} ${isTime ? NOT_A_TIME : 'is missing or does not match the Zendesk export format'}` };
  }
  const exported = parsed.data;
  const address = /^https:\/\/([a-z0-9-]+)\.zendesk\.com\//i.exec(exported.url ?? '');
  const subdomain = address?.[1]?.toLowerCase() ?? account;
  const wire = {
    ...exported,
    created_at: isoOf(exported.created_at),
    updated_at: isoOf(exported.updated_at),
    requester_id: exported.requester_id ?? exported.requester?.id,
    metric_set: { solved_at: isoOf(exported.solved_at ?? exported.metric_set?.solved_at) },
  };
  const comments = commentsOf(exported);
  const found =
    decidedByTicket(subdomain, wire) ?? ticketOf(subdomain, wire, { comments, log: null, users: usersOf(exported) });
  return found.kind === 'ticket' && address === null ? { ...found, ticket: { ...found.ticket, url: null } } : found;
}

/** Formats a time as ISO 8601; a time that Zendesk wrote stays as it is, so that the ticket is recognized. */
function isoOf(text: string | null | undefined): string | null {
  const at = parseTimestamp(text);
  return at === null ? null : /^[\d-]+T[\d:]+Z$/.test(text ?? '') ? (text ?? null) : new Date(at).toISOString();
}

/** Returns the public comments, by date if all have one. Only explicitly public comments count. */
function commentsOf({ comments }: Exported): ZendeskComment[] {
  const dated = comments.map((each) => ({ each, at: parseTimestamp(each.created_at) }));
  const sorted = dated.some(({ at }) => at === null) ? dated : dated.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
  return sorted.map(({ each }, index) => ({
    id: index,
    author_id: each.author_id ?? each.author?.id,
    public: each.public === true,
    plain_body: each.plain_body,
    body: each.body ?? textOfHtml(each.html_body ?? ''),
    via: each.via,
  }));
}

/** Returns the people by id. People without an id get a number that is not a valid id. */
function usersOf({
  requester,
  submitter,
  assignee,
  collaborator,
  follower,
  email_cc,
  comments,
}: Exported): Map<number, ZendeskUser> {
  const users = new Map<number, ZendeskUser>();
  const copied = [collaborator, follower, email_cc].flatMap((list) => list ?? []);
  const named = [requester, submitter, assignee, ...copied, ...comments.map(({ author }) => author)];
  for (const each of named) {
    if (each !== null && each !== undefined) {
      const key = each.id ?? -1 - users.size;
      users.set(key, { ...users.get(key), ...each, id: key });
    }
  }
  return users;
}
