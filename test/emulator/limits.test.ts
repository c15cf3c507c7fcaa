import { afterEach, describe, expect, test } from 'vitest';
import type { RateLimits } from '../../src/emulator/emulator.ts';
import { type Fixture, fixture } from './fixture.ts';

/* Rate limits by class of requests, with the headers that announce them. */

let made: Fixture;
afterEach(() => made.emulator.close());

/** Status, remaining requests, and seconds until the reset. */
async function ask(method = 'GET', token = 'emulator-token'): Promise<[number, string | null, number]> {
  const reply = await made.call(method, method === 'GET' ? '/orgs' : '/orgs/org_acme/ping', undefined, {
    Authorization: `Bearer ${token}`,
  });
  const reset = Number(reply.headers.get('x-ratelimit-reset'));
  return [reply.status, reply.headers.get('x-ratelimit-remaining'), reset - made.clock.now() / 1000];
}

const start = (limits: RateLimits) =>
  fixture({ limits, tokens: { t: { user: 'cy@acme.example', permission: 'read' } } });

test('sends no headers without limits', async () => {
  made = await fixture();
  const reply = await made.call('GET', '/orgs');
  expect([...reply.headers.keys()].filter((name) => name.includes('rate'))).toEqual([]);
});

describe('fixed rate-limit windows', () => {
  test('are aligned to the clock', async () => {
    made = await start({ all: { kind: 'fixed', limit: 2, window: 60_000 } });
    made.clock.advance(45_000);
    expect(await ask()).toEqual([200, '1', 15]);
    expect(await ask('POST')).toEqual([200, '0', 15]);
    expect(await ask()).toEqual([429, '0', 15]);
    made.clock.advance(14_999);
    expect((await ask())[0]).toBe(429);
    made.clock.advance(1);
    expect(await ask()).toEqual([200, '1', 60]);
  });
});

describe('rate-limit windows from the first call', () => {
  test('open with the first request, and again with the first one after their end', async () => {
    made = await start({ all: { kind: 'first-call', limit: 1, window: 10_000 } });
    made.clock.advance(3000);
    expect(await ask()).toEqual([200, '0', 10]);
    made.clock.advance(9000);
    expect(await ask()).toEqual([429, '0', 1]);
    made.clock.advance(5000);
    expect(await ask()).toEqual([200, '0', 10]);
  });
});

describe('token buckets', () => {
  test('refill evenly, and reset when they are full', async () => {
    made = await start({ all: { kind: 'bucket', perSecond: 2, burst: 4, retryAfter: true } });
    for (const left of ['3', '2', '1', '0']) {
      expect((await ask()).slice(0, 2)).toEqual([200, left]);
    }
    expect(await ask()).toEqual([429, '0', 2]);
    made.clock.advance(500);
    expect((await ask()).slice(0, 2)).toEqual([200, '0']);
    made.clock.advance(60_000);
    expect((await ask()).slice(0, 2)).toEqual([200, '3']);
  });
});

test('a 429 has the error body, names the wait, and sends Retry-After only when asked to', async () => {
  made = await start({ all: { kind: 'fixed', limit: 0, window: 60_000 } });
  const silent = await made.call('GET', '/orgs');
  expect(silent).toMatchObject({
    status: 429,
    body: { error: { code: 429, message: expect.stringContaining('60 seconds') } },
  });
  expect(silent.headers.get('retry-after')).toBeNull();
  made.emulator.setLimits({ all: { kind: 'fixed', limit: 0, window: 60_000, retryAfter: true } });
  expect((await made.call('GET', '/orgs')).headers.get('retry-after')).toBe('60');
  made.emulator.setLimits({ all: { kind: 'fixed', limit: 9, window: 60_000, headers: false } });
  expect((await made.call('GET', '/orgs')).headers.get('x-ratelimit-limit')).toBeNull();
});

test('limits reads, writes and all requests, and announces the tightest limit', async () => {
  made = await start({
    read: { kind: 'fixed', limit: 5, window: 60_000 },
    write: { kind: 'fixed', limit: 1, window: 60_000 },
    all: { kind: 'fixed', limit: 3, window: 60_000 },
  });
  expect((await ask('POST')).slice(0, 2)).toEqual([200, '0']);
  expect((await ask('POST'))[0]).toBe(429);
  expect((await ask()).slice(0, 2)).toEqual([200, '1']);
  expect((await ask()).slice(0, 2)).toEqual([200, '0']);
  expect((await ask())[0]).toBe(429);
});

test('limits each token separately, and also counts and announces errors', async () => {
  made = await start({ all: { kind: 'fixed', limit: 1, window: 60_000 } });
  expect((await ask())[0]).toBe(200);
  expect((await ask('GET', 't')).slice(0, 2)).toEqual([200, '0']);
  expect((await ask('GET', 'unknown')).slice(0, 2)).toEqual([401, '0']);
  expect((await ask('GET', 'unknown'))[0]).toBe(429);
});
