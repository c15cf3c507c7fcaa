import type { Context } from '../operation.ts';
import type { ReviewRecord } from '../review-records.ts';
import { changeRequestLocation } from './change-request.ts';
import { type CommentFormat, viewComment } from './comment.ts';
import { viewUserOf } from './people.ts';

/** Where the review is. */
export function reviewLocation(context: Context, review: ReviewRecord): string {
  const changeRequest = context.store.changeRequests.get(review.changeRequest);
  const base = changeRequest === undefined ? context.base : changeRequestLocation(context, changeRequest);
  return `${base}/reviews/${review.id}`;
}

/** The reviews that count: each person's last. */
export function lastReviews({ store }: Pick<Context, 'store'>, changeRequest: string): ReadonlySet<ReviewRecord> {
  const reviews = store.reviews.by('changeRequest', changeRequest);
  return new Set(new Map(reviews.map((review) => [review.reviewer, review])).values());
}

/** Review. `outdated` once the same person has submitted another. Source: docs/platform-notes.md#reviews */
export function viewReview(context: Context, review: ReviewRecord, format?: CommentFormat): unknown {
  const comment = review.comment === undefined ? undefined : context.store.comments.get(review.comment);
  return {
    object: 'change-request-review',
    id: review.id,
    revision: review.revision,
    reviewer: viewUserOf(context, review.reviewer),
    requestedBy: viewUserOf(context, review.requestedBy),
    status: review.status,
    outdated: !lastReviews(context, review.changeRequest).has(review),
    comment: comment === undefined ? undefined : viewComment(context, comment, format),
    createdAt: review.createdAt,
    updatedAt: review.createdAt,
    urls: { location: reviewLocation(context, review) },
  };
}
