import { beforeEach, describe, expect, test } from 'vitest';
import {
  type AppError,
  CancelledError,
  LeaseLostError,
  RateLimitedError,
  RejectedError,
  TransientError,
} from '../../src/core/errors.ts';
import { type QueueOptions, RequestQueue } from '../../src/queue/dispatcher.ts';
import {
  AttemptSignal,
  NO_RATE_HEADERS,
  type QueuedRequest,
  type RateHeaders,
  type Reply,
  TimeoutError,
  toAbortSignal,
} from '../../src/queue/request.ts';
import { createVirtualClock } from './virtual-clock.ts';

function setUp(options: Partial<QueueOptions> = {}) {
  const clock = createVirtualClock();
  const queue = new RequestQueue({ clock, random: () => 0.5, concurrency: 1, ...options });
  return { clock, queue, sent: [] as string[] };
}

type Setup = ReturnType<typeof setUp>;
type Step = AppError | string;

/** Creates a request that takes 100 ms; each attempt ends with the next of `steps`. */
function requestOf(
  world: Setup,
  name: string,
  steps: readonly Step[] = ['done'],
  rest: Partial<QueuedRequest<string>> & { readonly headers?: Partial<RateHeaders> } = {},
): QueuedRequest<string> {
  let next = 0;
  const { headers, ...request } = rest;
  return {
    name,
    class: 'read',
    priority: 'apply',
    repeat: 'safe',
    async attempt(signal): Promise<Reply<string>> {
      const step = steps[Math.min(next, steps.length - 1)] ?? 'done';
      next += 1;
      world.sent.push(name);
      await world.clock.sleep(100, toAbortSignal(signal));
      const receivedAt = world.clock.monotonic();
      const common = { headers: { ...NO_RATE_HEADERS, ...headers }, receivedAt };
      if (typeof step === 'string') {
        return { ...common, result: { ok: true, value: step } };
      }
      if (step instanceof TransientError) {
        throw step;
      }
      return { ...common, result: { ok: false, error: step } };
    },
    ...request,
  };
}

const fault = new TransientError('fault', true);

async function failure(promise: Promise<unknown>): Promise<AppError> {
  return promise.then(
    () => expect.unreachable('should have failed'),
    (error: AppError) => error,
  );
}

test('the order is by priority, then by age', async () => {
  const world = setUp();
  const priorities = ['drift', 'ingestion', 'apply', 'clusters', 'person', 'apply'] as const;
  const first = world.queue.request(requestOf(world, 'first'));
  const all = priorities.map((priority, index) =>
    world.queue.request(requestOf(world, `${priority} ${index}`, ['done'], { priority })),
  );
  await world.clock.run(Promise.all([first, ...all]));
  expect(world.sent).toEqual(['first', 'person 4', 'apply 2', 'apply 5', 'clusters 3', 'ingestion 1', 'drift 0']);
});

describe('sharing', () => {
  test('identical reads are sent once, and every caller gets the response', async () => {
    const world = setUp();
    const blocker = world.queue.request(requestOf(world, 'blocker'));
    const low = world.queue.request(requestOf(world, 'same', ['one'], { key: 'k', priority: 'drift' }));
    const other = world.queue.request(requestOf(world, 'other', ['two']));
    const high = world.queue.request(requestOf(world, 'same', ['three'], { key: 'k', priority: 'person' }));
    expect(world.queue.snapshot().waiting).toMatchObject({ person: 1, drift: 0 });
    expect(await world.clock.run(Promise.all([blocker, low, other, high]))).toEqual(['done', 'one', 'two', 'one']);
    expect(world.sent).toEqual(['blocker', 'same', 'other']);
  });

  test('a read after a write does not share an older read', async () => {
    const world = setUp({ concurrency: 3 });
    await world.clock.run(world.queue.request(requestOf(world, 'first')));
    const slow = requestOf(world, 'read', ['old'], { key: 'k' });
    const old = world.queue.request({
      ...slow,
      attempt: async (signal) => {
        await world.clock.sleep(1000, toAbortSignal(signal));
        return slow.attempt(signal);
      },
    });
    await world.clock.run(
      world.queue.request(requestOf(world, 'write', ['done'], { class: 'write', repeat: 'never' })),
    );
    const fresh = world.queue.request(requestOf(world, 'read', ['new'], { key: 'k' }));
    expect(await world.clock.run(Promise.all([old, fresh]))).toEqual(['old', 'new']);
  });
});

describe('cancellation', () => {
  test('removes a waiting request without sending it', async () => {
    const world = setUp();
    const blocker = world.queue.request(requestOf(world, 'blocker'));
    const controller = new AbortController();
    const waiting = failure(world.queue.request(requestOf(world, 'x', ['done'], { signal: controller.signal })));
    const after = world.queue.request(requestOf(world, 'after'));
    controller.abort();
    expect(await waiting).toBeInstanceOf(CancelledError);
    expect(world.queue.snapshot().waiting.apply).toBe(1);
    await world.clock.run(Promise.all([blocker, after]));
    expect(world.sent).toEqual(['blocker', 'after']);
  });

  test('does not cancel a shared read for other callers', async () => {
    const world = setUp();
    const controller = new AbortController();
    const mine = failure(world.queue.request(requestOf(world, 'x', ['done'], { key: 'k', signal: controller.signal })));
    const theirs = world.queue.request(requestOf(world, 'x', ['done'], { key: 'k' }));
    controller.abort();
    expect(await mine).toBeInstanceOf(CancelledError);
    expect(await world.clock.run(theirs)).toBe('done');
  });

  test('of a write in flight reports that it may have taken effect', async () => {
    const world = setUp();
    const controller = new AbortController();
    const request = requestOf(world, 'w', ['done'], { class: 'write', repeat: 'never', signal: controller.signal });
    const write = failure(world.queue.request(request));
    await world.clock.settle();
    controller.abort();
    const error = await write;
    expect(error).toBeInstanceOf(TransientError);
    expect(error).toHaveProperty('maybeDone', true);
    await world.clock.settle();
    expect(world.queue.snapshot().inFlight).toBe(0);
  });

  test('before the call sends nothing', async () => {
    const world = setUp();
    const signal = AbortSignal.abort();
    expect(await failure(world.queue.request(requestOf(world, 'x', ['done'], { signal })))).toBeInstanceOf(
      CancelledError,
    );
    expect(world.sent).toEqual([]);
  });

  test('is seen by an attempt that looks at its signal later, with the first reason', () => {
    const signal = new AttemptSignal();
    signal.abort(fault);
    signal.abort(new TransientError('late', true));
    expect(toAbortSignal(signal).reason).toBe(fault);
  });
});

describe('retries', () => {
  test.each(['safe', 'idempotent'] as const)('a %s request is sent at most five times', async (repeat) => {
    const world = setUp();
    expect(await world.clock.run(failure(world.queue.request(requestOf(world, 'x', [fault], { repeat }))))).toBe(fault);
    expect(world.sent).toHaveLength(5);
  });

  test('a request that must not be repeated is retried only if it was never sent', async () => {
    const world = setUp();
    const lost = requestOf(world, 'lost', [fault], { repeat: 'never' });
    expect(await world.clock.run(failure(world.queue.request(lost)))).toHaveProperty('maybeDone', true);
    const unsent = requestOf(world, 'unsent', [new TransientError('refused', false), 'done'], { repeat: 'never' });
    expect(await world.clock.run(world.queue.request(unsent))).toBe('done');
    expect(world.sent).toEqual(['lost', 'unsent', 'unsent']);
  });

  test('use exponential backoff with jitter', async () => {
    const world = setUp();
    const start = world.clock.monotonic();
    await world.clock.run(world.queue.request(requestOf(world, 'x', [fault, fault, fault, 'done'])));
    // 4 attempts of 100 ms, and half of 0.5 s, 1 s and 2 s.
    expect(world.clock.monotonic() - start).toBeCloseTo(400 + 250 + 500 + 1000);
  });

  test('a 429 does not count as an attempt', async () => {
    const world = setUp();
    const refused = new RateLimitedError('slow down', null);
    const request = requestOf(world, 'x', [...Array<AppError>(7).fill(refused), 'done'], {
      headers: { retryAfter: 1000 },
    });
    expect(await world.clock.run(world.queue.request(request))).toBe('done');
    expect(world.queue.snapshot().outcomes).toMatchObject({ refused: 7, answered: 1, retried: 0 });
  });

  test('stop when the quota is used up, and resume after enough successes', async () => {
    const world = setUp({ concurrency: 5 });
    const timeout = new TimeoutError('slow', true);
    // Successes in between keep the breaker closed; each returns one to the quota.
    const one = async (step: Step) => world.queue.request(requestOf(world, 'x', [step])).catch(() => {});
    while (world.queue.snapshot().retryQuota >= 10) {
      await world.clock.run(Promise.all([one(timeout), one('done')]));
    }
    const left = world.queue.snapshot().retryQuota;
    world.sent.length = 0;
    await world.clock.run(one(timeout));
    expect(world.sent).toHaveLength(1);
    for (let good = left; good < 10; good += 1) {
      await world.clock.run(one('done'));
    }
    world.sent.length = 0;
    await world.clock.run(one(timeout));
    expect(world.sent).toHaveLength(2);
  });

  test('count against the rate limit: a failure without a response is assumed to count', async () => {
    const world = setUp();
    const reset = world.clock.now() / 1000 + 60;
    const headers = { limit: 60, remaining: 50, reset };
    await world.clock.run(world.queue.request(requestOf(world, 'x', ['done'], { headers })));
    await world.clock.run(failure(world.queue.request(requestOf(world, 'y', [fault]))));
    expect(world.queue.snapshot().budgets.find(({ classes }) => classes.includes('read'))?.remaining).toBe(50 - 5);
  });
});

describe('while the circuit breaker is open', () => {
  async function broken(deadline = 600_000) {
    const world = setUp({ concurrency: 4, deadline });
    await world.clock.run(world.queue.request(requestOf(world, 'good')));
    const bad = Array.from({ length: 10 }, () => requestOf(world, 'bad', [fault], { repeat: 'never' }));
    await world.clock.run(Promise.all(bad.map((request) => failure(world.queue.request(request)))));
    world.sent.length = 0;
    return world;
  }

  test('one request is sent after each pause, and pauses double up to a minute', async () => {
    const world = await broken();
    const all = Array.from({ length: 20 }, () => failure(world.queue.request(requestOf(world, 'x', [fault]))));
    const trials: number[] = [];
    for (let second = 0; second < 200; second += 1) {
      await world.clock.advance(1000);
      trials.push(...world.sent.splice(0).map(() => second));
    }
    const pauses = trials.slice(1).map((second, index) => second - (trials[index] ?? 0));
    expect(pauses.map((pause) => Math.round(pause / 5) * 5)).toEqual([10, 20, 40, 60, 60]);
    await world.clock.run(world.queue.drain(0));
    await Promise.all(all);
  });

  test('the error of a waiting request names the reason', async () => {
    const world = await broken(4000);
    const error = await world.clock.run(failure(world.queue.request(requestOf(world, 'listTeams'))));
    expect(error.message).toBe(
      'listTeams was given up: no answer within 4 s, waiting to be sent: ' +
        'the platform keeps failing; only trial requests are sent',
    );
  });

  test('429s and rejections do not count as failures', async () => {
    const world = setUp({ concurrency: 4 });
    const rejected = Array.from({ length: 30 }, () => requestOf(world, 'x', [new RejectedError('no', 404)]));
    await world.clock.run(Promise.all(rejected.map((request) => failure(world.queue.request(request)))));
    expect(world.queue.snapshot().breaker).toBe('closed');
  });
});

describe('drain', () => {
  test('finishes requests in flight for every caller, and cancels waiting ones', async () => {
    const world = setUp();
    const inFlight = world.queue.request(requestOf(world, 'inFlight'));
    const waiting = failure(world.queue.request(requestOf(world, 'waiting')));
    await world.clock.run(Promise.all([world.queue.drain(5000), world.queue.drain(5000)]));
    expect(await inFlight).toBe('done');
    expect(await waiting).toBeInstanceOf(CancelledError);
    expect(await failure(world.queue.request(requestOf(world, 'late')))).toBeInstanceOf(CancelledError);
    expect(world.sent).toEqual(['inFlight']);
  });

  test('aborts requests that take too long', async () => {
    const world = setUp();
    const inFlight = failure(world.queue.request(requestOf(world, 'inFlight')));
    await world.clock.run(world.queue.drain(10));
    expect(await inFlight).toBeInstanceOf(CancelledError);
  });
});

test('an estimate follows dependencies', () => {
  const { queue } = setUp({ concurrency: 10 });
  const chain = Array.from({ length: 20 }, (_, place) => ({
    writes: 2,
    reads: 0,
    after: place === 0 ? [] : [place - 1],
  }));
  const independent = Array.from({ length: 9 }, () => ({ writes: 1, reads: 0, after: [] }));
  expect(queue.estimate([...chain, ...independent])).toBeCloseTo(40 * 0.15);
  // A work item without requests passes on its dependencies.
  expect(
    queue.estimate([...chain, { writes: 0, reads: 0, after: [19] }, { writes: 0, reads: 1, after: [20] }]),
  ).toBeCloseTo(41 * 0.15);
  expect(queue.estimate([])).toBe(0);
});

describe('refusal', () => {
  const lost = new LeaseLostError('organization/acme');
  let mayBeSent: boolean;
  const refusal = () => (mayBeSent ? null : lost);
  beforeEach(() => {
    mayBeSent = true;
  });

  test('is asked for again when a request is sent, after all waiting', async () => {
    const world = setUp();
    const first = world.queue.request(requestOf(world, 'first'));
    const second = world.queue.request(requestOf(world, 'second', ['done'], { refusal }));
    const refused = expect(second).rejects.toBe(lost);
    mayBeSent = false;
    await world.clock.run(first);
    await refused;
    expect(world.sent).toEqual(['first']);
    expect(world.queue.snapshot().outcomes).toMatchObject({ answered: 1, cancelled: 1, failed: 0 });
  });

  test('at the moment of sending uses no budget, and does not count as an answer', async () => {
    const world = setUp();
    const headers = { limit: 10, remaining: 5, reset: 60 };
    await world.clock.run(world.queue.request(requestOf(world, 'first', ['done'], { headers })));
    const attempt = () => Promise.reject(lost);
    await expect(world.clock.run(world.queue.request(requestOf(world, 'late', [], { attempt })))).rejects.toBe(lost);
    const { budgets, outcomes } = world.queue.snapshot();
    expect(budgets[0]).toMatchObject({ remaining: 5 });
    expect(outcomes).toMatchObject({ answered: 1, rejected: 0, failed: 0, cancelled: 1 });
  });

  test('of a retry keeps the error of the attempt before it', async () => {
    const world = setUp();
    const request = world.queue.request(requestOf(world, 'write', [fault], { repeat: 'idempotent', refusal }));
    const failed = expect(request).rejects.toBe(fault);
    mayBeSent = false;
    await world.clock.advance(100);
    await failed;
    expect(world.sent).toEqual(['write']);
  });

  test('rejects waiting requests when they are checked again, and not those in flight', async () => {
    const world = setUp();
    const inFlight = world.queue.request(requestOf(world, 'in flight', ['done'], { refusal }));
    const waiting = world.queue.request(requestOf(world, 'waiting', ['done'], { refusal }));
    const other = world.queue.request(requestOf(world, 'other'));
    const refused = expect(waiting).rejects.toBe(lost);
    mayBeSent = false;
    world.queue.recheck();
    await refused;
    expect(await world.clock.run(Promise.all([inFlight, other]))).toEqual(['done', 'done']);
  });

  test('of one caller does not cancel a read that another one shares', async () => {
    const world = setUp();
    const busy = world.queue.request(requestOf(world, 'busy'));
    const mine = requestOf(world, 'read', ['done'], { key: '/v1/a', refusal });
    const first = world.queue.request(mine);
    const second = world.queue.request(requestOf(world, 'read', ['done'], { key: '/v1/a' }));
    const refused = expect(first).rejects.toBe(lost);
    mayBeSent = false;
    await world.clock.run(busy);
    await refused;
    expect(await world.clock.run(second)).toBe('done');
  });
});
