// Operations on the reviews of a change request.

import { z } from 'zod';
import { changeRequestLocation, refuseMerged, requireChangeRequest } from '../content/change-request.ts';
import { type ApiAnswer, ApiError, created } from '../model/answers.ts';
import { type ApiOperation, type Context, type OperationCall, operation } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { pick } from '../model/patch.ts';
import { flag, listQuery } from '../model/schema.ts';
import { findCallingUser, viewUserOf } from '../organizations/people.ts';
import { type CommentFormat, createPost, formatQuery, postedBody, viewComment } from './comment.ts';
import type { ReviewRecord } from './records.ts';

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
export const reviewOperations: readonly ApiOperation[] = [
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
