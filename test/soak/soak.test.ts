/** An organization under all faults at once: it converges to its manifests. */
import { beforeAll, expect, test } from 'vitest';
import type { EmulatorState } from '../../src/emulator/emulator.ts';
import { countCases, SEED } from '../support/campaign.ts';
import { addForeign } from '../support/foreign.ts';
import { openWorld } from '../support/world.ts';
import { soak } from './soak.ts';

/*
 * Seeded runs with all faults at once. The campaign has the seeds from 1 to 300, a sample some of them. SOAK_SEEDS=1
 * SOAK_FROM=n repeats the run with seed n.
 */

const ALL = 300;
const SEEDS = Number(process.env.SOAK_SEEDS ?? countCases({ sample: 2, ci: 10, full: ALL }));
const FROM = Number(process.env.SOAK_FROM ?? 1 + (SEED % (ALL - SEEDS + 1)));

let start: EmulatorState;
beforeAll(async () => {
  const world = await openWorld();
  await addForeign(world);
  start = world.emulator.state();
  await world.close();
});

test('converges to the manifests despite faults, kills and edits on the platform', async () => {
  const wrong: string[] = [];
  for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
    const found = await soak(seed, start).catch((error: Error) => String(error.stack));
    if (found !== '') {
      const text = `seed ${seed} (SOAK_FROM=${seed} SOAK_SEEDS=1):\n${found}`;
      // Printed at once, so that a long run can be examined before its end.
      process.stderr.write(`${text}\n`);
      wrong.push(text);
    }
  }
  expect(wrong.join('\n\n')).toBe('');
}, 3_600_000);
