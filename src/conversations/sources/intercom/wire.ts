import * as z from 'zod';

const id = z.union([z.string().min(1), z.number().int()]).transform(String);
/** Seconds since the epoch. */
const time = z.number();

const author = z
  .object({
    type: z.string().nullish(),
    name: z.string().nullish(),
    email: z.string().nullish(),
    from_ai_agent: z.boolean().nullish(),
  })
  .nullish();
export type IntercomAuthor = z.output<typeof author>;

/** Search result: enough to decide whether the conversation must be read. */
export const itemSchema = z.object({ id, state: z.string() });

export const searchSchema = z.object({
  conversations: z.array(z.unknown()),
  pages: z.object({ next: z.object({ starting_after: z.string().nullish() }).nullish() }).nullish(),
});

export const partSchema = z.object({
  part_type: z.string(),
  body: z.string().nullish(),
  redacted: z.boolean().nullish(),
  author,
});
export type IntercomPart = z.output<typeof partSchema>;

export const conversationSchema = z.object({
  id,
  state: z.string(),
  title: z.string().nullish(),
  created_at: time.nullish(),
  updated_at: time.nullish(),
  source: z
    .object({
      type: z.string().nullish(),
      subject: z.string().nullish(),
      body: z.string().nullish(),
      redacted: z.boolean().nullish(),
      author,
    })
    .nullish(),
  teammates: z
    .object({ admins: z.array(author).nullish() })
    .nullish()
    .catch(null),
  tags: z.object({ tags: z.array(z.object({ name: z.string() })).nullish() }).nullish(),
  statistics: z
    .object({ count_conversation_parts: z.number().int().nonnegative().nullish(), last_close_at: time.nullish() })
    .nullish(),
  conversation_parts: z.object({ conversation_parts: z.array(partSchema), total_count: z.number().nullish() }),
});
export type IntercomConversation = z.output<typeof conversationSchema>;

export const deletedSchema = z.object({
  // A time that cannot be read counts as recent.
  conversations: z.array(z.object({ id, deleted_at: time.nullish().catch(null) })),
  pages: z.object({ total_pages: z.number().nullish() }).nullish(),
});
