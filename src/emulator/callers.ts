import type { Clock } from '../core/clock.ts';
import type { Caller } from './operation.ts';
import type { Store } from './store.ts';

/** The first organization, whose first admin the admin token stands for; empty where there is none. */
export function firstOrganization(store: Store): string {
  const [first] = store.organizations.all();
  return first?.id ?? '';
}

/** The user whom the admin token stands for. */
function firstAdmin(store: Store): string {
  const members = store.members.by('organization', firstOrganization(store));
  const admin = members.find((member) => member.role === 'admin') ?? members[0];
  return (admin === undefined ? undefined : store.users.get(admin.user)?.email) ?? 'nobody@emulator.example';
}

/** An installation's token: what it ingests comes from there (supplement, section 4: Conversation `source`). */
function installationOf(store: Store, now: number, given: string): Caller | undefined {
  const token = store.installationTokens.get(given);
  const installation = token === undefined ? undefined : store.installations.get(token.installation);
  const integration = installation === undefined ? undefined : store.integrations.get(installation.integration);
  if (token === undefined || installation === undefined || integration === undefined || token.expiresAt <= now) {
    return undefined;
  }
  const source = `integration:${integration.id}:${installation.id}`;
  const { organization } = installation;
  return {
    user: source,
    permission: 'admin',
    source,
    integration: integration.id,
    installation: { organization, scopes: integration.scopes },
  };
}

/** Who a token stands for: the admin, somebody that the options name, or an installation. */
export function callers(
  store: Store,
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
      : installationOf(store, clock.now(), given);
  };
}
