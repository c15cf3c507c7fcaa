/**
 * Simulates a platform without rate-limit headers and one client whose requests all wait from the start. Fast enough
 * for thousands of scenarios: no promises, one list of events.
 */
import TinyQueue from 'tinyqueue';
import { NO_RATE_HEADERS, type RateHeaders } from '../../src/queue/model/rate-headers.ts';
import { Budget } from '../../src/queue/rate-limit/budget.ts';
import type { Decision } from '../../src/queue/rate-limit/pacing.ts';
import type { Permit } from '../../src/queue/rate-limit/permit.ts';
import { createServerClock, type ServerClock } from '../../src/queue/rate-limit/server-clock.ts';
import type { Limiter } from './rate-limiters.ts';

export interface LimitScenario {
  readonly limiter: Limiter;
  /** Maximum concurrent requests of the platform. */
  readonly maxConcurrent?: number;
  readonly calls: number;
  readonly concurrency: number;
  /** Median round trip in milliseconds, and the share by which it varies. */
  readonly rtt: number;
  readonly jitter: number;
  /** Parts of the round trip before a request is counted, and from then until the response leaves with its `Date`. */
  readonly outbound: number;
  readonly processing: number;
  /** 429s have a Retry-After, in whole seconds rounded up. */
  readonly hasRetryAfter: boolean;
  /** Calls per second of another client. */
  readonly otherClient: number;
  /** Server's clock at the start, and the client's minus the server's, in milliseconds. */
  readonly startAt: number;
  readonly skew: number;
  readonly random: () => number;
}

/** Part of a budget that a client needs. */
export interface Client {
  decide(now: number, waiting: number, isUrgent: boolean): Decision;
  onSent(permit: Permit): Permit;
  onResponse(permit: Permit, headers: RateHeaders, receivedAt: number): void;
  onRefused(permit: Permit, headers: RateHeaders, receivedAt: number, jitter: number): void;
}

/** 429 to a request of the client. */
export interface LimitRefusal {
  readonly sentAt: number;
  /** Time at which the server refused the request, and at which the client learned it. */
  readonly at: number;
  readonly receivedAt: number;
}

/** Result; times are the server's. */
export interface LimitReport {
  readonly accepted: readonly number[];
  /** In the order in which the client learned them. */
  readonly refused: readonly LimitRefusal[];
}

interface Event {
  readonly at: number;
  readonly run: () => void;
}

/** Creates a budget of the queue. */
export function budgetClient(clock: ServerClock): Client {
  return new Budget('read', 'read', clock);
}

/** Runs all calls of a scenario. */
export function simulateLimit(scenario: LimitScenario, createClient: (clock: ServerClock) => Client = budgetClient) {
  return new LimitSimulation(scenario, createClient).run();
}

const MONOTONIC_START = 1000;
const CALL = { class: 'read', name: 'call' } as const;

class LimitSimulation {
  readonly #scenario: LimitScenario;
  readonly #client: Client;
  readonly #clock: ServerClock;
  readonly #events = new TinyQueue<Event>([], (a, b) => a.at - b.at);
  readonly #accepted: number[] = [];
  readonly #refused: LimitRefusal[] = [];
  #now = MONOTONIC_START;
  #inFlight = 0;
  #atServer = 0;
  #waiting: number;
  #wakeAt = Number.POSITIVE_INFINITY;

  constructor(scenario: LimitScenario, createClient: (clock: ServerClock) => Client) {
    this.#scenario = scenario;
    this.#waiting = scenario.calls;
    this.#clock = createServerClock(scenario.startAt - MONOTONIC_START + scenario.skew);
    this.#client = createClient(this.#clock);
  }

  run(): LimitReport {
    const { otherClient, calls } = this.#scenario;
    if (otherClient > 0) {
      this.#takeForOther(1000 / otherClient);
    }
    this.#pump();
    while (this.#accepted.length < calls) {
      const event = this.#events.pop();
      if (event === undefined) {
        throw new Error(`nothing left to wait for after ${this.#accepted.length} calls`);
      }
      this.#now = event.at;
      event.run();
    }
    return { accepted: this.#accepted, refused: this.#refused };
  }

  get #serverNow(): number {
    return this.#toServer(this.#now);
  }

  #toServer(monotonic: number): number {
    return monotonic - MONOTONIC_START + this.#scenario.startAt;
  }

  #after(milliseconds: number, run: () => void): void {
    this.#events.push({ at: this.#now + milliseconds, run });
  }

  #takeForOther(every: number): void {
    this.#scenario.limiter.take(this.#serverNow);
    this.#after(every, () => this.#takeForOther(every));
  }

  #pump(): void {
    while (this.#waiting > 0 && this.#inFlight < this.#scenario.concurrency) {
      const decision = this.#client.decide(this.#now, this.#waiting, false);
      if (decision.kind === 'wait') {
        this.#wake(decision.until);
        return;
      }
      this.#send(decision.kind === 'probe');
    }
  }

  #wake(at: number): void {
    if (at < this.#wakeAt && at !== Number.POSITIVE_INFINITY) {
      this.#wakeAt = at;
      this.#after(Math.max(0, at - this.#now), () => {
        if (this.#wakeAt === at) {
          this.#wakeAt = Number.POSITIVE_INFINITY;
          this.#pump();
        }
      });
    }
  }

  #send(probe: boolean): void {
    this.#waiting -= 1;
    this.#inFlight += 1;
    const permit = this.#client.onSent({ call: CALL, limitKey: 'read', sentAt: this.#now, probe });
    this.#after(this.#part(this.#scenario.outbound), () => this.#arrive(permit));
  }

  #arrive(permit: Permit): void {
    const { limiter, maxConcurrent = Number.POSITIVE_INFINITY } = this.#scenario;
    const at = this.#serverNow;
    const verdict = this.#atServer < maxConcurrent ? limiter.take(at) : { accepted: false, reset: at };
    if (verdict.accepted) {
      this.#accepted.push(at);
    }
    this.#atServer += 1;
    const wait = this.#scenario.hasRetryAfter ? Math.ceil((verdict.reset - at) / 1000) * 1000 : null;
    const retryAfter = verdict.accepted ? null : wait;
    this.#after(this.#part(this.#scenario.processing), () => {
      const headers = { ...NO_RATE_HEADERS, date: Math.floor(this.#serverNow / 1000) * 1000, retryAfter };
      this.#respond(permit, headers, verdict.accepted ? null : at);
    });
  }

  /** `refusedAt`: time at which the server refused the request; null if it accepted it. */
  #respond(permit: Permit, headers: RateHeaders, refusedAt: number | null): void {
    const { outbound, processing } = this.#scenario;
    this.#after(this.#part(1 - outbound - processing), () => this.#answer(permit, headers, refusedAt));
  }

  #answer(permit: Permit, headers: RateHeaders, refusedAt: number | null): void {
    this.#atServer -= 1;
    this.#inFlight -= 1;
    this.#clock.observe(headers, permit.sentAt, this.#now);
    if (refusedAt === null) {
      this.#client.onResponse(permit, headers, this.#now);
    } else {
      this.#waiting += 1;
      this.#refused.push({ sentAt: this.#toServer(permit.sentAt), at: refusedAt, receivedAt: this.#serverNow });
      this.#client.onRefused(permit, headers, this.#now, this.#scenario.random());
    }
    this.#pump();
  }

  #part(share: number): number {
    const { rtt, jitter, random } = this.#scenario;
    return rtt * share * (1 + jitter * (2 * random() - 1));
  }
}
