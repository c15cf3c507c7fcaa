import type { CommentBody, CommentRecord, Reaction, ReplyRecord, SaidRecord } from '../collaboration-records.ts';
import { documentOfMarkdown } from '../markdown-document.ts';
import { markdownOfDocument } from '../markdown-of-document.ts';
import type { Context } from '../operation.ts';
import { viewUserOf } from './people.ts';

/** Formats in which a comment can be read. Source: docs/platform-notes.md#filters */
export type CommentFormat = 'document' | 'markdown';

/** How many comments on the change request, or on the space itself, nobody has resolved. */
export function openComments(context: Context, subject: string): number {
  return context.store.comments.by('subject', subject).filter((comment) => comment.resolved === undefined).length;
}

/** The path of what is commented on. */
function commentsLocation(context: Context, comment: CommentRecord): string {
  const changeRequest = comment.changeRequest === undefined ? '' : `/change-requests/${comment.changeRequest}`;
  return `${context.base}/v1/spaces/${comment.space}${changeRequest}/comments/${comment.id}`;
}

/** Comment. A decision of this emulator: without a format it is Markdown. Source: docs/platform-notes.md#comments */
export function viewComment(context: Context, comment: CommentRecord, format: CommentFormat = 'markdown'): unknown {
  const replies = context.store.replies.by('comment', comment.id);
  return {
    object: 'comment',
    ...viewSaid(context, comment, format),
    replies: replies.length,
    repliers: viewRepliers(context, replies),
    target: {
      node: comment.node === undefined ? undefined : { id: comment.node },
      tableCell: comment.tableCell,
      changeRequest: comment.changeRequest,
      review: comment.review,
      page: comment.page === undefined ? undefined : { id: comment.page },
      space: comment.space,
      revision: comment.revision,
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
    ...viewSaid(context, reply, format),
    urls: { location: `${commentsLocation(context, comment)}/replies/${reply.id}` },
  };
}

function viewSaid(context: Context, said: SaidRecord, format: CommentFormat) {
  const may = context.caller.permission === 'admin';
  return {
    id: said.id,
    postedBy: viewUserOf(context, said.postedBy),
    postedAt: said.postedAt,
    editedAt: said.editedAt,
    reactions: viewReactions(context, said.reactions),
    body: viewBody(said.body, format),
    permissions: { view: true, edit: may, reply: may, delete: may },
  };
}

function viewBody(body: CommentBody, format: CommentFormat): unknown {
  if (format === 'document') {
    return { document: 'document' in body ? body.document : documentOfMarkdown(body.markdown) };
  }
  return { markdown: 'markdown' in body ? body.markdown : markdownOfDocument(body.document) };
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
