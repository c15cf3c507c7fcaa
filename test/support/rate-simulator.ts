import { RateLimitedError } from '../../src/core/errors.ts';
import { NO_RATE_HEADERS, type RateHeaders } from '../../src/queue/rate-headers.ts';
import type { Priority, Reply, RequestClass } from '../../src/queue/request.ts';
import { createRequestQueue, type RequestQueue } from '../../src/queue/request-queue.ts';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';

/** What a simulated server decides about one call. Times are the server's, in milliseconds. */
export interface Verdict {
  readonly accepted: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

export interface Limiter {
  take(now: number): Verdict;
  /** The earliest time at which the last of so many calls could have been accepted, had they all come at `start`. */
  floor(calls: number, start: number): number;
}

/** Windows that follow the clock. */
export function fixedWindow(limit: number, length: number): Limiter {
  let window = -1;
  let used = 0;
  return {
    take(now) {
      const current = Math.floor(now / length);
      if (current !== window) {
        window = current;
        used = 0;
      }
      const accepted = used < limit;
      used += accepted ? 1 : 0;
      return { accepted, limit, remaining: limit - used, reset: (current + 1) * length };
    },
    floor(calls, start) {
      const windows = Math.ceil(calls / limit) - 1;
      return windows === 0 ? start : (Math.floor(start / length) + windows) * length;
    },
  };
}

/** Windows that begin with the first call after the last one ended. */
export function firstCallWindow(limit: number, length: number): Limiter {
  let end = Number.NEGATIVE_INFINITY;
  let used = 0;
  return {
    take(now) {
      if (now >= end) {
        end = now + length;
        used = 0;
      }
      const accepted = used < limit;
      used += accepted ? 1 : 0;
      return { accepted, limit, remaining: limit - used, reset: end };
    },
    floor: (calls, start) => start + (Math.ceil(calls / limit) - 1) * length,
  };
}

/** `rate` calls per second, `burst` at once; the reset is when it will be full again. */
export function tokenBucket(rate: number, burst: number): Limiter {
  let tokens = burst;
  let at: number | null = null;
  return {
    take(now) {
      tokens = Math.min(burst, tokens + ((now - (at ?? now)) / 1000) * rate);
      at = now;
      const accepted = tokens >= 1;
      tokens -= accepted ? 1 : 0;
      return {
        accepted,
        limit: burst,
        remaining: Math.floor(tokens),
        reset: now + ((burst - tokens) / rate) * 1000,
      };
    },
    floor: (calls, start) => start + (Math.max(0, calls - burst) / rate) * 1000,
  };
}

export interface Scenario {
  readonly limiter: Limiter;
  readonly calls: number;
  /** Median round trip in milliseconds. */
  readonly rtt?: number;
  readonly concurrency?: number;
  readonly seed?: number;
  /** The server's clock minus the client's, in milliseconds. */
  readonly skew?: number;
  /** Resets are cut to whole seconds instead of rounded up. */
  readonly floored?: boolean;
  /** Nothing but Retry-After is sent. */
  readonly silent?: boolean;
  /** Calls per second by someone else. */
  readonly others?: number;
}

export interface Report {
  /** Makespan over floor; the floor has the last batch's round trips in it. */
  readonly ratio: number;
  /** Own 429s. */
  readonly refused: number;
  readonly clock: VirtualClock;
  readonly queue: RequestQueue;
}

/** Numbers from 0 to 1 that are the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A server under a limiter, as an attempt. */
export function simulatedServer(scenario: Scenario, clock: VirtualClock, random: () => number) {
  const half = () => ((scenario.rtt ?? 150) / 2) * (0.6 + 0.8 * random());
  const serverNow = () => clock.now() + (scenario.skew ?? 0);
  return async (): Promise<Reply<number>> => {
    await clock.sleep(half());
    const now = serverNow();
    const verdict = scenario.limiter.take(now);
    await clock.sleep(half());
    const headers = headersOf(verdict, now, scenario);
    const receivedAt = clock.monotonic();
    return verdict.accepted
      ? { headers, receivedAt, result: { ok: true, value: now } }
      : { headers, receivedAt, result: { ok: false, error: new RateLimitedError('slow down', headers.retryAfter) } };
  };
}

function headersOf(verdict: Verdict, now: number, scenario: Scenario): RateHeaders {
  const date = Math.floor(now / 1000) * 1000;
  if (scenario.silent) {
    const wait = Math.ceil((verdict.reset - now) / 1000) * 1000;
    return { ...NO_RATE_HEADERS, date, retryAfter: verdict.accepted ? null : wait };
  }
  const reset = verdict.reset / 1000;
  return {
    limit: verdict.limit,
    remaining: verdict.remaining,
    reset: scenario.floored ? Math.floor(reset) : Math.ceil(reset),
    retryAfter: null,
    date,
  };
}

/** Sends all calls at once through a queue and reports how near it came to the best possible. */
export async function simulate(scenario: Scenario): Promise<Report> {
  const clock = createVirtualClock();
  const random = seeded(scenario.seed ?? 1);
  const concurrency = scenario.concurrency ?? 20;
  const queue = createRequestQueue({ clock, random, concurrency, deadline: Number.MAX_SAFE_INTEGER });
  const attempt = simulatedServer(scenario, clock, random);
  const start = clock.now() + (scenario.skew ?? 0);
  if (scenario.others) {
    void useByOthers(scenario.limiter, scenario.others, clock, scenario.skew ?? 0);
  }
  const values = await clock.run(
    Promise.all(Array.from({ length: scenario.calls }, (_, index) => queue.request(callOf(index, attempt)))),
  );
  const lastBatch = scenario.calls % scenario.limiter.take(0).limit || concurrency;
  const push = Math.ceil(lastBatch / concurrency) * (scenario.rtt ?? 150);
  const makespan = Math.max(...values) - start;
  const floor = scenario.limiter.floor(scenario.calls, start) - start + push;
  return { ratio: makespan / floor, refused: queue.snapshot().outcomes.refused, clock, queue };
}

async function useByOthers(limiter: Limiter, rate: number, clock: VirtualClock, skew: number): Promise<void> {
  for (let calls = 0; calls < 100_000; calls += 1) {
    limiter.take(clock.now() + skew);
    await clock.sleep(1000 / rate);
  }
}

/** A read that is not shared with others. */
export function callOf<T>(
  index: number,
  attempt: (signal: AbortSignal) => Promise<Reply<T>>,
  rest: { readonly priority?: Priority; readonly class?: RequestClass } = {},
) {
  return {
    name: `call ${index}`,
    class: rest.class ?? ('read' as const),
    priority: rest.priority ?? ('apply' as const),
    repeat: 'safe' as const,
    attempt,
  };
}
