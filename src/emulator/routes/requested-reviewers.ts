import { z } from 'zod';
import { type Answer, deleted, ok } from '../answers.ts';
import { change, refuseMerged } from '../change-request-work.ts';
import { callingUser, changeRequestAt, referenced, spaceAt } from '../lookup.ts';
import { type Call, type Operation, operation } from '../operation.ts';
import { list } from '../paging.ts';
import { present } from '../patch.ts';
import { requireDocument } from '../rich-document.ts';
import { id, listQuery, text } from '../schema.ts';
import { viewRequestedReviewer } from '../views/change-request.ts';

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

/** Users who are asked already are asked once; 400 for one who is no member of the organization. */
function requestReviewers(call: Call<typeof path, unknown, z.output<typeof reviewRequest>>): Answer {
  const { store, body } = call;
  const record = changeRequestAt(store, call.params.spaceId, call.params.changeRequestId);
  refuseMerged(record);
  const { organization } = spaceAt(store, record.space);
  const users = new Set(
    body.users.map((user) => referenced(store.members.get(`${organization}/${user}`), 'body.users', 'user', user).user),
  );
  const description =
    body.description === undefined ? undefined : requireDocument(body.description, 'body.description');
  const asked = record.requestedReviewers.filter((reviewer) => users.has(reviewer.user));
  const added = [...users]
    .filter((user) => asked.every((reviewer) => reviewer.user !== user))
    .map((user) => {
      const requestedBy = callingUser(store, call.caller)?.id;
      return { user, requestedBy, createdAt: call.at, revision: record.revision };
    });
  const requestedReviewers = [...record.requestedReviewers, ...added];
  change(call, record, { requestedReviewers, ...present({ subject: body.subject, description }) });
  return ok({ users: [...asked, ...added].map((reviewer) => viewRequestedReviewer(call, reviewer)) });
}

/** Operations on the requested reviewers of a change request. Source: docs/platform-notes.md#reviews */
export const requestedReviewerOperations: readonly Operation[] = [
  operation({
    name: 'listRequestedReviewers',
    method: 'GET',
    path,
    feature: 'requestedReviewers',
    query: listQuery,
    handle: (call) => {
      const record = changeRequestAt(call.store, call.params.spaceId, call.params.changeRequestId);
      return list(call, {
        items: record.requestedReviewers,
        key: (reviewer) => [reviewer.createdAt, record.requestedReviewers.indexOf(reviewer)],
        view: (reviewer) => viewRequestedReviewer(call, reviewer),
      });
    },
  }),
  operation({
    name: 'requestReviewers',
    method: 'POST',
    path,
    feature: 'requestedReviewers',
    body: reviewRequest,
    handle: requestReviewers,
  }),
  operation({
    name: 'removeRequestedReviewer',
    method: 'DELETE',
    path: `${path}/{userId}`,
    feature: 'requestedReviewers',
    handle: (call) => {
      const record = changeRequestAt(call.store, call.params.spaceId, call.params.changeRequestId);
      const left = record.requestedReviewers.filter((reviewer) => reviewer.user !== call.params.userId);
      const existed = left.length < record.requestedReviewers.length;
      if (existed) {
        refuseMerged(record);
        change(call, record, { requestedReviewers: left });
      }
      return deleted(existed);
    },
  }),
];
