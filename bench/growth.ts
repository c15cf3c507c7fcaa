/** Growth of each command: CPU time for 2n resources over CPU time for n. Linear work doubles; quadratic work quadruples. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './cases.ts';
import { Figures } from './figures.ts';
import { writeConfig, writeTeams } from './manifests.ts';
import { median, runOnce } from './measure.ts';
import { startPlatform } from './platform.ts';
import type { Stage } from './stage.ts';

const SIZE = 2500;
/** Above this, something does not grow in proportion. */
const GOAL = 2.5;

/** Commands, each with the stages that it goes through, over a platform that has all teams or none. */
const COMMANDS: readonly {
  readonly stages: string;
  readonly hasTeams: boolean;
  readonly args: (folder: string, out: string) => readonly string[];
}[] = [
  { stages: 'parse, validate', hasTeams: false, args: (folder) => ['validate', folder] },
  { stages: 'bind, diff', hasTeams: true, args: (folder) => ['plan', folder, '--format', 'json'] },
  { stages: 'diff, order, render', hasTeams: false, args: (folder) => ['plan', folder, '--format', 'markdown'] },
  { stages: 'apply', hasTeams: false, args: (folder) => ['apply', folder, '--yes'] },
  { stages: 'import', hasTeams: true, args: (_folder, out) => ['import', '--out', out] },
  { stages: 'drift', hasTeams: true, args: (folder) => ['import', '--drift', '--dry-run', '--out', folder] },
];

export const GROWTH_CASES: readonly Case[] = COMMANDS.map(({ stages, hasTeams, args }) => {
  const name = `growth, ${stages}`;
  return {
    name,
    async measure(stage, runs) {
      const cpuOf = async (count: number) => {
        const folder = writeTeams(join(stage.folder, `teams-${count}-one`), count, { single: true });
        const times: number[] = [];
        for (let run = 0; run < runs; run += 1) {
          times.push(await cpuOnce(stage, folder, hasTeams ? count : 0, args));
        }
        return median(times);
      };
      // What a command takes for one team is what it takes to start.
      const start = await cpuOf(1);
      const [small, large] = [(await cpuOf(SIZE)) - start, (await cpuOf(2 * SIZE)) - start];
      const figures = new Figures(name);
      figures.add(`CPU for ${SIZE}`, small, 's');
      figures.add(`CPU for ${2 * SIZE}`, large, 's');
      figures.add('growth', large / small, 'x', GOAL);
      return figures.list;
    },
  };
});

async function cpuOnce(
  stage: Stage,
  folder: string,
  teams: number,
  args: (folder: string, out: string) => readonly string[],
): Promise<number> {
  const platform = await startPlatform(stage, teams);
  const out = join(stage.folder, 'imported');
  try {
    const config = writeConfig(join(stage.folder, 'config.yaml'), platform, 50, folder);
    const { cpu } = await runOnce(stage, [stage.octavo, ...args(folder, out), '--config', config]);
    return cpu;
  } finally {
    await platform.stop();
    rmSync(out, { recursive: true, force: true });
  }
}
