/** Process of an OpenID Connect provider. Its parent sends the redirect URLs, and then accounts with their claims. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

type Claims = Readonly<Record<string, unknown>>;
/** Message of the parent: URLs at the start, afterwards an account; claims of null remove it. */
type Message =
  | { readonly redirectUris: Readonly<Record<string, string>> }
  | { readonly id: string; readonly claims: Claims | null };

const accounts = new Map<string, Claims>();

async function start(redirectUris: Readonly<Record<string, string>>): Promise<void> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: Object.entries(redirectUris).map(([client, redirectUri]) => ({
      client_id: client,
      client_secret: `secret-of-${client}`,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
    })),
    scopes: ['openid', 'offline_access'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    cookies: { keys: ['a-cookie-key'] },
    issueRefreshToken: async () => true,
    rotateRefreshToken: false,
    findAccount: (_context: unknown, id: string) =>
      accounts.has(id) ? { accountId: id, claims: async () => ({ sub: id, ...accounts.get(id) }) } : undefined,
  });
  server.on('request', provider.callback());
  process.send?.({ issuer });
}

process.on('message', (message: Message) => {
  if ('redirectUris' in message) {
    void start(message.redirectUris);
    return;
  }
  if (message.claims === null) {
    accounts.delete(message.id);
  } else {
    accounts.set(message.id, message.claims);
  }
  process.send?.({ id: message.id });
});
process.on('disconnect', () => process.exit());
