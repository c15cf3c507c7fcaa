/** Growth of each command: CPU time for 2n resources over CPU time for n. Linear work doubles; quadratic work quadruples. */
import { join } from 'node:path';
import { median } from '../figures.ts';
import { writeConfig, writeSite, writeTeams } from '../manifests.ts';
import { alternate, runOnce } from '../measure.ts';
import { type Platform, startPlatform } from '../platform.ts';
import type { Case, CaseContext } from '../runner.ts';

const SIZE = 2500;
/** Above this, something grows faster than the number of resources. */
const GOAL = 2.5;

interface Growth {
  readonly command: string;
  readonly stages: string;
  readonly hasTeams?: boolean;
  /** One site with this many site spaces, and with twice as many, instead of teams. */
  readonly siteSpaces?: number;
  /** Changes the platform, so that each run needs a new one. */
  readonly writes?: boolean;
  readonly args: (folder: string, out: string) => readonly string[];
}

const COMMANDS: readonly Growth[] = [
  { command: 'validate', stages: 'parse and validate', args: (folder) => ['validate', folder] },
  { command: 'plan', stages: 'bind and diff', hasTeams: true, args: (folder) => ['plan', folder, '--format', 'json'] },
  {
    command: 'plan-creations',
    stages: 'diff, order and render',
    args: (folder) => ['plan', folder, '--format', 'markdown'],
  },
  { command: 'apply', stages: 'apply', writes: true, args: (folder) => ['apply', folder, '--yes'] },
  { command: 'import', stages: 'import', hasTeams: true, args: (_folder, out) => ['import', '--out', out] },
  {
    command: 'drift',
    stages: 'compare with the manifests',
    hasTeams: true,
    args: (folder) => ['import', '--drift', '--dry-run', '--out', folder],
  },
  {
    command: 'site-plan-creations',
    stages: 'validate, diff, order and render',
    siteSpaces: 10_000,
    args: (folder) => ['plan', folder, '--format', 'markdown'],
  },
];

export const GROWTH_CASES: readonly Case[] = COMMANDS.map((growth) => ({
  name: `growth-${growth.command}`,
  title: titleOf(growth),
  long: growth.siteSpaces !== undefined,
  async measure(context) {
    const size = growth.siteSpaces ?? SIZE;
    const one = await prepare(context, growth, 1);
    const small = await prepare(context, growth, size);
    const large = await prepare(context, growth, 2 * size);
    const found = await alternate(context.runs, { one, small, large });
    // The CPU time for one team is that of the start.
    const start = median(found.one);
    const growths = found.large.map((cpu, index) => (cpu - start) / ((found.small[index] ?? Number.NaN) - start));
    context.record(`CPU for ${size}`, 'seconds', found.small);
    context.record(`CPU for ${2 * size}`, 'seconds', found.large);
    context.record('growth', 'CPU ratio', growths, GOAL);
  },
}));

function titleOf({ siteSpaces, stages }: Growth): string {
  const size = siteSpaces ?? SIZE;
  const resources = siteSpaces === undefined ? 'teams' : 'site spaces of one site';
  return `CPU for ${(2 * size).toLocaleString('en-US')} ${resources} over ${size.toLocaleString('en-US')}: ${stages}`;
}

/** Returns a function that runs the command once and returns its CPU time. */
async function prepare(context: CaseContext, growth: Growth, count: number): Promise<() => Promise<number>> {
  const path = join(context.folder, `manifests-${count}`);
  const folder = growth.siteSpaces === undefined ? writeTeams(path, count, { single: true }) : writeSite(path, count);
  const start = () => startPlatform(context, growth.hasTeams === true ? count : 0);
  const shared = growth.writes === true ? null : await start();
  let runs = 0;
  return async () => {
    runs += 1;
    const platform: Platform = shared ?? (await start());
    const config = writeConfig(join(context.folder, `config-${count}.json`), platform, 50, folder);
    const out = join(context.folder, `imported-${count}-${runs}`);
    const args = [context.installed.octavo, ...growth.args(folder, out), '--config', config];
    const { cpu } = await runOnce(context, args);
    if (shared === null) {
      await platform.stop();
    }
    return cpu;
  };
}
