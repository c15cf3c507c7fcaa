import * as z from 'zod';

const id = z.number().int().nonnegative();
const ids = z.array(id).nullish();
const sender = z.object({ name: z.string().nullish(), address: z.string().nullish() }).nullish();
const via = z
  .object({
    channel: z.union([z.string(), z.number()]).nullish(),
    source: z.object({ from: sender, to: sender }).nullish(),
  })
  .nullish();

export const userSchema = z.object({
  id,
  name: z.string().nullish(),
  alias: z.string().nullish(),
  email: z.string().nullish(),
  role: z.string().nullish(),
});
export type ZendeskUser = z.output<typeof userSchema>;

export const ticketSchema = z.object({
  id,
  status: z.string(),
  subject: z.string().nullish(),
  created_at: z.string().nullish(),
  /** Seconds since the epoch. System edits change it, but not `updated_at`. Source: docs/helpdesk-notes.md#zendesk */
  generated_timestamp: z.number().nullish(),
  updated_at: z.string().nullish(),
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
  metric_set: z.object({ solved_at: z.string().nullish() }).nullish(),
});
export type ZendeskTicket = z.output<typeof ticketSchema>;

/** A page of the export. Its tickets are parsed individually, so that an invalid one does not affect the others. */
export const exportSchema = z.object({
  tickets: z.array(z.unknown()),
  users: z.array(z.unknown()).nullish(),
  after_cursor: z.string().nullish(),
  end_of_stream: z.boolean(),
});

export const shownSchema = z.object({ ticket: z.unknown(), users: z.array(z.unknown()).nullish() });

const meta = z.object({ has_more: z.boolean().nullish(), after_cursor: z.string().nullish() }).nullish();

export const commentSchema = z.object({
  id,
  author_id: id.nullish(),
  public: z.boolean(),
  plain_body: z.string().nullish(),
  body: z.string().nullish(),
  via,
});
export type ZendeskComment = z.output<typeof commentSchema>;

export const commentsSchema = z.object({
  comments: z.array(commentSchema),
  users: z.array(z.unknown()).nullish(),
  meta,
});

/** An event of a conversation log: a comment, a message, or something else. */
export const eventSchema = z.object({
  type: z.string(),
  author: z
    .object({
      type: z.string().nullish(),
      display_name: z.string().nullish(),
      'zen:support:user_id': id.nullish(),
    })
    .nullish(),
  content: z.object({ type: z.string().nullish(), text: z.string().nullish(), body: z.string().nullish() }).nullish(),
  metadata: z.object({ public: z.boolean().nullish() }).nullish(),
});
export type ZendeskEvent = z.output<typeof eventSchema>;

export const logSchema = z.object({ events: z.array(eventSchema), meta });
