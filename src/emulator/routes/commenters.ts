import type { Answer } from '../answers.ts';
import { type CommentFamily, type CommentParams, commentedAt } from '../comment-family.ts';
import { type Call, type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { type ListQuery, listQuery } from '../schema.ts';
import { viewMember } from '../views/people.ts';

/** Members who commented or replied; who left the organization is none of them any more. */
function listCommenters(call: Call<string, ListQuery>, params: CommentParams): Answer {
  const { space, changeRequest } = commentedAt(call, params);
  const { store } = call;
  const comments = store.comments.by('subject', changeRequest?.id ?? space.id);
  const said = [...comments, ...comments.flatMap((comment) => store.replies.by('comment', comment.id))];
  const members = [...new Set(said.map(({ postedBy }) => postedBy))].flatMap((user) => {
    const member = user === undefined ? undefined : store.members.get(`${space.organization}/${user}`);
    return member === undefined ? [] : [member];
  });
  return listBySeq(call, members, (member) => viewMember(call, member));
}

function commentersOf({ base, name }: CommentFamily): Operation {
  return operation({
    name: `list${name}Commenters`,
    method: 'GET',
    path: `${base}/commenters`,
    query: listQuery,
    handle: (call) => listCommenters(call, call.params as CommentParams),
  });
}

/** Operations that list who commented on spaces and change requests. Source: docs/platform-notes.md#comments */
export const commenterOperations: readonly Operation[] = [
  commentersOf({ base: '/spaces/{spaceId}', name: 'Space' }),
  commentersOf({ base: '/spaces/{spaceId}/change-requests/{changeRequestId}', name: 'ChangeRequest' }),
];
