/** Rate limits, per token and kind of request. */

import { z } from 'zod';
import type { LimitClass } from '../model/operation.ts';

const options = {
  /** Send X-RateLimit-Limit, -Remaining and -Reset with every answer; true by default. */
  headers: z.boolean().optional(),
  /** Send Retry-After with a 429; false by default, as the platform does not document it. */
  retryAfter: z.boolean().optional(),
};
/** `window` is in milliseconds. */
const windowed = { limit: z.number().int().nonnegative(), window: z.number().positive(), ...options };

const rateLimit = z.discriminatedUnion('kind', [
  /** Windows are aligned to the clock. */
  z.strictObject({ kind: z.literal('fixed'), ...windowed }),
  /** A window opens at the first call after the last one closed. */
  z.strictObject({ kind: z.literal('first-call'), ...windowed }),
  /** Tokens are added evenly, up to `burst`. Reset is when the bucket is full again. */
  z.strictObject({
    kind: z.literal('bucket'),
    perSecond: z.number().positive(),
    burst: z.number().positive(),
    ...options,
  }),
]);

/**
 * Number of requests that a token may send. The platform publishes no figures.
 * Source: docs/platform-notes.md#rate-limits
 */
export type RateLimit = Readonly<z.output<typeof rateLimit>>;

/**
 * Limits by kind of request. A write counts against `write` and `all`. Ingestion counts against `ingest` instead of
 * `write` if there is such a limit.
 */
export type RateLimits = Partial<Record<LimitClass | 'all', RateLimit | undefined>>;
/** Limits that the control accepts. */
export const rateLimitsSchema: z.ZodType<RateLimits> = z.strictObject({
  read: rateLimit.optional(),
  write: rateLimit.optional(),
  ingest: rateLimit.optional(),
  all: rateLimit.optional(),
});

/** Result of counting a request. */
export interface LimitDecision {
  readonly admitted: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Seconds until a request can succeed, rounded up; 0 when admitted. */
  readonly wait: number;
}

interface Account {
  readonly limit: RateLimit;
  /** Start of the window, or the time at which `left` was computed. */
  since: number;
  left: number;
}

const FREE: LimitDecision = { admitted: true, headers: {}, wait: 0 };

/** Counts requests by token and kind of method. */
export class RequestLimiter {
  #limits: RateLimits;
  readonly #accounts = new Map<string, Account>();

  constructor(limits: RateLimits) {
    this.#limits = limits;
  }

  /** Replaces the limits and resets the counts. */
  set(limits: RateLimits): void {
    this.#limits = limits;
    this.#accounts.clear();
  }

  /** Resets the counts. */
  restart(): void {
    this.#accounts.clear();
  }

  /** Counts a request. A refused request costs nothing. */
  admit(token: string, kind: LimitClass, now: number): LimitDecision {
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

/** Returns the time at which the next request can succeed. */
function nextAt(account: Account): number {
  const { limit, since, left } = account;
  return limit.kind === 'bucket' ? since + ((1 - left) / limit.perSecond) * 1000 : since + limit.window;
}

/** Returns the time at which the whole limit is available again. */
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
