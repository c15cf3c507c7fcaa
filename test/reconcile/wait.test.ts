import { expect, test } from 'vitest';
import { RejectedError, TransientError } from '../../src/core/errors.ts';
import type { Kind, Progress } from '../../src/kinds/model/kind.ts';
import { translation } from '../../src/kinds/translation.ts';
import type { Reader } from '../../src/platform/client.ts';
import { type BackgroundWork, type WaitResult, waitForWork } from '../../src/reconcile/follow-up.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';

const MINUTE = 60_000;
const READER = {} as Reader;

interface Tried {
  readonly waited: WaitResult;
  /** Milliseconds. */
  readonly took: number;
  readonly polls: number;
}

/** Waits for `count` resources whose progress depends on the time since the start, in milliseconds. */
async function wait(
  count: number,
  progress: (id: string, elapsed: number) => Progress,
  abortAfter?: number,
): Promise<Tried> {
  const clock = createVirtualClock();
  const start = clock.monotonic();
  let polls = 0;
  const kind: Kind = {
    ...translation,
    progress: async (id) => {
      polls += 1;
      return progress(id, clock.monotonic() - start);
    },
  };
  const work: BackgroundWork[] = Array.from({ length: count }, (_, at) => ({
    address: `translation/${at}`,
    id: `id${at}`,
    kind,
  }));
  const stop = new AbortController();
  if (abortAfter !== undefined) {
    void clock.sleep(abortAfter).then(() => stop.abort());
  }
  const options = { clock, signal: stop.signal, deadline: start + 5 * MINUTE, onPoll: () => undefined };
  const waited = await clock.run(waitForWork(work, READER, options));
  return { waited, took: clock.monotonic() - start, polls };
}

test('notices a result soon, with growing pauses between polls', async () => {
  const { waited, took, polls } = await wait(1, (_id, elapsed) => ({ state: elapsed < MINUTE ? 'working' : 'done' }));
  expect([...waited.finished]).toEqual(['id0']);
  expect(waited.pending).toEqual([]);
  expect(took).toBeGreaterThanOrEqual(MINUTE);
  expect(took).toBeLessThanOrEqual(MINUTE + 5000);
  expect(polls).toBeLessThanOrEqual(18);
});

test('ends the wait exactly at the deadline, with a last poll', async () => {
  const { waited, took, polls } = await wait(2, (id, elapsed) => ({
    state: id === 'id1' && elapsed >= 5 * MINUTE ? 'done' : 'working',
  }));
  expect(took).toBe(5 * MINUTE);
  expect([...waited.finished]).toEqual(['id1']);
  expect(waited.pending).toEqual([{ address: 'translation/0', reason: 'the platform is still working on it' }]);
  expect(polls).toBeLessThan(140);
});

test('polls many resources less often, with at most four requests a second', async () => {
  const { polls } = await wait(200, () => ({ state: 'working' }));
  expect(polls).toBeLessThanOrEqual(200 * 14);
});

test('ends the wait at once when it is aborted', async () => {
  const { waited, took } = await wait(1, () => ({ state: 'working' }), 12_345);
  expect(took).toBe(12_345);
  expect(waited.pending).toHaveLength(1);
});

test('continues after a fault of the platform, and stops waiting for a resource that is refused', async () => {
  const { waited, took } = await wait(2, (id, elapsed) => {
    if (id === 'id0') {
      throw new RejectedError('getTranslation: not found', 404);
    }
    if (elapsed < 30_000) {
      throw new TransientError('connection lost', false);
    }
    return { state: 'done' };
  });
  expect([...waited.finished]).toEqual(['id1']);
  expect(waited.pending).toEqual([{ address: 'translation/0', reason: 'getTranslation: not found' }]);
  expect(took).toBeLessThan(40_000);
});
