/** Client of GitHub: tokens of an app, redirects and rate limits. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import * as z from 'zod';
import { AuthError, ConfigError, NotThePlatformError, RateLimitedError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { type RateHeaders, readRateHeaders } from '../../queue/request.ts';
import {
  type HeaderRecord,
  openProviderClient,
  type ProviderAnswer,
  type ProviderClient,
  type ProviderOptions,
  type ProviderRequest,
  type ProviderTokens,
  pathBelow,
  RenewedToken,
  readAnswer,
} from './provider.ts';

type GithubOptions = ProviderOptions<'github'>;

const MOVED = [301, 302, 307, 308];
const MAX_MOVES = 5;
/** Consecutive refusals after which the request fails. */
const MAX_REFUSALS = 5;

/**
 * Opens a client of GitHub, which follows renamed repositories, renews tokens, and recognizes secondary rate limits by
 * their text. Throws ConfigError if the key of an app cannot be read.
 */
export function openGithubClient(options: GithubOptions): ProviderClient {
  const { app, baseUrl, clock, token = '' } = options;
  const client = openProviderClient(options, {
    label: 'GitHub',
    baseUrl,
    tokens: app === undefined ? null : openAppTokens(options, app),
    headers: async () => ({
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      ...(app === undefined ? { authorization: `Bearer ${token}` } : {}),
    }),
    rate: readGithubRate,
    isRefusal: isGithubRefusal,
  });
  let refusals = 0;
  /** Time on the monotonic clock before which no request is sent. */
  let closedUntil = Number.NEGATIVE_INFINITY;
  const remaining = () => Math.max(0, closedUntil - clock.monotonic());

  /** Sends a request. A secondary rate limit pauses all requests: for at least a minute, doubled each time. */
  async function unrefused(request: ProviderRequest): Promise<ProviderAnswer> {
    for (;;) {
      while (remaining() > 0) {
        await clock.sleep(remaining(), request.signal);
      }
      const sentAt = clock.monotonic();
      const answer = await client.request({ ...request, accepts: [...MOVED, 403, ...(request.accepts ?? [])] });
      if (answer.status !== 403) {
        refusals = 0;
        return answer;
      }
      if (!isTextOfRefusal(answer.body)) {
        throw new AuthError(`GitHub: ${request.name}: status 403: the token lacks a permission`, 403);
      }
      if (sentAt >= closedUntil) {
        refusals += 1;
        closedUntil = clock.monotonic() + MIN_WAIT * 2 ** (refusals - 1);
      }
      if (refusals >= MAX_REFUSALS) {
        throw new RateLimitedError(`GitHub: ${request.name}: rate limit exceeded repeatedly`, remaining());
      }
    }
  }

  return {
    async request(request) {
      let { path } = request;
      for (let moves = 0; moves <= MAX_MOVES; moves += 1) {
        const answer = await unrefused({ ...request, path });
        if (!MOVED.includes(answer.status)) {
          return answer;
        }
        path = pathBelow(baseUrl, String(answer.headers.location ?? ''), `GitHub: ${request.name}`);
      }
      throw new NotThePlatformError(`GitHub: ${request.name}: too many redirects`);
    },
    close: client.close,
  };
}

function isTextOfRefusal(body: unknown): boolean {
  const texts = isObject(body) ? [body.message, body.documentation_url] : [];
  return texts.some((text) => typeof text === 'string' && /rate[ -]limit/i.test(text));
}

/** Seconds by which a claim is backdated, in case GitHub's clock is slow, and the maximum lifetime of a claim. */
const CLOCK_TOLERANCE = 60;
const LIFE = 600;
/** Time before its expiry at which a token is renewed, in milliseconds. */
const RENEWAL_MARGIN = 300_000;

const tokenSchema = z.object({ token: z.string().min(1), expires_at: z.string() });

/**
 * Opens the tokens of an app's installation, valid for an hour each. The key is PEM, PKCS #1 as GitHub issues it or
 * PKCS #8; otherwise throws ConfigError.
 */
function openAppTokens(
  options: GithubOptions,
  { id, installationId, privateKey }: NonNullable<GithubOptions['app']>,
): ProviderTokens {
  const { baseUrl, clock } = options;
  const key = readKey(privateKey);
  const closing = new AbortController();
  const client = openProviderClient(
    { ...options, concurrency: 1 },
    {
      label: 'GitHub',
      baseUrl,
      headers: async () => ({ authorization: `Bearer ${await claim(id, key, clock.now())}` }),
      rate: readGithubRate,
      isRefusal: isGithubRefusal,
    },
  );
  const access = new RenewedToken(clock, async () => {
    const name = 'get an installation token';
    const path = `/app/installations/${installationId}/access_tokens`;
    const { body } = await client.request({ name, method: 'POST', path, signal: closing.signal });
    const { token, expires_at: expires } = readAnswer(tokenSchema, body, `GitHub: ${name}`);
    return { token, until: (Date.parse(expires) || 0) - RENEWAL_MARGIN };
  });
  return {
    access,
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
  let key: KeyObject | null = null;
  try {
    // Environment variables often contain the key in one line.
    key = createPrivateKey(pem.replaceAll('\\n', '\n'));
  } catch {
    // The error may quote the key.
  }
  if (key?.asymmetricKeyType !== 'rsa') {
    throw new ConfigError('github.app.privateKey: an RSA private key as PEM without a passphrase is expected');
  }
  return key;
}

/**
 * Minimum wait after a rate limit without a wait or reset in the response, in milliseconds. Source:
 * docs/helpdesk-notes.md#github
 */
const MIN_WAIT = 60_000;

/**
 * Reads GitHub's rate-limit headers. `retryAfter` applies if the request was rate limited: without `Retry-After` and
 * with requests left, a secondary limit was exceeded, which has no headers and no reset.
 */
function readGithubRate(headers: HeaderRecord): RateHeaders {
  const read = readRateHeaders(headers);
  const endsAtReset = read.remaining === 0 && read.reset !== null;
  return { ...read, retryAfter: read.retryAfter ?? (endsAtReset ? null : MIN_WAIT) };
}

/**
 * Reports whether a response is due to a rate limit: GitHub also uses 403 for it. Source: docs/helpdesk-notes.md#github
 */
function isGithubRefusal(status: number, headers: HeaderRecord): boolean {
  const { remaining, retryAfter } = readRateHeaders(headers);
  return status === 403 && (remaining === 0 || retryAfter !== null);
}
