/** Simulates a rate-limited server and its clients. */
import { RateLimitedError, TransientError } from '../../src/core/errors.ts';
import { type QueueOptions, RequestQueue } from '../../src/queue/dispatcher.ts';
import {
  NO_RATE_HEADERS,
  type QueuedRequest,
  type RateHeaders,
  type Reply,
  type RequestClass,
} from '../../src/queue/request.ts';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';
import type { Limiter, Verdict } from './rate-limiters.ts';

/** Behavior of a simulated server. */
export interface Behaviour {
  /** Limit of the operation, else of the class, else `all`. Without any, nothing is limited. */
  readonly limits: Readonly<Record<string, Limiter>>;
  /** Median round trip in milliseconds. */
  readonly rtt?: number;
  /** The server's clock minus the client's, in milliseconds. */
  readonly skew?: number;
  /** Resets are rounded up to whole seconds, truncated to them, or given as seconds from now. */
  readonly reset?: 'up' | 'floored' | 'delta';
  /** All of them, only Retry-After with a 429, or none. */
  readonly headers?: 'all' | 'retry-after' | 'none';
  /** Share of calls that end in a connection reset, or in a 5xx with or without headers. */
  readonly faults?: number;
  /** Concurrent calls above this are rejected, whatever remains of the limit. */
  readonly mostAtOnce?: number;
}

export interface Scenario extends Behaviour {
  readonly calls: number;
  readonly concurrency?: number;
  readonly seed?: number;
  /** Number of Octavo clients, the first included, that do not know of each other and share the calls. */
  readonly sharers?: number;
  /** Calls per second of another client, which sends evenly and never waits. */
  readonly otherClient?: number;
}

export interface Report {
  /** Makespan over floor. */
  readonly ratio: number;
  /** 429s of all simulated Octavo clients. */
  readonly refused: number;
  /** Share of the other client's calls that was rejected. */
  readonly denied: number;
}

/** The server's time at the start of a simulation, if its clock is right: 41 s into a minute. */
export const START = 1_750_000_001_000;
const RTT = 150;
const CONCURRENCY = 20;

/** Random numbers from 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Clock, random numbers, and a server that answers calls. */
export class SimulatedServer {
  readonly clock: VirtualClock = createVirtualClock();
  readonly random: () => number;
  readonly #behaviour: Behaviour;
  /** Calls that a limit counted, by limit, including those that ended in a fault. */
  readonly counted = new Map<Limiter, number>();
  /** Time at which the last call was accepted, in the server's time. */
  lastAccepted = 0;
  #atOnce = 0;

  constructor(behaviour: Behaviour, seed = 1) {
    this.#behaviour = behaviour;
    this.random = seeded(seed);
  }

  get now(): number {
    return this.clock.now() + (this.#behaviour.skew ?? 0);
  }

  /** Queue on this server's clock whose requests have no deadline. */
  queue(options: Partial<QueueOptions> = {}): RequestQueue {
    const { clock, random } = this;
    return new RequestQueue({
      clock,
      random,
      concurrency: CONCURRENCY,
      deadline: Number.MAX_SAFE_INTEGER,
      ...options,
    });
  }

  /** Request that is not shared. */
  call(rest: Partial<QueuedRequest<number>> = {}): QueuedRequest<number> {
    const name = rest.name ?? 'call';
    const requestClass = rest.class ?? 'read';
    return {
      name,
      class: requestClass,
      priority: 'apply',
      repeat: 'safe',
      attempt: () => this.#answer(name, requestClass),
      ...rest,
    };
  }

  async #answer(name: string, requestClass: RequestClass): Promise<Reply<number>> {
    const { limits, faults = 0, mostAtOnce = Number.POSITIVE_INFINITY } = this.#behaviour;
    await this.clock.sleep(this.#oneWay());
    const fault = this.random() < faults ? Math.floor(3 * this.random()) : -1;
    if (fault === 0) {
      await this.clock.sleep(this.#oneWay());
      return { headers: NO_RATE_HEADERS, receivedAt: this.clock.monotonic(), result: broken };
    }
    const limiter = limits[name] ?? limits[requestClass] ?? limits.all;
    if (this.#atOnce >= mostAtOnce) {
      return this.#reply({ accepted: false, limit: 1e6, remaining: 1e6, reset: this.now + 1e6 });
    }
    this.#atOnce += 1;
    const verdict = limiter?.take(this.now) ?? FREE;
    if (verdict.accepted) {
      this.lastAccepted = this.now;
      if (limiter !== undefined) {
        this.counted.set(limiter, (this.counted.get(limiter) ?? 0) + 1);
      }
    }
    const reply = await this.#reply(verdict).finally(() => {
      this.#atOnce -= 1;
    });
    if (fault === 1) {
      throw new TransientError('connection reset', true);
    }
    return fault === 2 && verdict.accepted ? { ...reply, result: broken } : reply;
  }

  async #reply(verdict: Verdict): Promise<Reply<number>> {
    const at = this.now;
    await this.clock.sleep(this.#oneWay());
    const headers = this.#headers(verdict, at);
    const receivedAt = this.clock.monotonic();
    return verdict.accepted
      ? { headers, receivedAt, result: { ok: true, value: at } }
      : { headers, receivedAt, result: { ok: false, error: new RateLimitedError('slow down', headers.retryAfter) } };
  }

  /** Half a round trip: around the median, with a long tail. */
  #oneWay(): number {
    const bell = this.random() + this.random() + this.random() + this.random() - 2;
    return ((this.#behaviour.rtt ?? RTT) / 2) * Math.exp(0.5 * bell);
  }

  #headers(verdict: Verdict, at: number): RateHeaders {
    const { headers = 'all', reset = 'up' } = this.#behaviour;
    const date = Math.floor(at / 1000) * 1000;
    const wait = Math.ceil((verdict.reset - at) / 1000);
    if (headers !== 'all' || verdict === FREE) {
      const retryAfter = verdict.accepted || headers === 'none' ? null : wait * 1000;
      return { ...NO_RATE_HEADERS, date, retryAfter };
    }
    const epoch = reset === 'floored' ? Math.floor(verdict.reset / 1000) : Math.ceil(verdict.reset / 1000);
    const { limit, remaining } = verdict;
    return { limit, remaining, reset: reset === 'delta' ? wait : epoch, retryAfter: null, date };
  }
}

const FREE: Verdict = { accepted: true, limit: 0, remaining: 0, reset: 0 };
const broken = { ok: false, error: new TransientError('503', true) } as const;

/** Sends all calls at once through queues, and compares the result with the best possible. */
export async function simulate(scenario: Scenario): Promise<Report> {
  const server = new SimulatedServer(scenario, scenario.seed);
  const { concurrency = CONCURRENCY, sharers = 1, limits, calls } = scenario;
  const queues = Array.from({ length: sharers }, () => server.queue({ concurrency }));
  const start = server.now;
  const otherClient = new Neighbour(server, limits.all, scenario.otherClient ?? 0);
  const requests = Array.from({ length: calls }, (_, index) => queues[index % sharers]?.request(server.call()));
  await server.clock.run(Promise.all(requests));
  otherClient.stop();
  return {
    ratio: (server.lastAccepted - start) / floorOf(scenario, server, start),
    refused: queues.reduce((sum, queue) => sum + queue.snapshot().outcomes.refused, 0),
    denied: otherClient.denied,
  };
}

/**
 * Earliest time after the start at which the last call could have been accepted, as allowed by the limit's definition
 * and then by this number of connections. Calls that failed after they were counted also use up the limit.
 */
function floorOf(scenario: Scenario, server: SimulatedServer, start: number): number {
  const { concurrency = CONCURRENCY, sharers = 1, rtt = RTT, otherClient = 0, calls } = scenario;
  const perRound = concurrency * sharers;
  const rounds = (amount: number) => (Math.ceil(amount / perRound) - 1) * rtt;
  let floor = rounds(calls) + rtt / 2;
  for (const [limiter, counted] of server.counted) {
    const { at, last } = limiter.opening(counted, start, otherClient / 1000);
    floor = Math.max(floor, at - start + rounds(last));
  }
  return floor;
}

/** Another client with the same token, which sends evenly. */
class Neighbour {
  #asked = 0;
  #refused = 0;
  #isOver = false;

  constructor(server: SimulatedServer, limiter: Limiter | undefined, rate: number) {
    if (limiter !== undefined && rate > 0) {
      void this.#ask(server, limiter, rate);
    }
  }

  get denied(): number {
    return this.#asked === 0 ? 0 : this.#refused / this.#asked;
  }

  stop(): void {
    this.#isOver = true;
  }

  async #ask(server: SimulatedServer, limiter: Limiter, rate: number): Promise<void> {
    while (!this.#isOver) {
      this.#asked += 1;
      this.#refused += limiter.take(server.now).accepted ? 0 : 1;
      await server.clock.sleep(1000 / rate);
    }
  }
}
