import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import * as z from 'zod';
import type { Clock, Random } from '../../../core/clock.ts';
import { ConfigError } from '../../../core/errors.ts';
import { readAnswer } from '../../model/answers.ts';
import { openProviderClient } from '../../polling/provider-client.ts';
import { RenewedToken } from '../../polling/renewed-token.ts';
import { isGithubRefusal, readGithubRate } from './rate.ts';

export interface AppTokensOptions {
  readonly app: { readonly id: number; readonly installationId: number; readonly privateKey: string };
  readonly baseUrl: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** Tokens of an app's installation, valid for an hour each. */
export interface AppTokens {
  readonly access: RenewedToken;
  close(): Promise<void>;
}

/** Seconds by which a claim is backdated, in case GitHub's clock is slow, and the maximum lifetime of a claim. */
const CLOCK_TOLERANCE = 60;
const LIFE = 600;
/** Time before its expiry at which a token is renewed, in milliseconds. */
const RENEWAL_MARGIN = 300_000;

const tokenSchema = z.object({ token: z.string().min(1), expires_at: z.string() });

/** Opens the tokens of an app. The key is PEM, PKCS #1 as GitHub issues it or PKCS #8; otherwise throws ConfigError. */
export function openAppTokens({ app, baseUrl, userAgent, clock, random }: AppTokensOptions): AppTokens {
  const key = readKey(app.privateKey);
  const closing = new AbortController();
  const client = openProviderClient({
    label: 'GitHub',
    baseUrl,
    userAgent,
    headers: async () => ({ authorization: `Bearer ${await claim(app.id, key, clock.now())}` }),
    rate: readGithubRate,
    isRefusal: isGithubRefusal,
    concurrency: 1,
    clock,
    random,
  });
  const ask = async () => {
    const name = 'get an installation token';
    const path = `/app/installations/${app.installationId}/access_tokens`;
    const { body } = await client.request({ name, method: 'POST', path, signal: closing.signal });
    const { token, expires_at: expires } = readAnswer(tokenSchema, body, `GitHub: ${name}`);
    return { token, until: (Date.parse(expires) || 0) - RENEWAL_MARGIN };
  };
  return {
    access: new RenewedToken(clock, ask),
    async close() {
      closing.abort();
      await client.close();
    },
  };
}

/** Signs a claim. `now` is milliseconds since the epoch. */
function claim(app: number, key: KeyObject, now: number): Promise<string> {
  const issuedAt = Math.floor(now / 1000) - CLOCK_TOLERANCE;
  return new SignJWT()
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFE)
    .setIssuer(String(app))
    .sign(key);
}

function readKey(pem: string): KeyObject {
  // Environment variables often contain the key in one line.
  const key = keyOrNull(pem.replaceAll('\\n', '\n'));
  if (key?.asymmetricKeyType !== 'rsa') {
    throw new ConfigError('github.app.privateKey: an RSA private key as PEM without a passphrase is expected');
  }
  return key;
}

/** Reads a key. The error is dropped because it may quote the key. */
function keyOrNull(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null;
  }
}
