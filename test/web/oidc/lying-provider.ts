/** An OpenID Connect provider that checks codes as a real one does, and whose every answer a test can change. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Answer = Readonly<Record<string, unknown>>;

export interface LyingProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Paths of requests, in their order. */
  readonly asked: readonly string[];
  /** Changes in the discovery document. */
  metadata: Answer;
  /** Changes of the claims in the ID token; undefined removes one. Null: there is no ID token. */
  claims: Answer | null;
  /** Changes in the answer to a code or a refresh token. */
  tokens: Answer;
  userInfo: Answer;
  /** Changes in the header of the ID token. */
  header: Answer;
  /** Changes in the published key. */
  key: Answer;
  /** Answers instead of the provider: a status with a body, or `hang`. By path. */
  readonly instead: Map<string, { readonly status: number; readonly body: string; readonly type?: string } | 'hang'>;
  /** Parameters of the sign-in that has begun. */
  sent: URLSearchParams;
}

const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** A key that the provider does not publish. */
export const ANOTHER_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });

/** Starts the provider. */
export async function startLyingProvider(): Promise<LyingProvider> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked: string[] = [];
  const provider: LyingProvider = {
    ...{ issuer, asked, metadata: {}, claims: {}, tokens: {}, header: {}, key: {} },
    ...{ userInfo: { sub: 'u-1' }, instead: new Map(), sent: new URLSearchParams() },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
  server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url?.split('?')[0] ?? '';
    asked.push(path);
    const isRefused = path === '/token' && !(await isProven(provider, request));
    const other = isRefused ? { status: 400, body: '{"error":"invalid_grant"}' } : provider.instead.get(path);
    if (other === 'hang') {
      return;
    }
    const usual = { status: 200, body: JSON.stringify(answerOf(provider, path)), type: 'application/json' };
    const { status, body, type } = { ...usual, ...other };
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  return provider;
}

/** Returns true if a request has the secret of the client, and with a code the proof and the address of its sign-in. */
async function isProven({ sent }: LyingProvider, request: IncomingMessage): Promise<boolean> {
  const form = new URLSearchParams(await text(request));
  const proof = createHash('sha256')
    .update(String(form.get('code_verifier')))
    .digest('base64url');
  const isOwn = proof === sent.get('code_challenge') && form.get('redirect_uri') === sent.get('redirect_uri');
  const secret = decodeURIComponent(atob(request.headers.authorization?.replace(/^Basic /, '') ?? ''));
  return secret === 'octavo:secret-of-octavo' && (form.get('grant_type') === 'refresh_token' || isOwn);
}

function answerOf(provider: LyingProvider, path: string): Answer {
  const { issuer, metadata, userInfo, key } = provider;
  if (path === '/token') {
    return tokensOf(provider);
  }
  if (path === '/jwks') {
    return { keys: [{ ...KEYS.publicKey.export({ format: 'jwk' }), kid: 'a', alg: 'RS256', use: 'sig', ...key }] };
  }
  return path === '/userinfo'
    ? userInfo
    : {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...metadata,
      };
}

function tokensOf({ issuer, claims, sent, tokens, header }: LyingProvider): Answer {
  const now = Math.floor(Date.now() / 1000);
  const nonce = sent.get('nonce');
  const usual = { iss: issuer, aud: 'octavo', sub: 'u-1', iat: now, exp: now + 600, nonce, groups: [] };
  const person = { email: 'ana@acme.example', email_verified: true };
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'RS256', kid: 'a', ...header })}.${encode({ ...usual, ...person, ...claims })}`;
  const signature = sign('sha256', Buffer.from(signed), KEYS.privateKey).toString('base64url');
  const identity = claims === null ? {} : { id_token: `${signed}.${signature}` };
  return { access_token: 'an-access-token', token_type: 'Bearer', expires_in: 600, ...identity, ...tokens };
}
