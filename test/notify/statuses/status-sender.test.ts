/** Sending of commit statuses: one request for each change, retries, kills at any step, and lost answers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AuthError,
  LeaseLostError,
  RateLimitedError,
  RejectedError,
  StoreError,
  TransientError,
} from '../../../src/core/errors.ts';
import { leaseRefusal } from '../../../src/daemon/open-organization.ts';
import type { StatusContent } from '../../../src/store/commit-statuses.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { commitOf, World } from './status-world.ts';

test('sends one request for each change of state, and none without one', async () => {
  const world = new World();
  await world.want(1, 'pending', 'waits');
  expect(await world.settle()).toBe(1);
  await world.want(1, 'pending', 'waits');
  expect(await world.settle()).toBe(0);
  await world.want(1, 'pending', 'waits for something else');
  expect(await world.settle()).toBe(1);
  await world.want(1, 'success');
  await world.want(1, 'failure', 'drift that cannot be undone');
  expect(await world.settle()).toBe(1);
  world.restart();
  expect(await world.settle()).toBe(0);
  expect(world.shown).toEqual(new Map([[commitOf(1), 'success']]));
});

test('sends only the last of several states that came before the first request', async () => {
  const world = new World();
  await world.want(1, 'pending');
  await world.want(1, 'error');
  await world.want(1, 'success');
  expect(await world.settle()).toBe(1);
});

test('a retry after a failure shows only its result', async () => {
  const world = new World();
  for (const state of ['running', 'failure', 'running', 'failure', 'running', 'failure'] as const) {
    await world.want(1, state);
    await world.settle();
  }
  expect(world.requests.filter((name) => name.startsWith('status'))).toHaveLength(2);
  await world.want(1, 'success');
  await world.settle();
  expect(world.shown.get(commitOf(1))).toBe('success');
});

test('a newer commit closes those that wait, and leaves the others', async () => {
  const world = new World();
  await world.want(1, 'failure');
  await world.want(2, 'running');
  await world.settle();
  await world.see(3);
  await world.want(3, 'success');
  await world.settle();
  expect(Object.fromEntries(world.shown)).toEqual({
    [commitOf(1)]: 'failure',
    [commitOf(2)]: 'superseded',
    [commitOf(3)]: 'success',
  });
  expect(world.descriptions.get(commitOf(2))).toBe('superseded by 3333333');
  expect(world.deployments).toEqual([{ commit: commitOf(2), states: ['in_progress', 'inactive'] }]);
});

describe('under a lease that may end', () => {
  /** Milliseconds of a request, and what the lease must last beyond that. */
  const TIMEOUT = 30_000;
  const MARGIN = 2000;

  test('no request is sent without enough of the lease left, and all are sent under the next one', async () => {
    for (let sent = 0; sent < 4; sent += 1) {
      const world = new World();
      let left = 60_000;
      world.checkSend = () => {
        const refusal = leaseRefusal({ name: 'organization/org_1', left: () => left }, TIMEOUT);
        if (refusal !== null) {
          throw refusal;
        }
      };
      world.fault = () => {
        // Two calls for each request.
        left = world.requests.length > sent ? TIMEOUT + MARGIN - 1 : left;
      };
      await world.want(1, 'running');
      await world.want(2, 'running');
      await expect(world.settle()).rejects.toThrow(LeaseLostError);
      expect(world.requests).toHaveLength(sent + 1);
      expect(world.reported.filter(({ error }) => error !== null)).toEqual([]);
      left = 60_000;
      world.fault = () => undefined;
      world.restart();
      await world.settle();
      expect(world.shown.size).toBe(2);
      expect(world.deployments.map(({ states }) => states)).toEqual([['in_progress'], ['in_progress']]);
    }
  });
});

test('a sender goes on within seconds after its lease was too short, or the database failed', async () => {
  for (const error of [new LeaseLostError('organization/org_1', 'short'), new StoreError('the database is away')]) {
    const world = new World();
    const waits: number[] = [];
    await world.want(1, 'success');
    world.checkSend = () => {
      if (waits.length < 3) {
        throw error;
      }
    };
    world.sleep = async (wait) => {
      waits.push(wait);
      world.now += wait;
      if (world.shown.size > 0 || waits.length > 9) {
        world.stopping.abort();
      }
    };
    await world.sender.run();
    expect(world.shown).toEqual(new Map([[commitOf(1), 'success']]));
    expect(waits.slice(0, 3)).toEqual([5000, 5000, 5000]);
    expect(world.reported.filter((request) => request.error !== null)).toEqual([]);
  }
});

describe('a request that fails', () => {
  test.each([
    ['a refused token', () => new AuthError('Fake answers with 401', 401)],
    ['a commit that is not there', () => new RejectedError('Fake answers with 404', 404)],
    ['no answer', () => new TransientError('Fake does not answer', true)],
    ['a rate limit of a second', () => new RateLimitedError('Fake answers with 429', 1000)],
  ])('because of %s is retried ever more rarely, and given up after a day', async (_name, error) => {
    const world = new World();
    world.fault = () => {
      throw error();
    };
    await world.want(1, 'success');
    const start = world.now;
    expect(await world.sender.sendDue()).toBeGreaterThan(500);
    expect(world.sender.failure).toMatchObject({ since: start, reason: error().message });
    for (let wait = await world.sender.sendDue(); wait !== null; wait = await world.sender.sendDue()) {
      world.now += wait;
    }
    expect(world.now - start).toBeGreaterThan(23 * 3_600_000);
    expect(world.requests.length).toBeLessThan(500);
    expect(world.sender.failure).toBeNull();
  });

  test('waits as long as the forge says, also for other statuses', async () => {
    const world = new World();
    world.fault = () => {
      throw new RateLimitedError('Fake answers with 429', 90_000);
    };
    await world.want(1, 'success');
    expect(await world.sender.sendDue()).toBe(90_000);
    await world.want(2, 'success');
    world.fault = () => undefined;
    expect(await world.sender.sendDue()).toBe(90_000);
    expect(world.requests).toHaveLength(1);
    expect(await world.settle()).toBe(2);
    expect(world.sender.failure).toBeNull();
  });

  test('for one commit does not hold back the others', async () => {
    const world = new World();
    world.fault = (name) => {
      if (name.includes(commitOf(1))) {
        throw new RejectedError('Fake answers with 422', 422);
      }
    };
    await world.want(1, 'success');
    await world.want(2, 'success');
    await world.sender.sendDue();
    expect(world.shown).toEqual(new Map([[commitOf(2), 'success']]));
  });
});

test('what is wanted again after a lost answer is sent again', async () => {
  const world = new World();
  await world.want(1, 'pending');
  await world.settle();
  let requests = 0;
  world.fault = () => {
    requests += 1;
    if (requests === 2) {
      throw new TransientError('killed', true);
    }
  };
  await world.want(1, 'running');
  await world.sender.sendDue();
  world.fault = () => undefined;
  world.restart();
  await world.want(1, 'pending');
  await world.settle();
  expect([...world.shown.values()]).toEqual(['pending']);
});

test('with kills at any step, every commit ends with what was wanted last, and one deployment', async () => {
  const states = fc.constantFrom<StatusContent['state']>('pending', 'running', 'failure', 'error', 'success');
  const step = fc.oneof(
    fc.record({ kind: fc.constant('want' as const), commit: fc.integer({ min: 1, max: 3 }), state: states }),
    fc.record({ kind: fc.constant('see' as const), commit: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('send' as const), killAt: fc.integer({ min: 0, max: 6 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const world = new World();
      for (const each of steps) {
        if (each.kind === 'want') {
          await world.want(each.commit, each.state);
        } else if (each.kind === 'see') {
          await world.see(each.commit);
        } else {
          let left = each.killAt;
          world.fault = () => {
            left -= 1;
            if (left === 0) {
              // The process ends here: what it keeps in memory is gone.
              throw new TransientError('killed', true);
            }
          };
          await world.sender.sendDue();
          world.fault = () => undefined;
          world.restart();
        }
      }
      await world.settle();
      const records = await world.records.list();
      for (const { commit, wanted, sent, deployment } of records) {
        expect(sent).toEqual(wanted);
        expect(world.shown.get(commit)).toBe(wanted.state);
        const own = world.deployments.filter((made) => made.commit === commit);
        expect(own.length).toBeLessThanOrEqual(deployment === null ? 0 : 1);
        if (own.length === 1) {
          expect(own[0]?.states.at(-1)).toBe(deployment?.wanted);
        }
      }
      expect(await world.settle()).toBe(0);
    }),
    { seed: SEED, numRuns: countCases({ sample: 300, ci: 1000, full: 10_000 }) },
  );
});
