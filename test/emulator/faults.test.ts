import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { FaultInjector, type FaultRule } from '../../src/emulator/http/faults.ts';
import { type Fixture, fixture } from './fixture.ts';

/* Injected faults, and whether the request was processed nevertheless. */

let made: Fixture;
beforeAll(async () => {
  made = await fixture();
});
afterAll(() => made.emulator.close());
beforeEach(() => made.emulator.setFaults([]));

const create = () => made.call('PUT', '/orgs/org_acme/teams', { title: 'T' });
const count = async (): Promise<number> => (await made.org('GET', '/teams?limit=0')).count;

async function outcome(fault: FaultRule['fault']) {
  const before = await count();
  made.emulator.setFaults([{ match: { operation: 'createTeam' }, fault }]);
  const reply = await create().catch(() => 'dropped' as const);
  made.emulator.setFaults([]);
  return { reply, done: (await count()) - before };
}

test.each<[fault: FaultRule['fault'], reply: unknown, done: number]>([
  [
    { kind: 'status', status: 503, message: 'Down' },
    { status: 503, body: { error: { code: 503, message: 'Down' } } },
    0,
  ],
  [{ kind: 'reset-before' }, 'dropped', 0],
  [{ kind: 'reset-after' }, 'dropped', 1],
  [{ kind: 'truncate' }, 'dropped', 1],
  [{ kind: 'html' }, { status: 200, body: expect.stringContaining('<html>') }, 0],
  [{ kind: 'wrong-content-type' }, { status: 201, body: expect.stringContaining('"object":"team"') }, 1],
])('the fault %j', async (fault, reply, done) => {
  expect(await outcome(fault)).toMatchObject({ reply, done });
});

test('a half response with a matching length is not valid JSON', async () => {
  const { emulator } = made;
  emulator.setFaults([{ fault: { kind: 'half' } }]);
  const reply = await fetch(`${emulator.url}/v1/orgs/${emulator.organization}/teams`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${emulator.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ title: 'Half' }),
  });
  expect([reply.status, await reply.text()]).toEqual([201, expect.stringMatching(/^\{"object":"team".*[^}]$/)]);
  expect(emulator.state().teams).toContainEqual(expect.objectContaining({ title: 'Half' }));
});

test('a 429 fault prevents the operation and sends a given Retry-After', async () => {
  const plain = await outcome({ kind: '429' });
  expect(plain).toMatchObject({ reply: { status: 429 }, done: 0 });
  const { reply } = await outcome({ kind: '429', retryAfter: 7 });
  expect(reply === 'dropped' ? undefined : reply.headers.get('retry-after')).toBe('7');
});

test('a delay fault responds when the clock has advanced', async () => {
  made.emulator.setFaults([{ fault: { kind: 'delay', ms: 500 }, times: 1 }]);
  let answered = false;
  const pending = create().then((reply) => {
    answered = true;
    return reply;
  });
  while (made.clock.sleeping.length === 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(made.clock.sleeping).toEqual([500]);
  expect(answered).toBe(false);
  made.clock.advance(500);
  expect((await pending).status).toBe(201);
});

test('hook faults run before and after the operation', async () => {
  const seen: number[] = [];
  const look = () => seen.push(made.emulator.state().teams?.length ?? 0);
  const before = await count();
  made.emulator.setFaults([
    { match: { method: 'PUT' }, fault: { kind: 'hook', when: 'before', run: look } },
    { match: { method: 'PUT' }, fault: { kind: 'hook', when: 'after', run: look } },
  ]);
  expect((await create()).status).toBe(201);
  expect(seen).toEqual([before, before + 1]);
});

test('rules match by method, operation, path, occurrence and count, and the first match applies', () => {
  const status = (status: number) => ({ kind: 'status', status }) as const;
  const chosen = (rules: FaultRule[], requests: [string, string, string][]) => {
    const injector = new FaultInjector(rules, 1);
    return requests.map(([method, operation, path]) => {
      const { end } = injector.choose({ method, operation, path });
      return end?.kind === 'status' ? end.status : 0;
    });
  };
  const get: [string, string, string] = ['GET', 'listTeams', '/v1/orgs/o/teams'];
  const put: [string, string, string] = ['PUT', 'createTeam', '/v1/orgs/o/teams'];
  expect(chosen([{ match: { method: 'PUT' }, fault: status(500) }], [get, put])).toEqual([0, 500]);
  expect(chosen([{ match: { path: '/sites' }, fault: status(500) }], [get, put])).toEqual([0, 0]);
  expect(chosen([{ match: { operation: 'listTeams', nth: 2 }, fault: status(500) }], [get, put, get, get])).toEqual([
    0, 0, 500, 0,
  ]);
  expect(chosen([{ times: 2, fault: status(500) }], [get, get, get])).toEqual([500, 500, 0]);
  const two = [
    { times: 1, fault: status(500) },
    { times: 1, fault: status(503) },
  ];
  expect(chosen(two, [get, get, get])).toEqual([500, 503, 0]);
});

test('a rate selects the same requests for the same seed', () => {
  const chosen = (seed: number) => {
    const injector = new FaultInjector([{ rate: 0.3, fault: { kind: 'reset-before' } }], seed);
    const request = { method: 'GET', operation: 'x', path: '/' };
    return Array.from({ length: 200 }, () => (injector.choose(request).end === undefined ? '.' : 'x')).join('');
  };
  expect(chosen(7)).toBe(chosen(7));
  expect(chosen(7)).not.toBe(chosen(8));
  const hits = chosen(7).replaceAll('.', '').length;
  expect(hits).toBeGreaterThan(40);
  expect(hits).toBeLessThan(80);
});

test('a rule can be limited to writes', async () => {
  made.emulator.setFaults([{ match: { writes: true }, fault: { kind: 'status', status: 503 } }]);
  expect(await count()).toBeGreaterThan(0);
  expect((await create()).status).toBe(503);
});

test('random faults of a request do not depend on other requests', () => {
  const rules: FaultRule[] = [{ rate: 0.5, fault: { kind: 'status', status: 500 } }];
  const one = Array.from({ length: 20 }, (_, index) => ({ method: 'GET', operation: 'o', path: `/${index % 4}` }));
  const chosen = (requests: typeof one) => {
    const injector = new FaultInjector(rules, 7);
    const seen = requests.map((request) => [request.path, injector.choose(request).end !== undefined] as const);
    return seen.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  };
  const grouped = one.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  expect(chosen(grouped)).toEqual(chosen(one));
  expect(new Set(chosen(one).map(([, fails]) => fails)).size).toBe(2);
});
