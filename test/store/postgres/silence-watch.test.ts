// Connections whose answers are lost, and statements that are only slow.
import { expect, test } from 'vitest';
import { SilenceWatch } from '../../../src/store/postgres/connection-pool.ts';
import { createVirtualClock } from '../../queue/virtual-clock.ts';

function openWatch(answer: () => ReadonlySet<string> | null | Promise<ReadonlySet<string> | null>) {
  const clock = createVirtualClock();
  const startedAt = clock.monotonic();
  const now = () => clock.monotonic() - startedAt;
  const questions: number[] = [];
  const watch = new SilenceWatch(async () => {
    questions.push(now());
    return answer();
  }, clock);
  const connect = (tag: string) => ({
    tag,
    bytesRead: 0,
    givenUpAt: null as number | null,
    giveUp() {
      this.givenUpAt = now();
    },
  });
  return { clock, watch, questions, connect };
}

test('a connection without an answer is given up after 5 s if the server does not run its statement', async () => {
  const { clock, watch, questions, connect } = openWatch(() => new Set(['slow']));
  const [lost, slow] = [connect('lost'), connect('slow')];
  watch.watch(lost);
  watch.watch(slow);
  await clock.advance(4999);
  expect([questions, lost.givenUpAt]).toEqual([[4000], null]);
  await clock.advance(1);
  watch.unwatch(lost);
  expect(lost.givenUpAt).toBe(5000);
  await clock.advance(60_000);
  expect(slow.givenUpAt).toBeNull();
});

test.each([
  ['before the server is asked', 3900],
  ['while the server is asked', 4500],
  ['after the server was asked', 5500],
])('a connection that receives something %s is kept', async (_title, at) => {
  const { clock, watch, connect } = openWatch(async () => {
    await clock.sleep(1000);
    return new Set<string>();
  });
  const connection = connect('x');
  watch.watch(connection);
  await clock.advance(at);
  connection.bytesRead += 1;
  await clock.advance(6000 - at);
  expect(connection.givenUpAt).toBeNull();
  // It is silent again.
  await clock.advance(10_000);
  expect(connection.givenUpAt).not.toBeNull();
});

test('a connection that waits for nothing is not watched, and costs no timer', async () => {
  const { clock, watch, questions, connect } = openWatch(() => new Set());
  const connection = connect('x');
  for (let count = 0; count < 20; count += 1) {
    watch.watch(connection);
    await clock.advance(900);
    watch.unwatch(connection);
    await clock.advance(30_000);
  }
  expect([questions, connection.givenUpAt]).toEqual([[], null]);
  // No timer is left.
  await expect(clock.run(new Promise(() => undefined))).rejects.toThrow('nothing is left');
});

test('stops at once', async () => {
  const { clock, watch, questions, connect } = openWatch(() => new Set());
  const connection = connect('x');
  watch.watch(connection);
  await clock.advance(500);
  watch.stop();
  watch.watch(connection);
  await expect(clock.run(new Promise(() => undefined))).rejects.toThrow('nothing is left');
  expect([questions, connection.givenUpAt]).toEqual([[], null]);
});
