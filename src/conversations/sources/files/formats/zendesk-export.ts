import * as z from 'zod';
import { listOf } from '../../../model/bounded-schema.ts';
import { textOfHtml } from '../../../model/html.ts';
import type { SourceRecord } from '../../../model/ticket.ts';
import { decidedByTicket, ticketOf } from '../../zendesk/ticket.ts';
import type { ZendeskComment, ZendeskUser } from '../../zendesk/wire.ts';
import { NOT_A_TIME, parseTimestamp } from './dates.ts';

const id = z.union([z.number().int().nonnegative(), z.string().regex(/^\d+$/).transform(Number)]);
const text = z.string().nullish().catch(null);
const time = text.refine((value) => (value ?? '').trim() === '' || parseTimestamp(value) !== null, NOT_A_TIME);
/** People in the ticket itself, if the export contains them. */
const person = z.object({ id: id.nullish().catch(null), name: text, alias: text, email: text, role: text });
const someone = person.nullish().catch(null);
const sender = z.object({ name: text, address: text }).nullish();
const via = z
  .object({
    channel: z.union([z.string(), z.number()]).nullish(),
    source: z.object({ from: sender, to: sender }).nullish(),
  })
  .nullish()
  .catch(null);
const comment = z.object({
  author_id: id.nullish(),
  author: someone,
  public: z.boolean().nullish(),
  plain_body: z.string().nullish(),
  body: z.string().nullish(),
  html_body: z.string().nullish(),
  created_at: time,
  via,
});
const schema = z.object({
  id,
  url: text,
  subject: z.string().nullish(),
  status: z.string().trim().toLowerCase(),
  created_at: time,
  updated_at: text,
  solved_at: time,
  metric_set: z.object({ solved_at: text }).nullish().catch(null),
  requester_id: id.nullish(),
  requester: someone,
  submitter: someone,
  assignee: someone,
  collaborator: listOf(someone).nullish().catch(null),
  brand_id: id.nullish().catch(null),
  tags: listOf(z.string()).nullish().catch(null),
  via,
  comment_count: z.number().int().nonnegative().nullish().catch(null),
  comments: listOf(comment),
});
type Exported = z.output<typeof schema>;

/**
 * Converts a ticket of a Zendesk export, or returns its problem. The result equals that of the Zendesk source for the
 * same ticket, so that it is recognized as unchanged. The account comes from the ticket's own URL, if it has one.
 * Source: docs/helpdesk-notes.md#zendesk
 */
export function foundOfExport(value: object, account: string): SourceRecord | { readonly problem: string } {
  const parsed = schema.safeParse(value);
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
function usersOf({ requester, submitter, assignee, collaborator, comments }: Exported): Map<number, ZendeskUser> {
  const users = new Map<number, ZendeskUser>();
  const named = [requester, submitter, assignee, ...(collaborator ?? []), ...comments.map(({ author }) => author)];
  for (const each of named) {
    if (each !== null && each !== undefined) {
      const key = each.id ?? -1 - users.size;
      users.set(key, { ...users.get(key), ...each, id: key });
    }
  }
  return users;
}
