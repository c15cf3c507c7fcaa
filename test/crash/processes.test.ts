import { expect, test } from 'vitest';
import { pickCases } from '../support/campaign.ts';
import type { Death } from '../support/crashing-pass.ts';
import { OLDEST } from '../support/kind-samples.ts';
import type { Model } from '../support/model.ts';
import { ApplyVictim, DaemonVictim, machine, type Victim } from './process-matrix.ts';
import { scenarioOf } from './scenario.ts';

/*
 * Real processes, killed with SIGKILL. The campaign kills before and after every write; CI before and after
 * one write of each program, which changes with the commit: deaths within one process are in in-process.test.ts.
 */

const STRIDE = Number(process.env.CRASH_STRIDE ?? 1);
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

/** Deaths before and after every STRIDE-th write of a program; a sample has one of each. */
function deathsOf(writes: number): readonly Death[] {
  const all = Array.from({ length: writes }, (_, index) => index + 1).filter(
    (write) => write >= FROM && (write - FROM) % STRIDE === 0,
  );
  return (['before', 'after'] as const).flatMap((when) => pickCases(all, 1, 1).map((write) => ({ write, when })));
}

for (const [program, open] of pickCases(Object.entries(PROGRAMS), 1)) {
  for (const [way, models] of pickCases(Object.entries(WAYS), 1, 1)) {
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
