import { expect, test } from 'vitest';
import { countCases, pickCases } from '../support/campaign.ts';
import type { Death } from '../support/crashing-pass.ts';
import { OLDEST } from '../support/kind-samples.ts';
import type { Model } from '../support/model.ts';
import { ApplyVictim, DaemonVictim, machine, type Victim } from './process-matrix.ts';
import { scenarioOf } from './scenario.ts';

/*
 * Real processes, killed with SIGKILL. The campaign kills before and after every write; CI at every 48th, and `npm
 * test` one program once: deaths within one process are in in-process.test.ts.
 */

const STRIDE = Number(process.env.CRASH_STRIDE ?? countCases({ sample: 1, ci: 48, full: 1 }));
/** First write to test, to repeat a single death. */
const FROM = Number(process.env.CRASH_FROM ?? 1);
const WHOLE = 1_800_000;

const PROGRAMS = {
  apply: async () => new ApplyVictim(await machine()),
  daemon: async () => new DaemonVictim(await machine()),
} as const satisfies Record<string, () => Promise<Victim>>;

/** `octavo emulate` runs the oldest version. */
const { first, second } = scenarioOf(OLDEST);

const WAYS: Readonly<Record<string, readonly Model[]>> = {
  'from an empty organization': [first],
  'from one declaration to the next': [first, second],
};

/** Every STRIDE-th death of a program. */
function deathsOf(writes: number): readonly Death[] {
  const all: Death[] = [];
  for (let write = 1; write <= writes; write += 1) {
    all.push({ write, when: 'before' }, { write, when: 'after' });
  }
  // Deaths before and after a write are both tried, whatever the stride.
  const some = all.filter(
    (death, index) => death.write >= FROM && (index % STRIDE === 0 || index % (2 * STRIDE) === STRIDE + 1),
  );
  return pickCases(some, 1);
}

for (const [program, open] of pickCases(Object.entries(PROGRAMS), 1)) {
  for (const [way, models] of pickCases(Object.entries(WAYS), 1)) {
    test.concurrent(
      `${program}, ${way}`,
      async () => {
        await using victim = await open();
        await victim.prepare(models);
        const deaths = deathsOf(victim.writes);
        const wrong: string[] = [];
        for (const death of deaths) {
          await victim.dies(death).catch((error: Error & { actual?: unknown }) => {
            wrong.push(`${death.when} write ${death.write}: ${error.actual ?? ''} ${error.message}`);
          });
        }
        process.stderr.write(`${program}, ${way}: killed ${deaths.length} times at ${victim.writes} writes\n`);
        expect(wrong.join('\n\n')).toBe('');
      },
      WHOLE,
    );
  }
}
