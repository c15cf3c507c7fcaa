import { z } from 'zod';
import { type Answer, deleted, ok } from '../answers.ts';
import { type CommentFamily, type CommentParams, commentAt, replyAt, replyOf } from '../comment-family.ts';
import { type Call, type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { edited, editedBody, formatQuery, postedBody, saidNow } from '../said.ts';
import { listQuery } from '../schema.ts';
import { viewReply } from '../views/comment.ts';

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
    operation({
      name: `list${name}Replies`,
      method: 'GET',
      path,
      query: listQuery.extend(formatQuery),
      handle: (call) => {
        const comment = commentAt(call, paramsOf(call));
        const replies = call.store.replies.by('comment', comment.id);
        return listBySeq(call, replies, (reply) => viewReply(call, comment, reply, call.query.format));
      },
    }),
    operation({
      name: `post${name}Reply`,
      method: 'POST',
      path,
      body: replyCreation,
      handle: (call) => postReply(call, paramsOf(call)),
    }),
    operation({
      name: `get${name}Reply`,
      method: 'GET',
      path: `${path}/{commentReplyId}`,
      query: z.strictObject(formatQuery),
      handle: (call) => {
        const params = paramsOf(call);
        return ok(viewReply(call, commentAt(call, params), replyAt(call, params), call.query.format));
      },
    }),
    operation({
      name: `update${name}Reply`,
      method: 'PUT',
      path: `${path}/{commentReplyId}`,
      body: replyUpdate[name],
      handle: (call) => updateReply(call, paramsOf(call)),
    }),
    operation({
      name: `delete${name}Reply`,
      method: 'DELETE',
      path: `${path}/{commentReplyId}`,
      handle: (call) => deleted(call.store.replies.remove(replyOf(call, paramsOf(call))?.id ?? '')),
    }),
  ];
}

/** Operations on replies to comments of spaces and change requests. Source: docs/platform-notes.md#comments */
export const replyOperations: readonly Operation[] = [
  ...repliesOf({ base: '/spaces/{spaceId}', name: 'Space' }),
  ...repliesOf({ base: '/spaces/{spaceId}/change-requests/{changeRequestId}', name: 'ChangeRequest' }),
];
