import { describe, expect, test } from 'vitest';
import { type AppError, TransientError } from '../../src/core/errors.ts';
import type { RequestQueue } from '../../src/queue/dispatcher.ts';
import {
  type AttemptSignal,
  NO_RATE_HEADERS,
  type QueuedRequest,
  type Reply,
  toAbortSignal,
} from '../../src/queue/request.ts';
import type { QueueEvent } from '../../src/queue/snapshot.ts';
import { fixedWindow } from '../support/rate-limiters.ts';
import { SimulatedServer } from '../support/rate-simulator.ts';

const MINUTE = 60_000;
const DEADLINE = 10 * MINUTE;

type Failures = { readonly error: AppError; readonly after: number }[];

/** Sends writes, and collects each failure with its time. */
function writes(server: SimulatedServer, queue: RequestQueue, count: number, rest: Partial<QueuedRequest<number>>) {
  const failures: Failures = [];
  const start = server.now;
  const all = Array.from({ length: count }, () =>
    queue.request(server.call({ class: 'write', repeat: 'never', name: 'createTeam', ...rest })).then(
      () => {},
      (error: AppError) => {
        failures.push({ error, after: server.now - start });
      },
    ),
  );
  return { failures, ended: Promise.all(all) };
}

/** Returns the milliseconds that this number of reads takes. */
async function read(server: SimulatedServer, queue: RequestQueue, count: number): Promise<number> {
  const start = server.now;
  await Promise.all(Array.from({ length: count }, () => queue.request(server.call())));
  return server.now - start;
}

describe('a stuck class does not block the other classes', () => {
  test('when it gets no responses, and its requests reach their deadline', async () => {
    const server = new SimulatedServer({ limits: { read: fixedWindow(1000, MINUTE) } });
    const queue = server.queue({ deadline: DEADLINE });
    const never = {
      attempt: (signal: AttemptSignal) => server.clock.sleep(DEADLINE * 9, toAbortSignal(signal)) as Promise<never>,
    };
    // One response, so that no request waits for a probe.
    await server.clock.run(queue.request(server.call({ class: 'write' })));
    const { failures, ended } = writes(server, queue, 60, never);
    // Reads are sent while all slots are in use, and again later.
    expect(await server.clock.run(read(server, queue, 300))).toBeLessThan(5000 + 1.5 * (300 / 20) * 150 + 1000);
    expect(await server.clock.run(read(server, queue, 300))).toBeLessThan(1.5 * (300 / 20) * 150);
    expect(queue.snapshot().inFlight).toBeLessThanOrEqual(20);
    await server.clock.run(ended);
    expect(failures).toHaveLength(60);
    expect(Math.max(...failures.map(({ after }) => after))).toBeLessThanOrEqual(DEADLINE + 1);
    const messages = failures.map(({ error }) => error.message);
    const start = 'createTeam was given up';
    expect(new Set(messages)).toEqual(
      new Set([
        `${start} without an answer: no answer within 600 s, the platform does not answer`,
        `${start}: no answer within 600 s, waiting to be sent: earlier requests have no response yet`,
      ]),
    );
    // A write that was never sent cannot have taken effect.
    expect(failures.filter(({ error }) => error instanceof TransientError && error.maybeDone)).toHaveLength(20);
    await expect(server.clock.run(queue.request(server.call({ class: 'write' })))).resolves.toBeGreaterThan(0);
  });

  test('when it always gets 429, and its requests reach their deadline', async () => {
    const server = new SimulatedServer({
      limits: { read: fixedWindow(1000, MINUTE), write: fixedWindow(0, MINUTE) },
    });
    const queue = server.queue({ deadline: DEADLINE });
    const { failures, ended } = writes(server, queue, 60, {});
    expect(await server.clock.run(read(server, queue, 300))).toBeLessThan(1.5 * (300 / 20) * 150);
    await server.clock.run(ended);
    expect(new Set(failures.map(({ error }) => error.message))).toEqual(
      new Set(['createTeam was given up: no answer within 600 s, waiting to be sent: refused by the platform (429)']),
    );
    expect(failures).toHaveLength(60);
    // One probe is sent per window.
    expect(queue.snapshot().outcomes.refused).toBeLessThanOrEqual(11);
  });
});

test('the circuit breaker limits requests during a minute of 503s, and all requests succeed afterwards', async () => {
  const server = new SimulatedServer({ limits: {} });
  const states: string[] = [];
  const onEvent = (event: QueueEvent) => event.kind === 'breaker' && states.push(event.state);
  const queue = server.queue({ concurrency: 10, deadline: DEADLINE, onEvent });
  const recoveredAt = server.now + MINUTE;
  let sent = 0;
  const fault = { ok: false, error: new TransientError('503', true) } as const;
  const attempt = async (signal: AttemptSignal): Promise<Reply<number>> => {
    sent += server.now < recoveredAt ? 1 : 0;
    await server.clock.sleep(150, toAbortSignal(signal));
    const reply = { headers: NO_RATE_HEADERS, receivedAt: server.clock.monotonic() };
    return server.now < recoveredAt ? { ...reply, result: fault } : { ...reply, result: { ok: true, value: 1 } };
  };
  const all = Promise.all(Array.from({ length: 500 }, () => queue.request(server.call({ attempt }))));
  await server.clock.advance(MINUTE / 2);
  expect(queue.snapshot()).toMatchObject({ breaker: 'open', inFlight: 0 });
  await server.clock.advance(MINUTE / 2);
  // Ten failures, then a trial after 5, 10 and 20 s. Trials do not use up the attempts of a request.
  expect(sent).toBeLessThanOrEqual(15);
  await server.clock.run(all);
  expect(queue.snapshot()).toMatchObject({ breaker: 'closed', outcomes: { answered: 500, failed: 0 } });
  expect(states).toEqual([...Array(4).fill('open'), 'closed']);
});
