import type { Change } from '../../core/change.ts';
import { AuthError, NotThePlatformError, RejectedError } from '../../core/errors.ts';
import type { Actual } from '../../core/resource.ts';
import { PeopleAddresses } from '../../plan/model/people.ts';
import type { KindRules } from '../../plan/model/rules.ts';
import type { Reader } from '../../platform/client.ts';
import { resourceOperations } from '../../platform/operations/resources.ts';

/** Reports whether a plan removes anybody or demotes an admin: then it matters whose token is used. */
export function couldLockOut(kinds: readonly KindRules[], changes: readonly Change[]): boolean {
  const people = new PeopleAddresses(kinds);
  return changes.some(({ kind, action, paused, fields }) => {
    const rules = paused === null ? people.rules(kind) : null;
    return (
      rules !== null &&
      (action === 'delete' || fields.some(({ path, from }) => path === rules.roleField && from === rules.adminRole))
    );
  });
}

/**
 * The email of the user whose token is used; null if the platform does not report it, such as for the token of an
 * integration. Makes one request. Throws AppError if the request fails.
 */
export async function ownUser(reader: Reader, members: readonly Actual[] = []): Promise<string | null> {
  try {
    const { id, email } = await reader.get(resourceOperations.getAuthenticatedUser);
    const member = members.find((one) => one.id === id);
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
