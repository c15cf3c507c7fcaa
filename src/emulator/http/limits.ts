import { z } from 'zod';
import type { LimitClass } from '../model/operation.ts';

/**
 * Number of requests that a token may send. The platform publishes no figures.
 * Source: docs/platform-notes.md#rate-limits
 */
export type RateLimit = {
  /** Send X-RateLimit-Limit, -Remaining and -Reset with every answer; true by default. */
  readonly headers?: boolean | undefined;
  /** Send Retry-After with a 429; false by default, as the platform does not document it. */
  readonly retryAfter?: boolean | undefined;
} & (
  | {
      /** Windows aligned to the clock. */
      readonly kind: 'fixed';
      readonly limit: number;
      /** Milliseconds. */
      readonly window: number;
    }
  | {
      /** A window opens at the first call after the last one closed. */
      readonly kind: 'first-call';
      readonly limit: number;
      /** Milliseconds. */
      readonly window: number;
    }
  | {
      /** Tokens flow in evenly, up to `burst`. Reset is when the bucket is full again. */
      readonly kind: 'bucket';
      readonly perSecond: number;
      readonly burst: number;
    }
);

/**
 * Limits by kind of method; a write counts against `write` and `all`. Ingesting conversations counts against `ingest`
 * instead of `write` where there is such a limit.
 */
export type RateLimits = Partial<Record<LimitClass | 'all', RateLimit | undefined>>;
const options = { headers: z.boolean().optional(), retryAfter: z.boolean().optional() };
const windowed = { limit: z.number().int().nonnegative(), window: z.number().positive(), ...options };

const rateLimit = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('fixed'), ...windowed }),
  z.strictObject({ kind: z.literal('first-call'), ...windowed }),
  z.strictObject({
    kind: z.literal('bucket'),
    perSecond: z.number().positive(),
    burst: z.number().positive(),
    ...options,
  }),
]);

/** What the control over HTTP accepts as limits. */
export const rateLimitsSchema: z.ZodType<RateLimits> = z.strictObject({
  read: rateLimit.optional(),
  write: rateLimit.optional(),
  ingest: rateLimit.optional(),
  all: rateLimit.optional(),
});

/** What one request made of its limits. */
export interface Admission {
  readonly admitted: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Seconds until a request can succeed, rounded up; 0 when admitted. */
  readonly wait: number;
}

interface Account {
  readonly limit: RateLimit;
  /** Start of the window, or when `left` was last right. */
  since: number;
  left: number;
}

const FREE: Admission = { admitted: true, headers: {}, wait: 0 };

/** Counts requests by token and kind of method. */
export class RateLimiter {
  #limits: RateLimits;
  readonly #accounts = new Map<string, Account>();

  constructor(limits: RateLimits) {
    this.#limits = limits;
  }

  /** Replaces the limits and forgets what was counted. */
  set(limits: RateLimits): void {
    this.#limits = limits;
    this.#accounts.clear();
  }

  /** Forgets what was counted. */
  restart(): void {
    this.#accounts.clear();
  }

  /** Counts one request. A refused one costs nothing. */
  admit(token: string, kind: LimitClass, now: number): Admission {
    const own = kind === 'ingest' && this.#limits.ingest === undefined ? 'write' : kind;
    const accounts = ([own, 'all'] as const).flatMap((name) => {
      const limit = this.#limits[name];
      return limit === undefined ? [] : [this.#account(`${name} ${token}`, limit, now)];
    });
    const tightest = accounts.toSorted((a, b) => a.left - b.left)[0];
    if (tightest === undefined) {
      return FREE;
    }
    const admitted = tightest.left >= 1;
    if (admitted) {
      for (const account of accounts) {
        account.left -= 1;
      }
    }
    const wait = admitted ? 0 : Math.max(1, Math.ceil((nextAt(tightest) - now) / 1000));
    return { admitted, wait, headers: headersOf(tightest, admitted, wait) };
  }

  #account(key: string, limit: RateLimit, now: number): Account {
    const account = this.#accounts.get(key) ?? { limit, since: startOf(limit, now), left: sizeOf(limit) };
    this.#accounts.set(key, account);
    refill(account, now);
    return account;
  }
}

function sizeOf(limit: RateLimit): number {
  return limit.kind === 'bucket' ? limit.burst : limit.limit;
}

function startOf(limit: RateLimit, now: number): number {
  return limit.kind === 'fixed' ? now - (now % limit.window) : now;
}

function refill(account: Account, now: number): void {
  const { limit } = account;
  if (limit.kind === 'bucket') {
    account.left = Math.min(limit.burst, account.left + ((now - account.since) / 1000) * limit.perSecond);
    account.since = now;
  } else if (now >= account.since + limit.window) {
    account.since = startOf(limit, now);
    account.left = limit.limit;
  }
}

/** When the next request can succeed. */
function nextAt(account: Account): number {
  const { limit, since, left } = account;
  return limit.kind === 'bucket' ? since + ((1 - left) / limit.perSecond) * 1000 : since + limit.window;
}

/** When everything is free again. */
function resetAt(account: Account): number {
  const { limit, since, left } = account;
  return limit.kind === 'bucket' ? since + ((limit.burst - left) / limit.perSecond) * 1000 : since + limit.window;
}

/**
 * Returns the rate-limit headers. Reset is in UTC epoch seconds, rounded up so that waiting until then is enough.
 * Source: docs/platform-notes.md#rate-limits
 */
function headersOf(account: Account, admitted: boolean, wait: number): Record<string, string> {
  const { limit } = account;
  return {
    ...(limit.headers === false
      ? {}
      : {
          'X-RateLimit-Limit': String(sizeOf(limit)),
          'X-RateLimit-Remaining': String(Math.floor(account.left)),
          'X-RateLimit-Reset': String(Math.ceil(resetAt(account) / 1000)),
        }),
    ...(!admitted && limit.retryAfter === true ? { 'Retry-After': String(wait) } : {}),
  };
}
