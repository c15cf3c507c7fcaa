/** Passes that the history does not take at once. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import { EventBus } from '../../../src/core/event-bus.ts';
import type { OrganizationEvents } from '../../../src/daemon/organization/feature.ts';
import { PassRecorder } from '../../../src/daemon/organization/reconciliation.ts';
import type { PassEnd } from '../../../src/reconcile/pass.ts';
import type { History } from '../../../src/store/history.ts';
import { openMemoryStore } from '../../../src/store/memory.ts';
import { createVirtualClock, type VirtualClock } from '../../queue/virtual-clock.ts';

const FAILURE = new StoreError('the state cannot be used; wait');

let clock: VirtualClock;
let history: History;
let recorder: PassRecorder;
let stopping: AbortController;
/** Outcomes of the next calls; afterwards the store works. */
let fates: ('refused' | 'lost')[];
let numbers: number[];
let onPassEnd: (end: PassEnd) => void;
let lines: string[];

beforeEach(() => {
  clock = createVirtualClock();
  history = openMemoryStore().history('org_1');
  stopping = new AbortController();
  fates = [];
  numbers = [];
  lines = [];
  const write = (_fields: object, message: string) => void lines.push(message);
  const addPass: History['addPass'] = async (...call) => {
    const fate = fates.shift();
    if (fate === 'refused') {
      throw FAILURE;
    }
    const number = await history.addPass(...call);
    if (fate === 'lost') {
      throw FAILURE;
    }
    return number;
  };
  const events = new EventBus<OrganizationEvents>();
  events.subscribe({ onRecorded: (number) => void numbers.push(number) });
  recorder = new PassRecorder({
    ...{ organization: { id: 'org_1' }, clock, stopping: stopping.signal, events },
    ...{ log: { debug: write, warn: write }, store: { history: () => ({ addPass }) } },
    connection: { queue: { snapshot: () => ({ outcomes: { refused: 0 } }) } },
  } as never);
  onPassEnd = recorder.events().onPassEnd as typeof onPassEnd;
});
afterEach(() => stopping.abort());

/** Reports the end of a pass, and lets time pass. */
async function endPass(trigger: PassEnd['trigger']): Promise<void> {
  await clock.advance(10);
  onPassEnd({
    ...{ trigger, outcome: 'done', plan: null, results: [], requests: { reads: 1, writes: 1 }, error: null },
    ...{ milliseconds: 1.5, endedAt: clock.now(), retryIn: null },
  });
}

const recorded = async () => (await history.passes({ limit: 100 })).map(({ trigger, times }) => `${trigger} ${times}`);

describe('a pass that the store does not take', () => {
  test.each([
    ['stored without an answer', ['lost']],
    ['refused, and then stored without an answer', ['refused', 'lost', 'refused']],
  ] as const)('is recorded once, in its order, and reported once: %s', async (_what, given) => {
    await endPass('start');
    fates = [...given];
    await endPass('commit');
    await endPass('manual');
    await clock.advance(60_000);
    expect(await recorded()).toEqual(['manual 1', 'commit 1', 'start 1']);
    expect(numbers).toEqual([1, 2, 3]);
    expect(lines).toEqual(['cannot record the pass in the history; retrying']);
  });

  test('delays neither a single round nor, after one more attempt, the end', async () => {
    fates = Array.from({ length: 100 }, () => 'refused');
    await endPass('start');
    await recorder.idle();
    await clock.advance(60_000);
    expect(fates.length).toBeGreaterThan(80);
    fates = ['refused'];
    stopping.abort();
    await clock.run(recorder.close());
    expect(await recorded()).toEqual([]);
    expect(lines.at(-1)).toBe('cannot record the pass in the history');
  });

  test('is not kept in memory without limit, unless it has applied something', async () => {
    fates = Array.from({ length: 100 }, () => 'refused');
    for (let count = 0; count < 100; count += 1) {
      await endPass('retry');
    }
    fates = [];
    await clock.advance(60_000);
    expect(numbers).toHaveLength(20);
  });
});
