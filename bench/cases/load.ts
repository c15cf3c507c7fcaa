/** Loading and validation of 10,000 manifests, compared with the YAML library alone. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ratios } from '../figures.ts';
import { writeFiles } from '../manifests.ts';
import { alternate, type Run, runOnce } from '../measure.ts';
import type { Case } from '../runner.ts';

const FILES = 10_000;

interface Times {
  readonly cold: number;
  readonly unchanged: number;
  readonly changed: number;
}

export const LOAD_CASE: Case = {
  name: 'load',
  title: `Load and validate ${FILES.toLocaleString('en-US')} files: cold, unchanged, and with ten changed`,
  async measure(context) {
    const folder = join(context.folder, 'files');
    const { octavo, program } = context.installed;
    const found = await alternate(context.runs, {
      yaml: () => {
        rmSync(folder, { recursive: true, force: true });
        return runOnce(context, [program('yaml-alone'), writeFiles(folder, FILES)]);
      },
      validate: () => runOnce(context, [octavo, 'validate', folder]),
      load: () => runOnce(context, [program('load'), folder]),
    });
    const secondsOf = (runs: readonly Run[], name: keyof Times) =>
      runs.map(({ output }) => (JSON.parse(output) as Times)[name] / 1000);
    const [cold, alone] = [secondsOf(found.load, 'cold'), secondsOf(found.yaml, 'cold')];
    const cpus = (runs: readonly Run[]) => runs.map(({ cpu }) => cpu);
    context.record('cold', 'seconds', cold);
    context.record('cold over yaml alone', 'time ratio', ratios(cold, alone), 1.1);
    context.record('validate: CPU over yaml alone', 'CPU ratio', ratios(cpus(found.validate), cpus(found.yaml)));
    context.record('unchanged', 'seconds', secondsOf(found.load, 'unchanged'), 0.1);
    context.record('ten changed', 'seconds', secondsOf(found.load, 'changed'), 0.15);
    const peaks = found.validate.map(({ peak }) => peak);
    context.record('validate: peak memory', 'memory', peaks);
    context.record('yaml alone: cold', 'seconds', alone);
  },
};
