// Operations on reviews of change requests.

import * as z from 'zod';
import { list, write } from '../model/operation.ts';
import { optionalFlag, optionalText, urls, user } from '../model/shapes.ts';
import { comment, commentBody } from './comments.ts';

/** A review, as read. */
const review = z.looseObject({
  id: optionalText,
  revision: optionalText,
  reviewer: user.nullish(),
  requestedBy: user.nullish(),
  /** `approved` or `changes-requested`. */
  status: optionalText,
  outdated: optionalFlag,
  comment: comment.nullish(),
  createdAt: optionalText,
  updatedAt: optionalText,
  urls,
});
const path = '/v1/spaces/{spaceId}/change-requests/{changeRequestId}/reviews';

/** Operations on reviews of change requests. Source: docs/platform-notes.md#reviews */
export const reviewOperations = {
  listChangeRequestReviews: list('listChangeRequestReviews', 'Lists the reviews of a change request.', path, review),
  submitChangeRequestReview: write(
    'submitChangeRequestReview',
    'Approves a change request, or requests changes.',
    'POST',
    path,
    {
      body: z.strictObject({ status: z.enum(['approved', 'changes-requested']), comment: commentBody.optional() }),
      answer: review,
      repeat: 'never',
      success: [200, 201],
    },
  ),
};
