// Operations on comments and replies, on a space and on a change request.

import * as z from 'zod';
import { list, read, remove, write } from '../model/operation.ts';
import {
  format,
  givenFlag,
  givenText,
  member,
  optionalNumber,
  optionalText,
  permissions,
  richDocument,
  string,
  texts,
  urls,
  user,
} from '../model/shapes.ts';

const reactions = z
  .array(
    z.looseObject({
      emoji: string,
      count: optionalNumber,
      users: z.array(z.looseObject({ user: user.nullish(), reactedAt: optionalText })).nullish(),
    }),
  )
  .nullish();

/** Members that comments and replies share. */
const commentFields = {
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
  ...commentFields,
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
const reply = z.looseObject(commentFields);

/** Markdown or a rich document, one of the two. Source: docs/platform-notes.md#comments */
export const commentBody = z.union([z.strictObject({ markdown: string }), z.strictObject({ document: richDocument })]);

/** Fields of a comment or reply that can be changed. */
const edit = {
  body: commentBody.optional(),
  addedReactions: texts.optional(),
  removedReactions: texts.optional(),
};

/** Subjects of comments, in operation names and in summaries. */
const SUBJECTS = { Space: 'space', ChangeRequest: 'change request' } as const;

/** Source: docs/platform-notes.md#filters */
const filters = {
  order: z.enum(['asc', 'desc']).optional(),
  format,
  status: z.enum(['all', 'open', 'resolved']).optional(),
  targetPage: givenText,
  authors: texts.optional(),
};
const inFormat = { query: z.strictObject({ format }) };
/** Without a target, a comment is on the whole subject. */
const creation = z.strictObject({
  body: commentBody,
  page: givenText,
  node: givenText,
  tableCell: z.strictObject({ record: string, definition: string }).optional(),
});

/**
 * Returns the operations on comments, replies and commenters, which are the same on a space and on a change request.
 * Source: docs/platform-notes.md#comments
 */
function commentFamily<const Base extends string, Reply extends z.ZodType>(
  on: keyof typeof SUBJECTS,
  base: Base,
  replyUpdate: Reply,
) {
  const subject = SUBJECTS[on];
  const all = `${base}/comments` as const;
  const one = `${all}/{commentId}` as const;
  const replies = `${one}/replies` as const;
  const oneReply = `${replies}/{commentReplyId}` as const;
  return {
    list: list(`list${on}Comments`, `Lists the comments on a ${subject}.`, all, comment, filters),
    // Comments are not deduplicated.
    post: write(`post${on}Comment`, `Posts a comment on a ${subject}.`, 'POST', all, {
      body: creation,
      answer: comment,
      repeat: 'never',
      success: [200, 201],
    }),
    get: read(`get${on}Comment`, `Returns a comment on a ${subject}.`, one, comment, inFormat),
    update: write(`update${on}Comment`, `Edits, resolves or reacts to a comment on a ${subject}.`, 'PUT', one, {
      body: z.strictObject({ ...edit, resolved: givenFlag }),
      answer: comment,
      repeat: 'idempotent',
    }),
    delete: remove(`delete${on}Comment`, `Deletes a comment on a ${subject}, with its replies.`, one),
    listReplies: list(`list${on}CommentReplies`, `Lists the replies to a comment on a ${subject}.`, replies, reply, {
      format,
    }),
    postReply: write(`post${on}CommentReply`, `Posts a reply to a comment on a ${subject}.`, 'POST', replies, {
      body: z.strictObject({ body: commentBody }),
      answer: reply,
      repeat: 'never',
      success: [200, 201],
    }),
    getReply: read(`get${on}CommentReply`, `Returns a reply to a comment on a ${subject}.`, oneReply, reply, inFormat),
    updateReply: write(
      `update${on}CommentReply`,
      `Edits or reacts to a reply to a comment on a ${subject}.`,
      'PUT',
      oneReply,
      { body: replyUpdate, answer: reply, repeat: 'idempotent' },
    ),
    deleteReply: remove(`delete${on}CommentReply`, `Deletes a reply to a comment on a ${subject}.`, oneReply),
    commenters: list(
      `list${on}Commenters`,
      `Lists the members who commented on a ${subject}.`,
      `${base}/commenters`,
      member,
    ),
  };
}

const onSpace = commentFamily('Space', '/v1/spaces/{spaceId}', z.strictObject(edit));

/** Comments on spaces. */
export const spaceCommentOperations = {
  listSpaceComments: onSpace.list,
  postSpaceComment: onSpace.post,
  getSpaceComment: onSpace.get,
  updateSpaceComment: onSpace.update,
  deleteSpaceComment: onSpace.delete,
  listSpaceCommentReplies: onSpace.listReplies,
  postSpaceCommentReply: onSpace.postReply,
  getSpaceCommentReply: onSpace.getReply,
  updateSpaceCommentReply: onSpace.updateReply,
  deleteSpaceCommentReply: onSpace.deleteReply,
  listSpaceCommenters: onSpace.commenters,
};

/**
 * Replies on a change request also take `resolved`; replies on a space do not. Source: docs/platform-notes.md#comments
 */
const onChangeRequest = commentFamily(
  'ChangeRequest',
  '/v1/spaces/{spaceId}/change-requests/{changeRequestId}',
  z.strictObject({ ...edit, resolved: givenFlag }),
);

/** Comments on change requests. */
export const changeRequestCommentOperations = {
  listChangeRequestComments: onChangeRequest.list,
  postChangeRequestComment: onChangeRequest.post,
  getChangeRequestComment: onChangeRequest.get,
  updateChangeRequestComment: onChangeRequest.update,
  deleteChangeRequestComment: onChangeRequest.delete,
  listChangeRequestCommentReplies: onChangeRequest.listReplies,
  postChangeRequestCommentReply: onChangeRequest.postReply,
  getChangeRequestCommentReply: onChangeRequest.getReply,
  updateChangeRequestCommentReply: onChangeRequest.updateReply,
  deleteChangeRequestCommentReply: onChangeRequest.deleteReply,
  listChangeRequestCommenters: onChangeRequest.commenters,
};
