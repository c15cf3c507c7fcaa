import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Clock, Random } from '../../../core/clock.ts';
import { endsWithin } from '../../../core/clock.ts';
import { AuthError } from '../../../core/errors.ts';
import type { Note } from '../../../store/record.ts';
import { readAnswer } from '../../model/answers.ts';
import { openProviderClient, type ProviderAnswer, type ProviderClient } from '../../polling/provider-client.ts';
import { type FreshToken, RenewedToken } from '../../polling/renewed-token.ts';
import { readZendeskRate } from './rate.ts';

/** An OAuth client and its initial refresh token. */
export interface OauthSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly refreshToken: string;
}

export interface OauthTokensOptions {
  readonly oauth: OauthSettings;
  /** Name of the source in messages. */
  readonly name: string;
  readonly baseUrl: string;
  /** Storage of the tokens of this source. */
  readonly note: Note;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
}

export interface OauthTokens {
  readonly access: RenewedToken;
  close(): Promise<void>;
}

/** Stored tokens. Times are milliseconds since the epoch. */
const storedSchema = z.object({
  /** Digest of the settings; with other settings the stored tokens are not used. */
  origin: z.string(),
  refreshToken: z.string().min(1),
  access: z.object({ token: z.string().min(1), until: z.number() }).nullable(),
});
type StoredTokens = z.output<typeof storedSchema>;

const grantSchema = z.object({
  access_token: z.string().min(1),
  /** Absent if the last refresh token stays valid. */
  refresh_token: z.string().min(1).nullish(),
  /** Seconds; absent if the access token does not expire. */
  expires_in: z.number().positive().nullish(),
});
const refusalSchema = z.object({ error: z.string().regex(/^[a-z_]{1,40}$/) });

const RENEW = 'renew the access token';
const REFUSED = [400, 401, 403];
/** Time before its expiry at which an access token is renewed, in milliseconds; at most a tenth of its lifetime. */
const RENEWAL_MARGIN = 300_000;
const NEVER = Number.MAX_SAFE_INTEGER;
/** Time limit in milliseconds for a renewal in flight on shutdown. */
const CLOSE_TIMEOUT = 2000;

/**
 * Opens the access tokens of Zendesk's refresh token grant. A refresh token can be used once: the response contains the
 * next one, and invalidates the previous access token. The next refresh token is therefore stored before the new access
 * token is used. A new refresh token in the configuration replaces the stored one. Source:
 * docs/helpdesk-notes.md#zendesk
 */
export function openOauthTokens(options: OauthTokensOptions): OauthTokens {
  const { baseUrl, userAgent, clock, random } = options;
  const client = openProviderClient({
    label: 'Zendesk',
    baseUrl,
    userAgent,
    headers: async () => ({}),
    rate: readZendeskRate,
    concurrency: 1,
    clock,
    random,
  });
  const chain = new TokenChain(options, client);
  return {
    access: new RenewedToken(clock, (isRefused) => chain.renew(isRefused)),
    async close() {
      await chain.close();
      await client.close();
    },
  };
}

class TokenChain {
  readonly #options: OauthTokensOptions;
  readonly #client: ProviderClient;
  readonly #closing = new AbortController();
  #kept: StoredTokens | null = null;
  /** True if the current tokens are stored. */
  #isDurable = true;
  /** Renewal in flight. */
  #renewal: Promise<FreshToken> | undefined;

  constructor(options: OauthTokensOptions, client: ProviderClient) {
    this.#options = options;
    this.#client = client;
  }

  /** Waits for a renewal in flight and stores its tokens, because the refresh token that it used is no longer valid. */
  async close(): Promise<void> {
    await endsWithin(this.#options.clock, CLOSE_TIMEOUT, [this.#renewal?.catch(() => undefined)]);
    this.#closing.abort();
  }

  /** Returns an access token: the stored one if it is valid, otherwise a new one. Throws AppError. */
  renew(isRefused: boolean): Promise<FreshToken> {
    this.#renewal = this.#renewed(isRefused);
    return this.#renewal;
  }

  async #renewed(isRefused: boolean): Promise<FreshToken> {
    const { clock } = this.#options;
    this.#kept ??= await this.#load();
    // The last write failed. It must succeed before another renewal.
    await this.#save();
    const { access } = this.#kept;
    if (access !== null && !isRefused && access.until > clock.now()) {
      return access;
    }
    const { next, access: fresh } = await this.#ask(this.#kept);
    this.#kept = next;
    this.#isDurable = false;
    await this.#save();
    return fresh;
  }

  async #load(): Promise<StoredTokens> {
    const { oauth, baseUrl, note } = this.#options;
    const own = [baseUrl, oauth.clientId, oauth.refreshToken];
    const origin = createHash('sha256').update(JSON.stringify(own)).digest('hex');
    const kept = storedSchema.safeParse(await note.read());
    return kept.data?.origin === origin ? kept.data : { origin, refreshToken: oauth.refreshToken, access: null };
  }

  async #save(): Promise<void> {
    if (!this.#isDurable) {
      await this.#options.note.write(this.#kept);
      this.#isDurable = true;
    }
  }

  async #ask(kept: StoredTokens): Promise<{ readonly next: StoredTokens; readonly access: FreshToken }> {
    const { oauth, clock } = this.#options;
    const askedAt = clock.now();
    const answer = await this.#client.request({
      name: RENEW,
      method: 'POST',
      path: '/oauth/tokens',
      body: {
        grant_type: 'refresh_token',
        refresh_token: kept.refreshToken,
        client_id: oauth.clientId,
        client_secret: oauth.clientSecret,
      },
      accepts: REFUSED,
      signal: this.#closing.signal,
    });
    if (REFUSED.includes(answer.status)) {
      throw this.#refusal(answer);
    }
    const grant = readAnswer(grantSchema, answer.body, `Zendesk: ${RENEW}`);
    const life = grant.expires_in == null ? null : grant.expires_in * 1000;
    const until = life === null ? NEVER : askedAt + life - Math.min(RENEWAL_MARGIN, life / 10);
    const access = { token: grant.access_token, until };
    return { next: { ...kept, refreshToken: grant.refresh_token ?? kept.refreshToken, access }, access };
  }

  /** Builds the error. It contains Zendesk's error code only, and nothing else of the response. */
  #refusal({ status, body }: ProviderAnswer): AuthError {
    const { name } = this.#options;
    const code = refusalSchema.safeParse(body).data?.error ?? `status ${status}`;
    const words =
      code === 'invalid_client'
        ? 'unknown client; set clientId and clientSecret as shown in Zendesk'
        : 'refresh token refused: it was used, revoked or expired, or the process ended during a renewal. ' +
          'Create a new one for the client and set it as refreshToken';
    return new AuthError(`Zendesk: ${RENEW} of ${JSON.stringify(name)} (${code}): ${words}`, 401);
  }
}
