// Shared parts of comments and replies: their bodies, lookups and views.

import { z } from 'zod';
import { type ContentParams, requireContentOwner } from '../content/content.ts';
import { convertFromMarkdown } from '../documents/from-markdown.ts';
import { requireDocument } from '../documents/rich-document.ts';
import { convertToMarkdown } from '../documents/to-markdown.ts';
import { found } from '../model/answers.ts';
import type { Context } from '../model/operation.ts';
import { pick } from '../model/patch.ts';
import { findCallingUser, viewUserOf } from '../organizations/people.ts';
import type { CommentBody, CommentRecord, PostRecord, Reaction, ReplyRecord } from './records.ts';

/** Path parameters of comments and replies, on a space or on a change request. */
export interface CommentParams extends ContentParams {
  readonly commentId?: string;
  readonly commentReplyId?: string;
}

/** Finds the comment that the path names. */
export function findComment(context: Context, params: CommentParams): CommentRecord | undefined {
  const { space, changeRequest } = requireContentOwner(context, params);
  const comment = context.store.comments.get(params.commentId ?? '');
  return comment?.space === space.id && comment.changeRequest === changeRequest?.id ? comment : undefined;
}

/** Returns the comment that the path names, or throws a 404. */
export function requireComment(context: Context, params: CommentParams): CommentRecord {
  return found(findComment(context, params), 'Comment', params.commentId ?? '');
}

/** Finds the reply that the path names. */
export function findReply(context: Context, params: CommentParams): ReplyRecord | undefined {
  const reply = context.store.replies.get(params.commentReplyId ?? '');
  return reply?.comment === requireComment(context, params).id ? reply : undefined;
}

/** Returns the reply that the path names, or throws a 404. */
export function requireReply(context: Context, params: CommentParams): ReplyRecord {
  return found(findReply(context, params), 'Comment reply', params.commentReplyId ?? '');
}

/* Code shared by comments and replies. Source: docs/platform-notes.md#comments */
/** Either Markdown or a rich document. Source: docs/platform-notes.md#comments */
const body = z
  .strictObject({ markdown: z.string().optional(), document: z.unknown().optional() })
  .refine((given) => (given.markdown === undefined) !== (given.document === undefined), {
    error: 'must have either markdown or a document',
  });

type GivenBody = z.output<typeof body>;

/** Fields of a new comment or reply. */
export const postedBody = { body };

/** Fields of an update. */
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

/** Query of operations that return a comment or reply. */
export const formatQuery = { format: z.enum(['document', 'markdown']).optional() };

function bodyOf(given: GivenBody, place: string): CommentBody {
  return given.markdown === undefined
    ? { document: requireDocument(given.document, `${place}.document`) }
    : { markdown: given.markdown };
}

/** Returns a new comment or reply of the token's user. `place` is the place of its body in the request, for errors. */
export function createPost(context: Context, prefix: string, given: GivenBody, place = 'body.body'): PostRecord {
  return {
    ...context.store.identify(prefix),
    postedBy: findCallingUser(context)?.id,
    postedAt: context.at,
    body: bodyOf(given, place),
    reactions: [],
  };
}

/** Returns the body and reactions after an edit. A user has each emoji at most once. */
export function applyEdit(context: Context, post: PostRecord, edit: Edit): Pick<PostRecord, 'body' | 'reactions'> {
  const user = findCallingUser(context)?.id ?? '';
  const touched = new Set([...(edit.addedReactions ?? []), ...(edit.removedReactions ?? [])]);
  const kept = post.reactions.filter((reaction) => reaction.user !== user || !touched.has(reaction.emoji));
  const added = new Set(edit.addedReactions?.filter((emoji) => edit.removedReactions?.includes(emoji) !== true));
  const reactions: Reaction[] = [...kept, ...[...added].map((emoji) => ({ emoji, user, reactedAt: context.at }))];
  const change = edit.body === undefined ? {} : { body: bodyOf(edit.body, 'body.body'), editedAt: context.at };
  return { body: post.body, ...change, reactions };
}

/** Formats in which a comment can be read. Source: docs/platform-notes.md#filters */
export type CommentFormat = 'document' | 'markdown';

/** Returns the address of a comment. */
function commentsLocation(context: Context, comment: CommentRecord): string {
  const changeRequest = comment.changeRequest === undefined ? '' : `/change-requests/${comment.changeRequest}`;
  return `${context.base}/v1/spaces/${comment.space}${changeRequest}/comments/${comment.id}`;
}

/** Comment. A decision of this emulator: without a format it is Markdown. Source: docs/platform-notes.md#comments */
export function viewComment(context: Context, comment: CommentRecord, format: CommentFormat = 'markdown'): unknown {
  const replies = context.store.replies.by('comment', comment.id);
  return {
    object: 'comment',
    ...viewPost(context, comment, format),
    replies: replies.length,
    repliers: viewRepliers(context, replies),
    target: {
      node: comment.node === undefined ? undefined : { id: comment.node },
      ...pick(comment, 'tableCell', 'changeRequest', 'review', 'space', 'revision'),
      page: comment.page === undefined ? undefined : { id: comment.page },
    },
    urls: { location: commentsLocation(context, comment) },
    status: comment.resolved === undefined ? 'open' : 'resolved',
    resolvedAt: comment.resolved?.at,
    resolvedBy: viewUserOf(context, comment.resolved?.by),
  };
}

/** CommentReply. Source: docs/platform-notes.md#comments */
export function viewReply(
  context: Context,
  comment: CommentRecord,
  reply: ReplyRecord,
  format: CommentFormat = 'markdown',
): unknown {
  return {
    object: 'comment-reply',
    ...viewPost(context, reply, format),
    urls: { location: `${commentsLocation(context, comment)}/replies/${reply.id}` },
  };
}

function viewPost(context: Context, post: PostRecord, format: CommentFormat) {
  const may = context.caller.permission === 'admin';
  return {
    id: post.id,
    postedBy: viewUserOf(context, post.postedBy),
    postedAt: post.postedAt,
    editedAt: post.editedAt,
    reactions: viewReactions(context, post.reactions),
    body: viewBody(post.body, format),
    permissions: { view: true, edit: may, reply: may, delete: may },
  };
}

function viewBody(body: CommentBody, format: CommentFormat): unknown {
  if (format === 'document') {
    return { document: 'document' in body ? body.document : convertFromMarkdown(body.markdown) };
  }
  return { markdown: 'markdown' in body ? body.markdown : convertToMarkdown(body.document) };
}

function viewReactions(context: Context, reactions: readonly Reaction[]): unknown[] {
  return [...Map.groupBy(reactions, (reaction) => reaction.emoji)].map(([emoji, same]) => ({
    emoji,
    count: same.length,
    users: same.map(({ user, reactedAt }) => ({ user: viewUserOf(context, user), reactedAt })),
  }));
}

function viewRepliers(context: Context, replies: readonly ReplyRecord[]): unknown[] {
  return [...Map.groupBy(replies, (reply) => reply.postedBy)].map(([user, same]) => ({
    user: viewUserOf(context, user),
    count: same.length,
    updatedAt: same.at(-1)?.postedAt,
  }));
}
