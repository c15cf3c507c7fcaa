import { z } from 'zod';
import { type Answer, ApiError, created } from '../answers.ts';
import { refuseMerged } from '../change-request-work.ts';
import { callingUser, changeRequestAt } from '../lookup.ts';
import { type Call, type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { formatQuery, postedBody, saidNow } from '../said.ts';
import { flag, listQuery } from '../schema.ts';
import { lastReviews, reviewLocation, viewReview } from '../views/review.ts';

const REVIEWS = '/spaces/{spaceId}/change-requests/{changeRequestId}/reviews';

/** Its comment has the form of any comment's body. Source: docs/platform-notes.md#reviews */
const submission = z.strictObject({
  status: z.enum(['approved', 'changes-requested']),
  comment: postedBody.body.optional(),
});

/**
 * Decisions of this emulator: drafts are reviewed too, what is merged or archived is not (400); what is said with a
 * review is a comment of the change request; and who was asked for a review still is asked after it.
 */
function submit(call: Call<typeof REVIEWS, unknown, z.output<typeof submission>>): Answer {
  const { store, params, body } = call;
  const record = changeRequestAt(store, params.spaceId, params.changeRequestId);
  refuseMerged(record);
  if (record.status === 'archived') {
    throw new ApiError(400, `Change request "${record.id}" is archived`);
  }
  const reviewer = callingUser(store, call.caller);
  if (reviewer === undefined) {
    throw new ApiError(403, `${call.caller.user} is nobody who can review`);
  }
  const said = body.comment === undefined ? undefined : saidNow(call, 'cmt', body.comment, 'body.comment');
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

/** Operations on the reviews of a change request. Source: docs/platform-notes.md#reviews */
export const reviewOperations: readonly Operation[] = [
  operation({
    name: 'listReviews',
    method: 'GET',
    path: REVIEWS,
    query: listQuery.extend({ ...formatQuery, outdated: flag.optional() }),
    handle: (call) => {
      const record = changeRequestAt(call.store, call.params.spaceId, call.params.changeRequestId);
      const last = lastReviews(call, record.id);
      const { outdated, format } = call.query;
      const items = call.store.reviews
        .by('changeRequest', record.id)
        .filter((review) => outdated === undefined || outdated === !last.has(review));
      return listBySeq(call, items, (review) => viewReview(call, review, format));
    },
  }),
  operation({ name: 'submitReview', method: 'POST', path: REVIEWS, body: submission, handle: submit }),
];
