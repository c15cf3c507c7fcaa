/** An OpenID Connect provider in the test process. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Claims of accounts, by the name that a person signs in with. */
  readonly accounts: Map<string, Readonly<Record<string, unknown>>>;
}

/** Starts a provider with one client, whose redirect URL is on this host. */
export async function startIdentityProvider(redirectUri: string): Promise<IdentityProvider> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const accounts = new Map<string, Readonly<Record<string, unknown>>>();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'octavo',
        client_secret: 'a-client-secret',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    scopes: ['openid', 'offline_access'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    cookies: { keys: ['a-cookie-key'] },
    issueRefreshToken: async () => true,
    rotateRefreshToken: false,
    findAccount: (_context: unknown, id: string) =>
      accounts.has(id) ? { accountId: id, claims: async () => ({ sub: id, ...accounts.get(id) }) } : undefined,
  });
  server.on('request', provider.callback());
  return {
    issuer,
    accounts,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
