import type { Change } from '../core/change.ts';
import { AuthError, NotThePlatformError, RejectedError } from '../core/errors.ts';
import type { Observation } from '../core/resource.ts';
import type { Reader } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';

/** Tells whether a plan removes or demotes an admin or removes anybody: then it matters whose token is used. */
export function couldLockOut(changes: readonly Change[]): boolean {
  return changes.some(
    ({ kind, action, paused, fields }) =>
      kind === 'member' &&
      paused === null &&
      (action === 'delete' || fields.some(({ path, from }) => path === 'role' && from === 'admin')),
  );
}

/**
 * The email of the user whose token is used; null where the platform does not tell, such as for the token of an
 * integration. Makes one request. Throws AppError where the platform cannot be asked now.
 */
export async function ownUser(reader: Reader, observation?: Observation): Promise<string | null> {
  try {
    const { id, email } = await reader.get(operations.getAuthenticatedUser);
    const member = observation?.kinds.get('member')?.find((one) => one.id === id);
    return email || (member?.title ?? null);
  } catch (error) {
    if (error instanceof RejectedError || error instanceof NotThePlatformError) {
      return null;
    }
    if (error instanceof AuthError && error.status === 403) {
      return null;
    }
    throw error;
  }
}
