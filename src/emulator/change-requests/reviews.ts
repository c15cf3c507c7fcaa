/** Operations on the reviews of a change request and on its requested reviewers. */

import { z } from 'zod';
import { change, changeRequestLocation, refuseMerged, requireChangeRequest } from '../content/content.ts';
import type { RequestedReviewer } from '../content/records.ts';
import { optionalDocument } from '../documents/rich-document.ts';
import { type ApiAnswer, ApiError, created, deleted, ok, referenced } from '../model/answers.ts';
import { type ApiOperation, type Context, type OperationCall, ofFeature, operation } from '../model/operation.ts';
import { list, listBySeq } from '../model/paging.ts';
import { omitUndefined, pick } from '../model/patch.ts';
import { flag, id, listQuery, text } from '../model/schema.ts';
import { findCallingUser, viewUserOf } from '../organizations/people.ts';
import { spaceById } from '../spaces/views.ts';
import { type CommentFormat, createPost, formatQuery, postedBody, type ReviewRecord, viewComment } from './comments.ts';

/** Returns the address of a review. */
function reviewLocation(context: Context, review: ReviewRecord): string {
  const changeRequest = context.store.changeRequests.get(review.changeRequest);
  const base = changeRequest === undefined ? context.base : changeRequestLocation(context, changeRequest);
  return `${base}/reviews/${review.id}`;
}

/** Returns the reviews that count: the last one of each person. */
export function lastReviews({ store }: Pick<Context, 'store'>, changeRequest: string): ReadonlySet<ReviewRecord> {
  const reviews = store.reviews.by('changeRequest', changeRequest);
  return new Set(new Map(reviews.map((review) => [review.reviewer, review])).values());
}

/** Review. `outdated` once the same person has submitted another. Source: docs/platform-notes.md#reviews */
function viewReview(context: Context, review: ReviewRecord, format?: CommentFormat): unknown {
  const comment = review.comment === undefined ? undefined : context.store.comments.get(review.comment);
  return {
    object: 'change-request-review',
    ...pick(review, 'id', 'revision', 'status', 'createdAt'),
    reviewer: viewUserOf(context, review.reviewer),
    requestedBy: viewUserOf(context, review.requestedBy),
    outdated: !lastReviews(context, review.changeRequest).has(review),
    comment: comment === undefined ? undefined : viewComment(context, comment, format),
    updatedAt: review.createdAt,
    urls: { location: reviewLocation(context, review) },
  };
}

const REVIEWS = '/spaces/{spaceId}/change-requests/{changeRequestId}/reviews';

/** Body of a review; its comment has the form of any comment's body. Source: docs/platform-notes.md#reviews */
const submission = z.strictObject({
  status: z.enum(['approved', 'changes-requested']),
  comment: postedBody.body.optional(),
});

/**
 * Submits a review. Decisions of this emulator: drafts can be reviewed, but merged and archived change requests cannot
 * (400); the comment of a review is a comment of the change request; a requested review stays requested after it was
 * submitted.
 */
function submit(call: OperationCall<typeof REVIEWS, unknown, z.output<typeof submission>>): ApiAnswer {
  const { store, body } = call;
  const record = requireChangeRequest(call);
  refuseMerged(record);
  if (record.status === 'archived') {
    throw new ApiError(400, `Change request "${record.id}" is archived`);
  }
  const reviewer = findCallingUser(call);
  if (reviewer === undefined) {
    throw new ApiError(403, `${call.caller.user} is not a user and cannot review`);
  }
  const said = body.comment === undefined ? undefined : createPost(call, 'cmt', body.comment, 'body.comment');
  const identity = store.identify('rvw');
  if (said !== undefined) {
    const { space, id: changeRequest, revision } = record;
    store.comments.put({ ...said, space, changeRequest, review: identity.id, revision });
  }
  const review = store.reviews.put({
    ...identity,
    changeRequest: record.id,
    reviewer: reviewer.id,
    requestedBy: record.requestedReviewers.find((asked) => asked.user === reviewer.id)?.requestedBy,
    revision: record.revision,
    status: body.status,
    comment: said?.id,
    createdAt: call.at,
  });
  return created(viewReview(call, review), reviewLocation(call, review));
}

const listChangeRequestReviewsQuery = listQuery.extend({ ...formatQuery, outdated: flag.optional() });

/** Operations on the reviews of a change request. Source: docs/platform-notes.md#reviews */
const reviews: readonly ApiOperation[] = [
  operation('listChangeRequestReviews', 'GET', REVIEWS, { query: listChangeRequestReviewsQuery }, (call) => {
    const record = requireChangeRequest(call);
    const last = lastReviews(call, record.id);
    const { outdated, format } = call.query;
    const items = call.store.reviews
      .by('changeRequest', record.id)
      .filter((review) => outdated === undefined || outdated === !last.has(review));
    return listBySeq(call, items, (_, review) => viewReview(call, review, format));
  }),
  operation('submitChangeRequestReview', 'POST', REVIEWS, { body: submission }, submit),
];

/** One requested reviewer of a change request. Source: docs/platform-notes.md#reviews */
function viewRequestedReviewer(context: Context, reviewer: RequestedReviewer): unknown {
  return {
    object: 'change-request-requested-reviewer',
    kind: 'user',
    user: viewUserOf(context, reviewer.user),
    revision: reviewer.revision,
    requestedBy: viewUserOf(context, reviewer.requestedBy),
    createdAt: reviewer.createdAt,
  };
}

const REVIEWERS = '/spaces/{spaceId}/change-requests/{changeRequestId}/requested-reviewers';

/**
 * At least one user. The subject and description are those of the change request.
 * Source: docs/platform-notes.md#reviews
 */
const reviewRequest = z.strictObject({
  users: z.array(id).min(1, { error: 'must name at least one user' }),
  subject: text(0, 100).optional(),
  description: z.unknown().optional(),
});

/**
 * Requests reviews. A user whose review is already requested is not added again. Throws a 400 for a user who is not a
 * member of the organization.
 */
function requestReviewers(call: OperationCall<typeof REVIEWERS, unknown, z.output<typeof reviewRequest>>): ApiAnswer {
  const { store, body } = call;
  const record = requireChangeRequest(call);
  refuseMerged(record);
  const { organization } = spaceById(store, record.space);
  const users = new Set(
    body.users.map((user) => referenced(store.members.get(`${organization}/${user}`), 'body.users', 'user', user).user),
  );
  const description = optionalDocument(body.description, 'body.description');
  const asked = record.requestedReviewers.filter((reviewer) => users.has(reviewer.user));
  const added = [...users]
    .filter((user) => asked.every((reviewer) => reviewer.user !== user))
    .map((user) => {
      const requestedBy = findCallingUser(call)?.id;
      return { user, requestedBy, createdAt: call.at, revision: record.revision };
    });
  const requestedReviewers = [...record.requestedReviewers, ...added];
  change(call, record, { requestedReviewers, ...omitUndefined({ subject: body.subject, description }) });
  return ok({ users: [...asked, ...added].map((reviewer) => viewRequestedReviewer(call, reviewer)) });
}

/** Operations on the requested reviewers of a change request. Source: docs/platform-notes.md#reviews */
const requestedReviewers: readonly ApiOperation[] = [
  operation('listRequestedReviewers', 'GET', REVIEWERS, { query: listQuery }, (call) => {
    const record = requireChangeRequest(call);
    return list(call, {
      items: record.requestedReviewers,
      key: (reviewer) => [reviewer.createdAt, record.requestedReviewers.indexOf(reviewer)],
      view: viewRequestedReviewer,
    });
  }),
  operation('requestReviewers', 'POST', REVIEWERS, { body: reviewRequest }, requestReviewers),
  operation('removeRequestedReviewer', 'DELETE', `${REVIEWERS}/{userId}`, {}, (call) => {
    const record = requireChangeRequest(call);
    const left = record.requestedReviewers.filter((reviewer) => reviewer.user !== call.params.userId);
    const existed = left.length < record.requestedReviewers.length;
    if (existed) {
      refuseMerged(record);
      change(call, record, { requestedReviewers: left });
    }
    return deleted(existed);
  }),
];

/** Operations on the reviews of a change request and on its requested reviewers. */
export const reviewOperations: readonly ApiOperation[] = [
  ...ofFeature('requestedReviewers', requestedReviewers),
  ...reviews,
];
