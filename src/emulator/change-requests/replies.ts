// Operations on replies to comments.

import { z } from 'zod';
import { type Answer, deleted, ok } from '../model/answers.ts';
import { type Call, type Operation, operation } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { listQuery } from '../model/schema.ts';
import {
  type CommentFamily,
  type CommentParams,
  commentAt,
  edited,
  editedBody,
  formatQuery,
  postedBody,
  replyAt,
  replyOf,
  saidNow,
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
function postReply(call: Call<string, unknown, z.output<typeof replyCreation>>, params: CommentParams): Answer {
  const comment = commentAt(call, params);
  const reply = call.store.replies.put({ ...saidNow(call, 'rpl', call.body.body), comment: comment.id });
  return ok(viewReply(call, comment, reply));
}

function updateReply(
  call: Call<string, unknown, z.output<(typeof replyUpdate)['Space']>>,
  params: CommentParams,
): Answer {
  const reply = replyAt(call, params);
  const updated = call.store.replies.put({ ...reply, ...edited(call, reply, call.body) });
  return ok(viewReply(call, commentAt(call, params), updated));
}

function repliesOf({ base, name }: CommentFamily): readonly Operation[] {
  const path = `${base}/comments/{commentId}/replies`;
  const paramsOf = (call: { readonly params: object }) => call.params as CommentParams;
  return [
    operation(`list${name}CommentReplies`, 'GET', path, { query: listQuery.extend(formatQuery) }, (call) => {
      const comment = commentAt(call, paramsOf(call));
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
        return ok(viewReply(call, commentAt(call, params), replyAt(call, params), call.query.format));
      },
    ),
    operation(`update${name}CommentReply`, 'PUT', `${path}/{commentReplyId}`, { body: replyUpdate[name] }, (call) =>
      updateReply(call, paramsOf(call)),
    ),
    operation(`delete${name}CommentReply`, 'DELETE', `${path}/{commentReplyId}`, {}, (call) =>
      deleted(call.store.replies.remove(replyOf(call, paramsOf(call))?.id ?? '')),
    ),
  ];
}

/** Operations on replies to comments of spaces and change requests. Source: docs/platform-notes.md#comments */
export const replyOperations: readonly Operation[] = [
  ...repliesOf({ base: '/spaces/{spaceId}', name: 'Space' }),
  ...repliesOf({ base: '/spaces/{spaceId}/change-requests/{changeRequestId}', name: 'ChangeRequest' }),
];
