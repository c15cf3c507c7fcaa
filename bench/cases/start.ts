/** Commands that do little, so that most of their time is the start. */
import { ratios } from '../figures.ts';
import { alternate, runOnce } from '../measure.ts';
import type { Case } from '../runner.ts';

export const START_CASES: readonly Case[] = [
  start('version', 'octavo --version', () => ['--version'], 60),
  start('validate', 'octavo validate examples/acme', (example) => ['validate', example], 200),
];

/** Starts are short, so there are more of them than of other runs. */
const RUNS = 3;

function start(name: string, command: string, args: (example: string) => readonly string[], goal: number): Case {
  return {
    name: `start-${name}`,
    title: `${command}, installed and in a checkout with a current build`,
    async measure(context) {
      const { octavo, checkout, example } = context.installed;
      const command = args(example);
      const found = await alternate(RUNS * context.runs, {
        node: () => runOnce(context, ['-e', '0']),
        installed: () => runOnce(context, [octavo, ...command]),
        checkout: () => runOnce(context, [checkout, ...command]),
      });
      const milliseconds = (who: keyof typeof found) => found[who].map(({ wall }) => 1000 * wall);
      const cpus = (who: keyof typeof found) => found[who].map(({ cpu }) => cpu);
      for (const who of ['installed', 'checkout'] as const) {
        context.record(`${who}: wall`, 'milliseconds', milliseconds(who), goal);
        context.record(`${who}: CPU over node alone`, 'CPU ratio', ratios(cpus(who), cpus('node')));
      }
      const peaks = found.installed.map(({ peak }) => peak);
      context.record('installed: peak memory', 'memory', peaks);
      context.record('node alone: wall', 'milliseconds', milliseconds('node'));
      const counted = await runOnce(context, [octavo, ...command], { countModules: true });
      context.record('installed: modules', 'count', counted.modules);
    },
  };
}
