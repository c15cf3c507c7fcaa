// Replicas that share the rate limit of a token through a ledger: few 429s, nothing lost, and no dependence on the ledger.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import type { RequestQueue } from '../../src/queue/dispatcher.ts';
import { EMPTY_LEDGER, exchange, exchangeKeys, type Ledger, type SharedState } from '../../src/queue/shared-limiter.ts';
import { pickCases, SEED } from '../support/campaign.ts';
import { firstCallWindow, fixedWindow, type Limiter } from '../support/rate-limiters.ts';
import { SimulatedServer } from '../support/rate-simulator.ts';

const MINUTE = 60_000;

/** State that replicas reach through a database, which answers after some milliseconds. */
class ModelState {
  value: Json = null;
  updates = 0;
  /** `gone`: updates fail; `silent`: they are never answered. */
  database: 'works' | 'gone' | 'silent' = 'works';
  readonly #server: SimulatedServer;

  constructor(server: SimulatedServer) {
    this.#server = server;
  }

  open(replica: string): SharedState {
    return {
      replica,
      update: async (change) => {
        await this.#server.clock.sleep(3);
        if (this.database === 'silent') {
          await new Promise(() => undefined);
        }
        if (this.database === 'gone') {
          throw new Error('the database is gone');
        }
        this.updates += 1;
        this.value = JSON.parse(JSON.stringify(change(this.value)));
        await this.#server.clock.sleep(2);
      },
    };
  }
}

function openReplicas(limiter: Limiter, seed: number, headers: 'all' | 'none' = 'all') {
  const server = new SimulatedServer({ limits: { all: limiter }, rtt: 100, headers }, seed);
  const state = new ModelState(server);
  const queues = ['a', 'b', 'c'].map((id) => server.queue({ concurrency: 10, shared: state.open(id) }));
  return { server, state, queues };
}

const refusedBy = (queues: readonly RequestQueue[]) =>
  queues.reduce((sum, queue) => sum + queue.snapshot().outcomes.refused, 0);

/** Sends bursts from each replica at random times, `load` times as many requests as the limit allows. */
async function sendBursts(server: SimulatedServer, queue: RequestQueue, total: number, limit: number, rate: number) {
  const requests: Promise<unknown>[] = [];
  while (requests.length < total) {
    const burst = 1 + Math.floor(server.random() * limit * 0.3);
    requests.push(...Array.from({ length: burst }, () => queue.request(server.call())));
    await server.clock.sleep((burst / rate) * (0.2 + 1.6 * server.random()));
  }
  await Promise.all(requests);
  return requests.length;
}

describe('three replicas with one token', () => {
  const cases: readonly (readonly [string, () => Limiter, number, number])[] = [
    ['60 a minute', () => fixedWindow(60, MINUTE), 60, MINUTE],
    ['600 a minute', () => fixedWindow(600, MINUTE), 600, MINUTE],
    ['60 in 2 s', () => fixedWindow(60, 2000), 60, 2000],
    ['100 in 10 s', () => fixedWindow(100, 10_000), 100, 10_000],
    ['windows from the first request', () => firstCallWindow(60, MINUTE), 60, MINUTE],
  ];
  test.each(pickCases(cases, 3))('send bursts, %s: at most 1 % are refused', async (_, limiter, limit, window) => {
    for (const load of [0.5, 0.9, 1.3]) {
      const { server, state, queues } = openReplicas(limiter(), SEED % 1000);
      const total = Math.max(200, limit * 2);
      const start = server.now;
      const rate = ((limit / window) * load) / 3;
      const work = queues.map((queue) => sendBursts(server, queue, total, limit, rate));
      const sent = (await server.clock.run(Promise.all(work))).reduce((a, b) => a + b);
      expect(refusedBy(queues) / sent).toBeLessThanOrEqual(0.01);
      // Nearly all of the limit is used, if it is needed.
      expect(server.now - start).toBeLessThan((1.4 * window * sent) / limit / Math.min(load, 1) + 2 * window);
      expect(state.updates).toBeLessThan(4 * sent);
    }
  });

  test('share one ledger for reads and writes, although not all of them send both', async () => {
    const { server, queues } = openReplicas(fixedWindow(60, MINUTE), SEED % 1000);
    const classes = [['read'], ['write'], ['read', 'write']] as const;
    const work = queues.map(async (queue, index) => {
      const own = classes[index] ?? [];
      const requests: Promise<unknown>[] = [];
      for (let step = 0; step < 30; step += 1) {
        const call = () => server.call({ class: own[Math.floor(server.random() * own.length)] ?? 'read' });
        requests.push(...Array.from({ length: 10 }, () => queue.request(call())));
        await server.clock.sleep(30_000 * server.random());
      }
      await Promise.all(requests);
    });
    await server.clock.run(Promise.all(work));
    expect(refusedBy(queues) / 900).toBeLessThanOrEqual(0.01);
  });

  test('a replica gives back what it does not use, so that another one can use the whole window', async () => {
    const { server, queues } = openReplicas(fixedWindow(100, 3_600_000), 1);
    const [a, b] = queues as [RequestQueue, RequestQueue];
    const priority = { priority: 'person' } as const;
    await server.clock.run(Promise.all(Array.from({ length: 5 }, () => a.request(server.call(priority)))));
    await server.clock.advance(1000);
    const rest = Promise.all(Array.from({ length: 95 }, () => b.request(server.call(priority))));
    await server.clock.advance(120_000);
    await rest;
    expect(refusedBy(queues)).toBe(0);
  });

  test.each(['gone', 'silent'] as const)('go on if the database is %s', async (database) => {
    const { server, state, queues } = openReplicas(fixedWindow(600, MINUTE), 1);
    state.database = database;
    const requests = queues.flatMap((queue) => Array.from({ length: 20 }, () => queue.request(server.call())));
    await server.clock.advance(10_000);
    await Promise.all(requests);
    expect(refusedBy(queues)).toBe(0);
  });

  test('a platform without rate-limit headers needs no ledger', async () => {
    const { server, state, queues } = openReplicas(fixedWindow(10_000, MINUTE), 1, 'none');
    await server.clock.run(Promise.all(queues.map((queue) => sendBursts(server, queue, 200, 60, 1))));
    expect(state.updates).toBeLessThan(30);
  });
});

describe('the ledger', () => {
  const report = fc.record({
    replica: fc.constantFrom('a', 'b', 'c'),
    wanted: fc.nat(20),
    sent: fc.nat(20),
    settled: fc.nat(20),
  });

  test('never grants more than what the platform accepts, whatever the replicas report and when', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.array(report, { maxLength: 60 }), (limit, reports) => {
        const now = 1_000_000;
        const resetAt = now + MINUTE;
        const replicas = new Map(['a', 'b', 'c'].map((id) => [id, { credit: 0, inFlight: 0, seen: limit }]));
        let accepted = 0;
        let ledger: Ledger = EMPTY_LEDGER;
        for (const { replica, wanted, sent, settled } of reports) {
          const own = replicas.get(replica) as { credit: number; inFlight: number; seen: number };
          const started = Math.min(sent, own.credit);
          own.credit -= started;
          own.inFlight += started;
          const answered = Math.min(settled, own.inFlight);
          own.inFlight -= answered;
          accepted += answered;
          own.seen = answered > 0 ? limit - accepted : own.seen;
          const observed = { limit, remaining: own.seen, resetAt };
          const result = exchange(ledger, { holder: replica, now, observed, inFlight: own.inFlight, lost: 0, wanted });
          ledger = JSON.parse(JSON.stringify(result.ledger));
          own.credit = result.grant.granted;
          const open = [...replicas.values()].reduce((sum, { credit, inFlight }) => sum + credit + inFlight, 0);
          expect(accepted + open).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  test('one replica shows a new window, and the others wait for it', () => {
    const ask = (ledger: Ledger, holder: string, now: number) =>
      exchange(ledger, { holder, now, observed: null, inFlight: 0, lost: 0, wanted: 5 });
    const first = ask(EMPTY_LEDGER, 'a', 0);
    expect(first.grant).toEqual({ granted: 1, resetAt: null });
    const second = ask(first.ledger, 'b', 10);
    expect(second.grant).toEqual({ granted: 0, resetAt: null });
    // The replica with the probe died.
    expect(ask(second.ledger, 'b', 5001).grant.granted).toBe(1);
    const observed = { limit: 10, remaining: 9, resetAt: 60_000 };
    const shown = exchange(second.ledger, { holder: 'a', now: 20, observed, inFlight: 0, lost: 0, wanted: 0 });
    expect(ask(shown.ledger, 'b', 30).grant).toEqual({ granted: 5, resetAt: 60_000 });
    // What a dead replica had reserved is free in the next window.
    expect(ask(ask(shown.ledger, 'b', 30).ledger, 'c', 60_000).grant).toEqual({ granted: 1, resetAt: null });
  });

  test('requests without an answer count, and what cannot be read is empty', () => {
    const observed = { limit: 10, remaining: 10, resetAt: 60_000 };
    const before: Ledger = { window: observed, reserved: {}, probe: null };
    const { grant } = exchange(before, { holder: 'a', now: 0, observed: null, inFlight: 0, lost: 8, wanted: 9 });
    expect(grant.granted).toBe(1);
    for (const value of [null, 'x', {}, [{ keys: ['read'], ledger: { window: { limit: 'x' } } }]]) {
      const report = { keys: ['read'], holder: 'a', now: 0, observed: null, inFlight: 0, lost: 0, wanted: 0 };
      expect(exchangeKeys(value, report).ledgers).toEqual([
        { keys: ['read'], joinedUntil: 0, ledger: { window: null, reserved: { a: 0 }, probe: null } },
      ]);
    }
  });
});

describe('ledgers of keys that share a budget', () => {
  const NOW = 1_000_000;
  const report = (holder: string, keys: readonly string[], remaining: number | null, wanted = 0, now = NOW) => ({
    ...{ keys, holder, now, wanted, inFlight: 0, lost: 0 },
    observed: remaining === null ? null : { limit: 60, remaining, resetAt: NOW + MINUTE },
  });

  test('become one as soon as one replica knows it, with the reservations of all', () => {
    const reads = exchangeKeys(null, report('a read', ['read'], 50, 10));
    const writes = exchangeKeys(reads.ledgers, report('b write', ['write'], 40, 20));
    expect([reads.grant.granted, writes.grant.granted]).toEqual([10, 20]);
    const joined = exchangeKeys(writes.ledgers, report('c read,write', ['read', 'write'], 40, 60));
    expect(joined.ledgers).toHaveLength(1);
    // 10 of the 40 are neither sent nor reserved.
    expect(joined.grant.granted).toBe(5);
    const again = exchangeKeys(joined.ledgers, report('a read', ['read'], 50, 60));
    expect(again.ledgers).toHaveLength(1);
    // 40 without the reservations of b and c, by half.
    expect(again.grant.granted).toBe(8);
  });

  test('are separate again when no replica has reported them together for a while', () => {
    const { ledgers } = exchangeKeys(null, report('c read,write', ['read', 'write'], 40));
    const later = exchangeKeys(ledgers, report('a read', ['read'], null, 0, NOW + 10 * MINUTE));
    expect(later.ledgers.map(({ keys }) => keys)).toEqual([['write'], ['read']]);
    const hours = exchangeKeys(later.ledgers, report('a read', ['read'], null, 0, NOW + 120 * MINUTE));
    expect(hours.ledgers.map(({ keys }) => keys)).toEqual([['read']]);
  });
});
