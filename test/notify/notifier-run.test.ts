/** When the notifier checks what is stored. */
import { expect, test } from 'vitest';
import { WakeUpSignal } from '../../src/core/clock.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';

/** Returns the number of checks in five minutes without a change of this replica. */
async function countChecks(isWoken: () => boolean): Promise<number> {
  const clock = createVirtualClock();
  let checks = 0;
  const notifier = new Notifier({
    notifications: openMemoryStore().notifications(),
    config: { for: {}, groupWait: 0, groupInterval: 0, quietHours: [], routes: [] },
    channels: [],
    ...{ clock, changed: new WakeUpSignal(), created: new WakeUpSignal(), newId: () => '' },
    isWoken,
    onFiring: () => {
      checks += 1;
    },
    onError: (error) => {
      throw error;
    },
  });
  const stopping = new AbortController();
  void notifier.run(stopping.signal);
  await clock.advance(5 * 60_000 - 1);
  stopping.abort();
  return checks;
}

test('once a minute, and every 5 seconds while changes of other replicas do not wake it', async () => {
  expect(await countChecks(() => true)).toBe(5);
  expect(await countChecks(() => false)).toBe(60);
});
