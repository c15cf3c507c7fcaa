import type { ChangeRequestRecord, CommentRecord, ReplyRecord } from './collaboration-records.ts';
import { changeRequestAt, found, spaceAt } from './lookup.ts';
import type { Context } from './operation.ts';
import type { SpaceRecord } from './records.ts';

/**
 * Path parameters of both families of comments: on a space and on a change request.
 * Source: docs/platform-notes.md#comments
 */
export interface CommentParams {
  readonly spaceId: string;
  readonly changeRequestId?: string;
  readonly commentId?: string;
  readonly commentReplyId?: string;
}

/** One of the two families: its paths begin alike, and its operations are named alike. */
export interface CommentFamily {
  readonly base: '/spaces/{spaceId}' | '/spaces/{spaceId}/change-requests/{changeRequestId}';
  readonly name: 'Space' | 'ChangeRequest';
}

/** What is commented on. */
export interface Commented {
  readonly space: SpaceRecord;
  readonly changeRequest?: ChangeRequestRecord | undefined;
}

/** 404 unless it is there. */
export function commentedAt({ store }: Context, params: CommentParams): Commented {
  const space = spaceAt(store, params.spaceId);
  return params.changeRequestId === undefined
    ? { space }
    : { space, changeRequest: changeRequestAt(store, space.id, params.changeRequestId) };
}

/** The comment with that id on what the path names, where there is one. */
export function commentOf(context: Context, params: CommentParams): CommentRecord | undefined {
  const { space, changeRequest } = commentedAt(context, params);
  const comment = context.store.comments.get(params.commentId ?? '');
  return comment?.space === space.id && comment.changeRequest === changeRequest?.id ? comment : undefined;
}

/** The comment that the path names, or 404. */
export function commentAt(context: Context, params: CommentParams): CommentRecord {
  return found(commentOf(context, params), 'Comment', params.commentId ?? '');
}

/** The reply with that id to the comment that the path names, where there is one. */
export function replyOf(context: Context, params: CommentParams): ReplyRecord | undefined {
  const reply = context.store.replies.get(params.commentReplyId ?? '');
  return reply?.comment === commentAt(context, params).id ? reply : undefined;
}

/** The reply that the path names, or 404. */
export function replyAt(context: Context, params: CommentParams): ReplyRecord {
  return found(replyOf(context, params), 'Comment reply', params.commentReplyId ?? '');
}
