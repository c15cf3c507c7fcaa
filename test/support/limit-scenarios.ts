/** Random scenarios of platforms that limit requests without rate-limit headers, and the figures that are judged. */
import type { ServerClock } from '../../src/queue/rate-limit/server-clock.ts';
import {
  budgetClient,
  type Client,
  type LimitRefusal,
  type LimitReport,
  type LimitScenario,
  simulateLimit,
} from './limit-simulator.ts';
import {
  firstCallWindow,
  fixedWindow,
  type Limiter,
  slidingCounter,
  slidingLog,
  steps,
  tokenBucket,
} from './rate-limiters.ts';
import { seeded } from './rate-simulator.ts';

export const FAMILIES = ['clock', 'first call', 'sliding log', 'sliding counter', 'bucket', 'concurrency'] as const;
export type Family = (typeof FAMILIES)[number];
export const VARIANTS = ['plain', 'retry-after', 'neighbor', 'changed', 'skew'] as const;
export type Variant = (typeof VARIANTS)[number];

export interface Draw {
  readonly family: Family;
  readonly variant: Variant;
  readonly limit: number;
  readonly window: number;
  /** Time at which the limit changes, in the server's time; Infinity if it never does. */
  readonly changeAt: number;
  readonly scenario: () => LimitScenario;
  readonly text: string;
}

export interface Figures {
  /**
   * Own 429s to requests that were in flight when the first one arrived, and when the first one after a change of the
   * limit arrived: no client can foresee them.
   */
  readonly unforeseen: number;
  /** Other own 429s, until the limit changes. */
  readonly learning: number;
  /** Other own 429s from the change of the limit on; null if it does not change. */
  readonly relearning: number | null;
  /** Time over floor, for windows from the second one on. */
  readonly ratio: number;
}

const COMMON_SECONDS = [1, 2, 5, 10, 15, 20, 30, 60];
const WINDOWS = 12;
const DAY = 1_750_000_000_000;

/** Draws the scenario of a seed. */
export function drawScenario(seed: number, family: Family, variant: Variant): Draw {
  const random = seeded(seed * 7919 + FAMILIES.indexOf(family) * 31 + VARIANTS.indexOf(variant));
  random();
  const between = (low: number, high: number) => low * (high / low) ** random();
  const seconds =
    random() < 0.7 ? (COMMON_SECONDS[Math.floor(random() * COMMON_SECONDS.length)] ?? 1) : Math.ceil(random() * 60);
  const window = seconds * 1000;
  const rtt = between(5, 300);
  const concurrency = Math.round(between(1, 100));
  const reachable = (0.6 * concurrency * window) / rtt;
  const limit = Math.max(10, Math.round(Math.min(between(10, 1000), reachable)));
  const startAt = DAY + Math.floor(random() * 3_600_000);
  const later = Math.max(10, Math.round(limit * (random() < 0.5 ? 0.5 : 0.75)));
  const [before, after] = random() < 0.5 ? [limit, later] : [later, limit];
  const changeAt = startAt + WINDOWS * window;
  const isChanged = variant === 'changed';
  const jitter = random() / 2;
  const processing = 0.9 * random();
  const outbound = (1 - processing) * random();
  const skew = variant === 'skew' ? (random() - 0.5) * 20_000 : 0;
  const amount = isChanged ? steps(before, [changeAt, after]) : limit;
  const calls = isChanged ? Math.round(WINDOWS * (before + after)) : Math.round((WINDOWS + 0.5) * limit);
  const rest = {
    calls,
    concurrency,
    rtt,
    jitter,
    outbound,
    processing,
    startAt,
    skew,
    hasRetryAfter: variant === 'retry-after',
    otherClient: variant === 'neighbor' ? (0.3 * limit) / seconds : 0,
  };
  const maxConcurrent = Math.max(1, Math.floor(concurrency / 3));
  const scenario = () => {
    const base = { ...rest, random: seeded(seed) };
    return family === 'concurrency'
      ? { ...base, limiter: UNLIMITED, maxConcurrent, calls: 3000 }
      : { ...base, limiter: createLimiter(family, amount, limit, window) };
  };
  const counts = isChanged ? `${before} then ${after}` : `${limit}`;
  const text = `${family} ${variant} ${counts} per ${seconds} s, rtt ${rtt.toFixed(0)} ms ±${(jitter * 100).toFixed(0)} %, ${concurrency} at once, seed ${seed}`;
  return { family, variant, limit, window, changeAt: isChanged ? changeAt : Number.POSITIVE_INFINITY, scenario, text };
}

function createLimiter(
  family: Family,
  amount: number | ((now: number) => number),
  limit: number,
  window: number,
): Limiter {
  switch (family) {
    case 'clock':
      return fixedWindow(amount, window);
    case 'first call':
      return firstCallWindow(amount, window);
    case 'sliding log':
      return slidingLog(limit, window);
    case 'sliding counter':
      return slidingCounter(limit, window);
    default:
      return tokenBucket((1000 * limit) / window, limit);
  }
}

const UNLIMITED: Limiter = {
  take: (now) => ({ accepted: true, limit: 1, remaining: 1, reset: now }),
  opening: (calls, start) => ({ at: start, last: calls }),
  resetAfter: (at) => at,
};

/** Simulates a scenario; null if nothing was refused. */
export function judge(draw: Draw, createClient: (clock: ServerClock) => Client = budgetClient): Figures | null {
  const scenario = draw.scenario();
  const report = simulateLimit(scenario, createClient);
  if (report.refused.length === 0) {
    return null;
  }
  const learning = countForeseeable(report.refused.filter(({ at }) => at < draw.changeAt));
  const relearning = countForeseeable(report.refused.filter(({ at }) => at >= draw.changeAt));
  return {
    unforeseen: report.refused.length - learning - relearning,
    learning,
    relearning: draw.changeAt === Number.POSITIVE_INFINITY ? null : relearning,
    ratio: ratioOf(draw, scenario, report),
  };
}

/** Returns the number of 429s to requests that were sent after the first of these 429s arrived. */
function countForeseeable(refused: readonly LimitRefusal[]): number {
  const [first] = refused;
  return first === undefined ? 0 : refused.filter(({ sentAt }) => sentAt >= first.receivedAt).length;
}

function ratioOf(draw: Draw, scenario: LimitScenario, { accepted, refused }: LimitReport): number {
  const isWindow = draw.family === 'clock' || draw.family === 'first call';
  const { limiter, concurrency, rtt, otherClient, startAt, maxConcurrent = Number.POSITIVE_INFINITY } = scenario;
  const from = isWindow ? limiter.resetAfter(Math.min(...refused.map(({ at }) => at))) : startAt;
  const left = isWindow ? accepted.filter((at) => at >= from).length : accepted.length;
  const { at, last } = limiter.opening(left, from, otherClient / 1000);
  const rounds = (Math.ceil(last / Math.min(maxConcurrent, concurrency)) - 1) * rtt;
  return ((accepted.at(-1) ?? from) - from) / (at - from + rounds);
}
