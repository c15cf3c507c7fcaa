// Resolves tokens to their callers.

import type { Clock } from '../core/clock.ts';
import type { Caller } from './model/operation.ts';
import type { EmulatorStore } from './model/store.ts';

/** Returns the first organization, to which the admin token belongs; empty if there is none. */
export function firstOrganization(store: EmulatorStore): string {
  const [first] = store.organizations.all();
  return first?.id ?? '';
}

/** Returns the email address of the admin token's user. */
function firstAdmin(store: EmulatorStore): string {
  const members = store.members.by('organization', firstOrganization(store));
  const admin = members.find((member) => member.role === 'admin') ?? members[0];
  return (admin === undefined ? undefined : store.users.get(admin.user)?.email) ?? 'nobody@emulator.example';
}

/**
 * Finds the caller of an integration's or installation's token. The token determines the source of what it ingests.
 * Source: docs/platform-notes.md#conversations
 */
function integrationOf(store: EmulatorStore, now: number, given: string): Caller | undefined {
  const token = store.integrationTokens.get(given);
  const integration = token === undefined ? undefined : store.integrations.get(token.integration);
  if (token === undefined || integration === undefined || (token.expiresAt ?? Number.POSITIVE_INFINITY) <= now) {
    return undefined;
  }
  if (token.installation === undefined) {
    return { user: `integration:${integration.id}`, permission: 'admin', integration: integration.id };
  }
  const source = `integration:${integration.id}:${token.installation}`;
  const organization = store.installations.get(token.installation)?.organization ?? '';
  return {
    user: source,
    permission: 'admin',
    source,
    integration: integration.id,
    installation: { organization, scopes: integration.scopes },
  };
}

/** Returns the caller of a token: the admin, a user of the options, or an integration. */
export function createCallerLookup(
  store: EmulatorStore,
  clock: Clock,
  token: string,
  tokens: Readonly<Record<string, Caller>> | undefined,
): (token: string) => Caller | undefined {
  return (given) => {
    if (given === token) {
      return { user: firstAdmin(store), permission: 'admin' };
    }
    return tokens !== undefined && Object.hasOwn(tokens, given)
      ? tokens[given]
      : integrationOf(store, clock.now(), given);
  };
}
