// Operations on comments and commenters of spaces and change requests.

import { z } from 'zod';
import { CONTENT_FAMILIES, type ContentFamily, getContent, requireContentOwner } from '../content/content.ts';
import { type ApiAnswer, deleted, ok, referenced } from '../model/answers.ts';
import { type ApiOperation, type OperationCall, operation } from '../model/operation.ts';
import { list, listBySeq } from '../model/paging.ts';
import { id, type ListQuery, listQuery } from '../model/schema.ts';
import { findCallingUser, viewMember } from '../organizations/people.ts';
import {
  applyEdit,
  type CommentParams,
  createPost,
  editedBody,
  findComment,
  formatQuery,
  postedBody,
  requireComment,
  viewComment,
} from './comment.ts';
import type { CommentRecord } from './records.ts';

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

function listComments(call: OperationCall<string, CommentsQuery>, params: CommentParams): ApiAnswer {
  const { space, changeRequest } = requireContentOwner(call, params);
  return list(call, {
    items: call.store.comments
      .by('subject', changeRequest?.id ?? space.id)
      .filter((comment) => matches(comment, call.query)),
    key: (comment) => [comment.postedAt, comment.seq],
    descending: call.query.order !== 'asc',
    view: (_, comment) => viewComment(call, comment, call.query.format),
  });
}

/** Posts a comment. Answers 200, although something is created. Source: docs/platform-notes.md#write-status-codes */
function postComment(
  call: OperationCall<string, unknown, z.output<typeof commentCreation>>,
  params: CommentParams,
): ApiAnswer {
  const { store, body } = call;
  const { space, changeRequest } = requireContentOwner(call, params);
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

function updateComment(
  call: OperationCall<string, unknown, z.output<typeof commentUpdate>>,
  params: CommentParams,
): ApiAnswer {
  const { store, body } = call;
  const comment = requireComment(call, params);
  const resolution = { at: call.at, by: findCallingUser(call)?.id };
  const resolved = body.resolved === true ? (comment.resolved ?? resolution) : undefined;
  const kept = body.resolved === undefined ? comment.resolved : resolved;
  return ok(viewComment(call, store.comments.put({ ...comment, ...applyEdit(call, comment, body), resolved: kept })));
}

function deleteComment(call: OperationCall, params: CommentParams): ApiAnswer {
  const comment = findComment(call, params);
  for (const reply of comment === undefined ? [] : call.store.replies.by('comment', comment.id)) {
    call.store.replies.remove(reply.id);
  }
  return deleted(comment !== undefined && call.store.comments.remove(comment.id));
}

function commentsOf({ base, name }: ContentFamily): readonly ApiOperation[] {
  const path = `${base}/comments`;
  const paramsOf = (call: { readonly params: object }) => call.params as CommentParams;
  return [
    operation(`list${name}Comments`, 'GET', path, { query: commentsQuery }, (call) =>
      listComments(call, paramsOf(call)),
    ),
    operation(`post${name}Comment`, 'POST', path, { body: commentCreation }, (call) =>
      postComment(call, paramsOf(call)),
    ),
    operation(`get${name}Comment`, 'GET', `${path}/{commentId}`, { query: z.strictObject(formatQuery) }, (call) =>
      ok(viewComment(call, requireComment(call, paramsOf(call)), call.query.format)),
    ),
    operation(`update${name}Comment`, 'PUT', `${path}/{commentId}`, { body: commentUpdate }, (call) =>
      updateComment(call, paramsOf(call)),
    ),
    operation(`delete${name}Comment`, 'DELETE', `${path}/{commentId}`, {}, (call) =>
      deleteComment(call, paramsOf(call)),
    ),
  ];
}

/** Operations on comments of spaces and change requests. Source: docs/platform-notes.md#comments */
export const commentOperations: readonly ApiOperation[] = CONTENT_FAMILIES.flatMap(commentsOf);

/** Lists the members who commented or replied, without people who have left the organization. */
function listCommenters(call: OperationCall<string, ListQuery>, params: CommentParams): ApiAnswer {
  const { space, changeRequest } = requireContentOwner(call, params);
  const { store } = call;
  const comments = store.comments.by('subject', changeRequest?.id ?? space.id);
  const said = [...comments, ...comments.flatMap((comment) => store.replies.by('comment', comment.id))];
  const members = [...new Set(said.map(({ postedBy }) => postedBy))].flatMap((user) => {
    const member = user === undefined ? undefined : store.members.get(`${space.organization}/${user}`);
    return member === undefined ? [] : [member];
  });
  return listBySeq(call, members, viewMember);
}

function commentersOf({ base, name }: ContentFamily): ApiOperation {
  return operation(`list${name}Commenters`, 'GET', `${base}/commenters`, { query: listQuery }, (call) =>
    listCommenters(call, call.params as CommentParams),
  );
}

/** Operations that list who commented on spaces and change requests. Source: docs/platform-notes.md#comments */
export const commenterOperations: readonly ApiOperation[] = CONTENT_FAMILIES.map(commentersOf);
