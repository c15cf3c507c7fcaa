import { z } from 'zod';
import type { CommentBody, Reaction, SaidRecord } from './collaboration-records.ts';
import { callingUser } from './lookup.ts';
import type { Context } from './operation.ts';
import { requireDocument } from './rich-document.ts';

/* Code shared by comments and replies. Source: docs/platform-notes.md#comments */

/** Markdown or a rich document, one of the two. Source: docs/platform-notes.md#comments */
const body = z
  .strictObject({ markdown: z.string().optional(), document: z.unknown().optional() })
  .refine((given) => (given.markdown === undefined) !== (given.document === undefined), {
    error: 'must have either markdown or a document',
  });
type GivenBody = z.output<typeof body>;

/** What is said is required when it is posted. */
export const postedBody = { body };

/** Anything of it may change. */
export const editedBody = {
  body: body.optional(),
  addedReactions: z.array(z.string()).optional(),
  removedReactions: z.array(z.string()).optional(),
};

interface Edit {
  readonly body?: GivenBody | undefined;
  readonly addedReactions?: readonly string[] | undefined;
  readonly removedReactions?: readonly string[] | undefined;
}

/** The query of an operation that shows what was said. */
export const formatQuery = { format: z.enum(['document', 'markdown']).optional() };

function bodyOf(given: GivenBody, place: string): CommentBody {
  return given.markdown === undefined
    ? { document: requireDocument(given.document, `${place}.document`) }
    : { markdown: given.markdown };
}

/** Said now, by the token's user, at that place of the body. */
export function saidNow(context: Context, prefix: string, given: GivenBody, place = 'body.body'): SaidRecord {
  return {
    ...context.store.identify(prefix),
    postedBy: callingUser(context.store, context.caller)?.id,
    postedAt: context.at,
    body: bodyOf(given, place),
    reactions: [],
  };
}

/** What an edit makes of what was said. One reacts with an emoji once. */
export function edited(context: Context, said: SaidRecord, edit: Edit): Pick<SaidRecord, 'body' | 'reactions'> {
  const user = callingUser(context.store, context.caller)?.id ?? '';
  const touched = new Set([...(edit.addedReactions ?? []), ...(edit.removedReactions ?? [])]);
  const kept = said.reactions.filter((reaction) => reaction.user !== user || !touched.has(reaction.emoji));
  const added = new Set(edit.addedReactions?.filter((emoji) => edit.removedReactions?.includes(emoji) !== true));
  const reactions: Reaction[] = [...kept, ...[...added].map((emoji) => ({ emoji, user, reactedAt: context.at }))];
  const change = edit.body === undefined ? {} : { body: bodyOf(edit.body, 'body.body'), editedAt: context.at };
  return { body: said.body, ...change, reactions };
}
