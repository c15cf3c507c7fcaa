// Operations on the requested reviewers of a change request.

import { z } from 'zod';
import { change, refuseMerged, requireChangeRequest } from '../content/change-request.ts';
import type { RequestedReviewer } from '../content/records.ts';
import { requireDocument } from '../documents/rich-document.ts';
import { type ApiAnswer, deleted, ok, referenced } from '../model/answers.ts';
import { type ApiOperation, type Context, type OperationCall, operation } from '../model/operation.ts';
import { list } from '../model/paging.ts';
import { omitUndefined } from '../model/patch.ts';
import { id, listQuery, text } from '../model/schema.ts';
import { findCallingUser, viewUserOf } from '../organizations/people.ts';
import { spaceById } from '../spaces/views.ts';

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

const path = '/spaces/{spaceId}/change-requests/{changeRequestId}/requested-reviewers';

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
function requestReviewers(call: OperationCall<typeof path, unknown, z.output<typeof reviewRequest>>): ApiAnswer {
  const { store, body } = call;
  const record = requireChangeRequest(call);
  refuseMerged(record);
  const { organization } = spaceById(store, record.space);
  const users = new Set(
    body.users.map((user) => referenced(store.members.get(`${organization}/${user}`), 'body.users', 'user', user).user),
  );
  const description =
    body.description === undefined ? undefined : requireDocument(body.description, 'body.description');
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
export const requestedReviewerOperations: readonly ApiOperation[] = [
  operation('listRequestedReviewers', 'GET', path, { feature: 'requestedReviewers', query: listQuery }, (call) => {
    const record = requireChangeRequest(call);
    return list(call, {
      items: record.requestedReviewers,
      key: (reviewer) => [reviewer.createdAt, record.requestedReviewers.indexOf(reviewer)],
      view: viewRequestedReviewer,
    });
  }),
  operation('requestReviewers', 'POST', path, { feature: 'requestedReviewers', body: reviewRequest }, requestReviewers),
  operation('removeRequestedReviewer', 'DELETE', `${path}/{userId}`, { feature: 'requestedReviewers' }, (call) => {
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
