/** Comments and replies on spaces and change requests. */

import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import {
  CONTENT_FAMILIES,
  type ContentFamily,
  type ContentPath,
  getContent,
  requireContentOwner,
} from '../content/content.ts';
import { convertFromMarkdown } from '../documents/from-markdown.ts';
import { requireDocument } from '../documents/rich-document.ts';
import { convertToMarkdown } from '../documents/to-markdown.ts';
import { type ApiAnswer, deleted, found, ok, referenced } from '../model/answers.ts';
import { type ApiOperation, type Context, operation } from '../model/operation.ts';
import { list, listBySeq } from '../model/paging.ts';
import { pick } from '../model/patch.ts';
import { id, listQuery } from '../model/schema.ts';
import { type Entity, IndexedTable } from '../model/store.ts';
import { findCallingUser, type MemberRecord, viewMember, viewUserOf } from '../organizations/people.ts';

/** Body of a comment or reply, in the format in which it was sent. Source: docs/platform-notes.md#comments */
export type CommentBody = { readonly markdown: string } | { readonly document: Json };

export interface Reaction {
  readonly emoji: string;
  readonly user: string;
  readonly reactedAt: string;
}

/** Common fields of comments and replies. */
export interface PostRecord extends Entity {
  /** Absent if the token's user is unknown to the platform. */
  readonly postedBy?: string | undefined;
  readonly postedAt: string;
  readonly editedAt?: string | undefined;
  readonly body: CommentBody;
  readonly reactions: readonly Reaction[];
}

/** A comment on a change request, or on a space itself. */
export interface CommentRecord extends PostRecord {
  readonly space: string;
  readonly changeRequest?: string | undefined;
  /** The review that the comment belongs to. */
  readonly review?: string | undefined;
  /** The part of the content that the comment is about. */
  readonly page?: string | undefined;
  readonly node?: string | undefined;
  readonly tableCell?: { readonly record: string; readonly definition: string } | undefined;
  readonly revision: string;
  readonly resolved?: { readonly at: string; readonly by?: string | undefined } | undefined;
}

export interface ReplyRecord extends PostRecord {
  readonly comment: string;
}

/** Tables of reviews, comments and replies. */
export function reviewTables() {
  return {
    reviews: new IndexedTable<ReviewRecord, 'changeRequest'>({ changeRequest: (review) => review.changeRequest }),
    comments: new IndexedTable<CommentRecord, 'subject'>({
      subject: (comment) => comment.changeRequest ?? comment.space,
    }),
    replies: new IndexedTable<ReplyRecord, 'comment'>({ comment: (reply) => reply.comment }),
  };
}

/** Verdict of a review. Source: docs/platform-notes.md#enumerations */
export type ReviewStatus = 'approved' | 'changes-requested';

/** A submitted review. Source: docs/platform-notes.md#reviews */
export interface ReviewRecord extends Entity {
  readonly changeRequest: string;
  readonly reviewer: string;
  /** Absent if the review was not requested. */
  readonly requestedBy?: string | undefined;
  /** The change request's revision that was reviewed. */
  readonly revision: string;
  readonly status: ReviewStatus;
  /** The comment of the review. */
  readonly comment?: string | undefined;
  readonly createdAt: string;
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof reviewTables> {}
}

/** A request whose path names a comment or reply, on a space or on a change request. */
type CommentCall = Context & ContentPath & { readonly params: { readonly commentId: string } };
type ReplyCall = CommentCall & { readonly params: { readonly commentReplyId: string } };

/** Finds the comment that the path names. */
function findComment(call: CommentCall): CommentRecord | undefined {
  const { space, changeRequest } = requireContentOwner(call);
  const comment = call.store.comments.get(call.params.commentId);
  return comment?.space === space.id && comment.changeRequest === changeRequest?.id ? comment : undefined;
}

/** Returns the comment that the path names, or throws a 404. */
function requireComment(call: CommentCall): CommentRecord {
  return found(findComment(call), 'Comment', call.params.commentId);
}

/** Finds the reply that the path names. */
function findReply(call: ReplyCall): ReplyRecord | undefined {
  const reply = call.store.replies.get(call.params.commentReplyId);
  return reply?.comment === requireComment(call).id ? reply : undefined;
}

/** Returns the reply that the path names, or throws a 404. */
function requireReply(call: ReplyCall): ReplyRecord {
  return found(findReply(call), 'Comment reply', call.params.commentReplyId);
}

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
const editedBody = {
  body: body.optional(),
  addedReactions: z.array(z.string()).optional(),
  removedReactions: z.array(z.string()).optional(),
};

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
function applyEdit(
  context: Context,
  post: PostRecord,
  edit: z.output<z.ZodObject<typeof editedBody>>,
): Pick<PostRecord, 'body' | 'reactions'> {
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
function viewReply(
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

/** Source: docs/platform-notes.md#filters */
const commentsQuery = listQuery.extend({
  ...formatQuery,
  order: z.enum(['asc', 'desc']).optional(),
  status: z.enum(['all', 'open', 'resolved']).optional(),
  targetPage: z.string().optional(),
  authors: z.union([z.string(), z.array(z.string())]).optional(),
});

type CommentsQuery = z.output<typeof commentsQuery>;

const commentCreation = z.strictObject({
  ...postedBody,
  node: id.optional(),
  page: id.optional(),
  tableCell: z.strictObject({ record: id, definition: id }).optional(),
});

const commentUpdate = z.strictObject({ ...editedBody, resolved: z.boolean().optional() });

function matches(comment: CommentRecord, { status = 'all', targetPage, authors }: CommentsQuery): boolean {
  const isResolved = comment.resolved !== undefined;
  return (
    (status === 'all' || isResolved === (status === 'resolved')) &&
    (targetPage === undefined || comment.page === targetPage) &&
    (authors === undefined || [authors].flat().includes(comment.postedBy ?? ''))
  );
}

/** Posts a comment. Answers 200, although something is created. Source: docs/platform-notes.md#write-status-codes */
function postComment(call: Context & ContentPath & { readonly body: z.output<typeof commentCreation> }): ApiAnswer {
  const { store, body } = call;
  const { space, changeRequest } = requireContentOwner(call);
  if (body.page !== undefined) {
    const page = getContent(store, { space, changeRequest }).pages.find(({ id }) => id === body.page);
    referenced(page, 'body.page', 'page', body.page);
  }
  const comment = store.comments.put({
    ...createPost(call, 'cmt', body.body),
    space: space.id,
    changeRequest: changeRequest?.id,
    page: body.page,
    node: body.node,
    tableCell: body.tableCell,
    revision: changeRequest?.revision ?? space.revision,
  });
  return ok(viewComment(call, comment));
}

function updateComment(call: CommentCall & { readonly body: z.output<typeof commentUpdate> }): ApiAnswer {
  const { store, body } = call;
  const comment = requireComment(call);
  const resolution = { at: call.at, by: findCallingUser(call)?.id };
  const resolved = body.resolved === true ? (comment.resolved ?? resolution) : undefined;
  const kept = body.resolved === undefined ? comment.resolved : resolved;
  return ok(viewComment(call, store.comments.put({ ...comment, ...applyEdit(call, comment, body), resolved: kept })));
}

function deleteComment(call: CommentCall): ApiAnswer {
  const comment = findComment(call);
  for (const reply of comment === undefined ? [] : call.store.replies.by('comment', comment.id)) {
    call.store.replies.remove(reply.id);
  }
  return deleted(comment !== undefined && call.store.comments.remove(comment.id));
}

/** Returns the members who commented or replied, without people who have left the organization. */
function findCommenters(call: Context & ContentPath): MemberRecord[] {
  const { space, changeRequest } = requireContentOwner(call);
  const { store } = call;
  const comments = store.comments.by('subject', changeRequest?.id ?? space.id);
  const said = [...comments, ...comments.flatMap((comment) => store.replies.by('comment', comment.id))];
  return [...new Set(said.map(({ postedBy }) => postedBy))].flatMap(
    (user) => store.members.get(`${space.organization}/${user}`) ?? [],
  );
}

function commentsOf({ base, name }: ContentFamily): readonly ApiOperation[] {
  const comments = `${base}/comments` as const;
  const comment = `${comments}/{commentId}` as const;
  return [
    operation(`list${name}Comments`, 'GET', comments, { query: commentsQuery }, (call) => {
      const { space, changeRequest } = requireContentOwner(call);
      return list(call, {
        items: call.store.comments
          .by('subject', changeRequest?.id ?? space.id)
          .filter((one) => matches(one, call.query)),
        key: ({ postedAt, seq }) => [postedAt, seq],
        descending: call.query.order !== 'asc',
        view: (_, one) => viewComment(call, one, call.query.format),
      });
    }),
    operation(`post${name}Comment`, 'POST', comments, { body: commentCreation }, postComment),
    operation(`get${name}Comment`, 'GET', comment, { query: z.strictObject(formatQuery) }, (call) =>
      ok(viewComment(call, requireComment(call), call.query.format)),
    ),
    operation(`update${name}Comment`, 'PUT', comment, { body: commentUpdate }, updateComment),
    operation(`delete${name}Comment`, 'DELETE', comment, {}, deleteComment),
    operation(`list${name}Commenters`, 'GET', `${base}/commenters`, { query: listQuery }, (call) =>
      listBySeq(call, findCommenters(call), viewMember),
    ),
  ];
}

/**
 * `resolved` is accepted on change requests only, and has no effect on a reply. Source: docs/platform-notes.md#comments
 */
const replyUpdate = {
  Space: z.strictObject(editedBody),
  ChangeRequest: z.strictObject({ ...editedBody, resolved: z.boolean().optional() }),
};

function repliesOf({ base, name }: ContentFamily): readonly ApiOperation[] {
  const replies = `${base}/comments/{commentId}/replies` as const;
  const reply = `${replies}/{commentReplyId}` as const;
  return [
    operation(`list${name}CommentReplies`, 'GET', replies, { query: listQuery.extend(formatQuery) }, (call) => {
      const comment = requireComment(call);
      const items = call.store.replies.by('comment', comment.id);
      return listBySeq(call, items, (_, one) => viewReply(call, comment, one, call.query.format));
    }),
    // Answers 200, although something is created. Source: docs/platform-notes.md#write-status-codes
    operation(`post${name}CommentReply`, 'POST', replies, { body: z.strictObject(postedBody) }, (call) => {
      const comment = requireComment(call);
      const posted = createPost(call, 'rpl', call.body.body);
      return ok(viewReply(call, comment, call.store.replies.put({ ...posted, comment: comment.id })));
    }),
    operation(`get${name}CommentReply`, 'GET', reply, { query: z.strictObject(formatQuery) }, (call) =>
      ok(viewReply(call, requireComment(call), requireReply(call), call.query.format)),
    ),
    operation(`update${name}CommentReply`, 'PUT', reply, { body: replyUpdate[name] }, (call) => {
      const before = requireReply(call);
      const updated = call.store.replies.put({ ...before, ...applyEdit(call, before, call.body) });
      return ok(viewReply(call, requireComment(call), updated));
    }),
    operation(`delete${name}CommentReply`, 'DELETE', reply, {}, (call) =>
      deleted(call.store.replies.remove(findReply(call)?.id ?? '')),
    ),
  ];
}

/** Operations on comments, replies and commenters of spaces and change requests. Source: docs/platform-notes.md#comments */
export const commentOperations: readonly ApiOperation[] = [
  ...CONTENT_FAMILIES.flatMap(commentsOf),
  ...CONTENT_FAMILIES.flatMap(repliesOf),
];
