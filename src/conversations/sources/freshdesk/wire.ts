import * as z from 'zod';

const id = z.number().int().nonnegative();
const text = z.string().nullish();
/** Flag that counts as `true` unless it is `false`, so that nothing becomes public because a flag is invalid. */
const guarded = z.boolean().nullish().catch(true);

/** Members of a ticket that the scan needs; the others are read for each ticket. */
export const listSchema = z.array(z.looseObject({ id, updated_at: z.string() }));
export type ListedTicket = z.output<typeof listSchema>[number];

export const ticketSchema = z.object({
  id,
  subject: text,
  description: text,
  description_text: text,
  status: z.number().int(),
  source: z.number().int().nullish(),
  spam: guarded,
  deleted: guarded,
  created_at: text,
  updated_at: text,
  tags: z.array(z.string()).nullish(),
  requester_id: id.nullish(),
  cc_emails: z.array(z.string()).nullish().catch(null),
  requester: z.object({ id: id.nullish(), name: text, email: text }).nullish().catch(null),
  stats: z.object({ resolved_at: text, closed_at: text }).nullish().catch(null),
});
export type FreshdeskTicket = z.output<typeof ticketSchema>;

export const conversationSchema = z.object({
  id,
  body: text,
  body_text: text,
  incoming: z.boolean().nullish().catch(null),
  private: z.boolean().catch(true),
  user_id: id.nullish(),
  created_at: text,
  from_email: text.catch(null),
  cc_emails: z.array(z.string()).nullish().catch(null),
});
export type FreshdeskConversation = z.output<typeof conversationSchema>;

export const conversationsSchema = z.array(conversationSchema);

const named = z.object({ name: text, email: text });
export const agentSchema = z.object({ contact: named });
export const contactSchema = named;
