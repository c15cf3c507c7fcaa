import { z } from 'zod';
import { textOfHtml } from '../html.ts';
import type { Found, Part, Person, SkipReason } from '../ticket.ts';
import { isoOf, momentOf } from './native.ts';

const id = z.union([z.number(), z.string().min(1)]);
const person = z
  .object({ id: id.nullish(), name: z.string().nullish(), email: z.string().nullish(), role: z.string().nullish() })
  .nullish()
  .catch(null);
const comment = z.object({
  author_id: id.nullish(),
  author: person,
  public: z.boolean().nullish(),
  plain_body: z.string().nullish(),
  body: z.string().nullish(),
  html_body: z.string().nullish(),
  created_at: z.string().nullish(),
});
const schema = z.object({
  id,
  url: z.string().nullish().catch(null),
  subject: z.string().nullish(),
  status: z.string(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish().catch(null),
  solved_at: z.string().nullish().catch(null),
  metric_set: z.object({ solved_at: z.string().nullish() }).nullish().catch(null),
  requester_id: id.nullish(),
  requester: person,
  submitter: person,
  assignee: person,
  collaborator: z.array(person).nullish().catch(null),
  brand_id: id.nullish().catch(null),
  tags: z.array(z.string()).nullish().catch(null),
  via: z
    .object({ channel: z.union([z.string(), z.number()]).nullish() })
    .nullish()
    .catch(null),
  comment_count: z.number().nullish().catch(null),
  comments: z.array(comment),
});
type Export = z.infer<typeof schema>;
type Comment = Export['comments'][number];

/**
 * A ticket of a Zendesk export as a ticket, or what is wrong with it: public comments of solved and closed tickets
 * (ticket connectors: Zendesk). The account is that of the ticket's own address, where it has one, so that the key is
 * the one that the API's connector gives.
 */
export function foundOfExport(value: object, account: string): Found | { readonly problem: string } {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const path = (parsed.error.issues[0]?.path ?? []).slice(0, 3).join('.');
    return { problem: `${path} is missing, or not what a Zendesk export has there` };
  }
  const ticket = parsed.data;
  const subdomain = /^https:\/\/([a-z0-9-]+)\.zendesk\.com\//i.exec(ticket.url ?? '')?.[1]?.toLowerCase() ?? null;
  const key = `zendesk/${subdomain ?? account}/${ticket.id}`;
  if (ticket.status === 'deleted') {
    return { kind: 'gone', key };
  }
  const parts = partsOf(ticket);
  const reason = skipReason(ticket, parts);
  return reason === null
    ? { kind: 'ticket', ticket: { key, parts, ...aboutTicket(ticket, subdomain) } }
    : { kind: 'skipped', key, reason };
}

function skipReason(ticket: Export, parts: readonly Part[]): SkipReason | null {
  if (ticket.status !== 'solved' && ticket.status !== 'closed') {
    return 'open';
  }
  if (ticket.tags?.includes('closed_by_merge') === true) {
    return 'merged';
  }
  if (parts.length === 0) {
    return ticket.comments.some((each) => each.public !== true) ? 'private' : 'empty';
  }
  return parts.some(({ role }) => role === 'user') ? null : 'no-customer';
}

function aboutTicket(ticket: Export, subdomain: string | null) {
  const settled = ticket.solved_at ?? ticket.metric_set?.solved_at ?? ticket.updated_at;
  const attributes: Record<string, string> = { status: ticket.status };
  const channel = ticket.via?.channel;
  if (channel !== undefined && channel !== null) {
    attributes.channel = String(channel);
  }
  if (ticket.tags !== undefined && ticket.tags !== null && ticket.tags.length > 0) {
    attributes.tags = ticket.tags.join(',');
  }
  if (ticket.brand_id !== undefined && ticket.brand_id !== null) {
    attributes.brand = String(ticket.brand_id);
  }
  const reported = ticket.comment_count ?? null;
  return {
    subject: ticket.subject ?? '',
    createdAt: isoOf(ticket.created_at),
    settledAt: momentOf(settled),
    url: subdomain === null ? null : `https://${subdomain}.zendesk.com/agent/tickets/${ticket.id}`,
    attributes,
    people: peopleOf(ticket),
    completeness: reported === null ? null : { reported, fetched: ticket.comments.length },
  };
}

function partsOf(ticket: Export): Part[] {
  const requester = String(ticket.requester_id ?? ticket.requester?.id ?? '');
  return inOrder(ticket.comments)
    .filter((each) => each.public === true)
    .map((each) => ({ role: roleOf(each, requester), body: bodyOf(each) }))
    .filter(({ body }) => body.trim() !== '');
}

function roleOf(each: Comment, requester: string): Part['role'] {
  const author = String(each.author_id ?? each.author?.id ?? '');
  return (author !== '' && author === requester) || each.author?.role === 'end-user' ? 'user' : 'team-member';
}

function bodyOf(each: Comment): string {
  return each.plain_body ?? each.body ?? textOfHtml(each.html_body ?? '');
}

/** By date where all have one; an export has them in order, and sorting keeps those of one moment as they are. */
function inOrder(comments: readonly Comment[]): readonly Comment[] {
  const dated = comments.map((each) => ({ each, at: momentOf(each.created_at) }));
  return dated.some(({ at }) => at === null)
    ? comments
    : dated.sort((a, b) => (a.at ?? 0) - (b.at ?? 0)).map(({ each }) => each);
}

function peopleOf(ticket: Export): Person[] {
  const known = [ticket.requester, ticket.submitter, ticket.assignee, ...(ticket.collaborator ?? [])];
  const people = new Map<string, Person>();
  for (const each of [...known, ...ticket.comments.map(({ author }) => author)]) {
    const names = each?.name ? [each.name] : [];
    const emails = each?.email ? [each.email] : [];
    if (names.length + emails.length > 0) {
      people.set(JSON.stringify([names, emails]), { names, emails });
    }
  }
  return [...people.values()];
}
