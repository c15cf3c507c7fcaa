import * as z from 'zod';
import { optionalNumber, optionalText, permissions, richDocument, string, texts, urls, user } from './shapes.ts';

const reactions = z
  .array(
    z.looseObject({
      emoji: string,
      count: optionalNumber,
      users: z.array(z.looseObject({ user: user.nullish(), reactedAt: optionalText })).nullish(),
    }),
  )
  .nullish();

/** What comments and replies have in common. */
const said = {
  id: string,
  postedBy: user.nullish(),
  postedAt: optionalText,
  editedAt: optionalText,
  reactions,
  /** `{markdown}` or `{document}`, depending on the requested format. Source: docs/platform-notes.md#comments */
  body: z.looseObject({ markdown: optionalText, document: z.unknown().optional() }).nullish(),
  urls,
  permissions,
};

/** Comment, as read. */
export const comment = z.looseObject({
  ...said,
  replies: optionalNumber,
  repliers: z.array(z.looseObject({ updatedAt: optionalText, count: optionalNumber, user: user.nullish() })).nullish(),
  target: z
    .looseObject({
      node: z.looseObject({ id: optionalText }).nullish(),
      tableCell: z.looseObject({ record: optionalText, definition: optionalText }).nullish(),
      changeRequest: optionalText,
      review: optionalText,
      page: z.looseObject({ id: optionalText }).nullish(),
      space: optionalText,
      revision: optionalText,
    })
    .nullish(),
  status: optionalText,
  resolvedAt: optionalText,
  resolvedBy: user.nullish(),
});

/** CommentReply, as read. */
export const reply = z.looseObject(said);

/** Markdown or a rich document, one of the two. Source: docs/platform-notes.md#comments */
export const commentBody = z.union([z.strictObject({ markdown: string }), z.strictObject({ document: richDocument })]);

/** Requested format of the text. Source: docs/platform-notes.md#filters */
export const format = z.enum(['document', 'markdown']).optional();

/** What can be changed of a comment, and of a reply. */
export const edit = {
  body: commentBody.optional(),
  addedReactions: texts.optional(),
  removedReactions: texts.optional(),
};
