// Operations on replies to comments.

import { z } from 'zod';
import { CONTENT_FAMILIES, type ContentFamily } from '../content/content.ts';
import { type ApiAnswer, deleted, ok } from '../model/answers.ts';
import { type ApiOperation, type OperationCall, operation } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { listQuery } from '../model/schema.ts';
import {
  applyEdit,
  type CommentParams,
  createPost,
  editedBody,
  findReply,
  formatQuery,
  postedBody,
  requireComment,
  requireReply,
  viewReply,
} from './comment.ts';

const replyCreation = z.strictObject(postedBody);

/**
 * `resolved` is accepted on change requests only, and has no effect on a reply. Source: docs/platform-notes.md#comments
 */
const replyUpdate = {
  Space: z.strictObject(editedBody),
  ChangeRequest: z.strictObject({ ...editedBody, resolved: z.boolean().optional() }),
};

/** Posts a reply. Answers 200, although something is created. Source: docs/platform-notes.md#write-status-codes */
function postReply(
  call: OperationCall<string, unknown, z.output<typeof replyCreation>>,
  params: CommentParams,
): ApiAnswer {
  const comment = requireComment(call, params);
  const reply = call.store.replies.put({ ...createPost(call, 'rpl', call.body.body), comment: comment.id });
  return ok(viewReply(call, comment, reply));
}

function updateReply(
  call: OperationCall<string, unknown, z.output<(typeof replyUpdate)['Space']>>,
  params: CommentParams,
): ApiAnswer {
  const reply = requireReply(call, params);
  const updated = call.store.replies.put({ ...reply, ...applyEdit(call, reply, call.body) });
  return ok(viewReply(call, requireComment(call, params), updated));
}

function repliesOf({ base, name }: ContentFamily): readonly ApiOperation[] {
  const path = `${base}/comments/{commentId}/replies`;
  const paramsOf = (call: { readonly params: object }) => call.params as CommentParams;
  return [
    operation(`list${name}CommentReplies`, 'GET', path, { query: listQuery.extend(formatQuery) }, (call) => {
      const comment = requireComment(call, paramsOf(call));
      const replies = call.store.replies.by('comment', comment.id);
      return listBySeq(call, replies, (_, reply) => viewReply(call, comment, reply, call.query.format));
    }),
    operation(`post${name}CommentReply`, 'POST', path, { body: replyCreation }, (call) =>
      postReply(call, paramsOf(call)),
    ),
    operation(
      `get${name}CommentReply`,
      'GET',
      `${path}/{commentReplyId}`,
      { query: z.strictObject(formatQuery) },
      (call) => {
        const params = paramsOf(call);
        return ok(viewReply(call, requireComment(call, params), requireReply(call, params), call.query.format));
      },
    ),
    operation(`update${name}CommentReply`, 'PUT', `${path}/{commentReplyId}`, { body: replyUpdate[name] }, (call) =>
      updateReply(call, paramsOf(call)),
    ),
    operation(`delete${name}CommentReply`, 'DELETE', `${path}/{commentReplyId}`, {}, (call) =>
      deleted(call.store.replies.remove(findReply(call, paramsOf(call))?.id ?? '')),
    ),
  ];
}

/** Operations on replies to comments of spaces and change requests. Source: docs/platform-notes.md#comments */
export const replyOperations: readonly ApiOperation[] = CONTENT_FAMILIES.flatMap(repliesOf);
