import { ApiError, ok } from '../answers.ts';
import { callingUser } from '../lookup.ts';
import { type Operation, operation } from '../operation.ts';
import { versionOf } from '../versions.ts';
import { viewUserOf } from '../views/people.ts';

/**
 * `GET /v1/`, and `GET /v1/user`: the user of the token.
 * Source: docs/platform-notes.md#operations-beyond-the-api-document
 */
export const platformOperations: readonly Operation[] = [
  operation({
    name: 'getVersion',
    method: 'GET',
    path: '/',
    handle: ({ features }) => ok({ version: `${versionOf(features)}.0`, build: 'emulator' }),
  }),
  operation({
    name: 'getAuthenticatedUser',
    method: 'GET',
    path: '/user',
    handle: (call) => {
      const user = callingUser(call.store, call.caller);
      if (user === undefined) {
        throw new ApiError(404, 'The token does not belong to a user');
      }
      return ok(viewUserOf(call, user.id));
    },
  }),
];
