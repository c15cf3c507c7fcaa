import type { Clock, Random } from '../../../core/clock.ts';
import { AuthError, NotThePlatformError, RateLimitedError } from '../../../core/errors.ts';
import { isObject } from '../../../core/json.ts';
import { pathBelow } from '../../polling/next-link.ts';
import { openProviderClient, type ProviderAnswer, type ProviderClient } from '../../polling/provider-client.ts';
import { type AppTokens, openAppTokens } from './app-tokens.ts';
import { isGithubRefusal, MIN_WAIT, readGithubRate } from './rate.ts';

export interface GithubClientOptions {
  readonly baseUrl: string;
  /** Access token; either this or `app` is set. */
  readonly token?: string;
  readonly app?: { readonly id: number; readonly installationId: number; readonly privateKey: string };
  readonly userAgent: string;
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: Random;
}

export interface GithubRequest {
  readonly name: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly accepts?: readonly number[];
  readonly signal: AbortSignal;
}

/** Client of GitHub: follows renamed repositories, renews tokens, and recognizes secondary rate limits by their text. */
export interface GithubClient {
  /** Throws AppError. */
  get(request: GithubRequest): Promise<ProviderAnswer>;
  close(): Promise<void>;
}

const MOVED = [301, 302, 307, 308];
const MAX_MOVES = 5;
/** Consecutive refusals after which the request fails. */
const MAX_REFUSALS = 5;

/** Creates the client. Throws ConfigError if the key of an app cannot be read. */
export function openGithubClient(options: GithubClientOptions): GithubClient {
  const tokens = options.app === undefined ? null : openAppTokens({ ...options, app: options.app });
  const client = openProviderClient({
    label: 'GitHub',
    baseUrl: options.baseUrl,
    userAgent: options.userAgent,
    headers: async () => ({
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      authorization: `Bearer ${tokens === null ? (options.token ?? '') : await tokens.access.token()}`,
    }),
    rate: readGithubRate,
    isRefusal: isGithubRefusal,
    concurrency: options.concurrency,
    clock: options.clock,
    random: options.random,
  });
  return new Client(options, client, tokens);
}

class Client implements GithubClient {
  readonly #baseUrl: string;
  readonly #clock: Clock;
  readonly #client: ProviderClient;
  readonly #tokens: AppTokens | null;
  #refusals = 0;
  /** Time on the monotonic clock before which no request is sent. */
  #closedUntil = Number.NEGATIVE_INFINITY;

  constructor({ baseUrl, clock }: GithubClientOptions, client: ProviderClient, tokens: AppTokens | null) {
    this.#baseUrl = baseUrl;
    this.#clock = clock;
    this.#client = client;
    this.#tokens = tokens;
  }

  async get(request: GithubRequest): Promise<ProviderAnswer> {
    let { path } = request;
    for (let moves = 0; moves <= MAX_MOVES; moves += 1) {
      const answer = await this.#authorized({ ...request, path });
      if (!MOVED.includes(answer.status)) {
        return answer;
      }
      path = pathBelow(this.#baseUrl, String(answer.headers.location ?? ''), `GitHub: ${request.name}`);
    }
    throw new NotThePlatformError(`GitHub: ${request.name}: too many redirects`);
  }

  async close(): Promise<void> {
    await Promise.all([this.#client.close(), this.#tokens?.close()]);
  }

  #authorized(request: GithubRequest): Promise<ProviderAnswer> {
    const ask = () => this.#unrefused(request);
    return this.#tokens === null ? ask() : this.#tokens.access.authorized(ask);
  }

  /** Sends a request. A secondary rate limit pauses all requests: for at least a minute, doubled each time. */
  async #unrefused(request: GithubRequest): Promise<ProviderAnswer> {
    const { name, signal } = request;
    for (;;) {
      for (let wait = this.#wait(); wait > 0; wait = this.#wait()) {
        await this.#clock.sleep(wait, signal);
      }
      const sentAt = this.#clock.monotonic();
      const answer = await this.#client.request({ ...request, accepts: [...MOVED, 403, ...(request.accepts ?? [])] });
      if (answer.status !== 403) {
        this.#refusals = 0;
        return answer;
      }
      if (!isTextOfRefusal(answer.body)) {
        throw new AuthError(`GitHub: ${name}: status 403: the token lacks a permission`, 403);
      }
      if (sentAt >= this.#closedUntil) {
        this.#refusals += 1;
        this.#closedUntil = this.#clock.monotonic() + MIN_WAIT * 2 ** (this.#refusals - 1);
      }
      if (this.#refusals >= MAX_REFUSALS) {
        throw new RateLimitedError(`GitHub: ${name}: rate limit exceeded repeatedly`, this.#wait());
      }
    }
  }

  #wait(): number {
    return Math.max(0, this.#closedUntil - this.#clock.monotonic());
  }
}

function isTextOfRefusal(body: unknown): boolean {
  const texts = isObject(body) ? [body.message, body.documentation_url] : [];
  return texts.some((text) => typeof text === 'string' && /rate[ -]limit/i.test(text));
}
