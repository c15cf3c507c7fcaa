/** Reporter that prints the seed of the campaigns and, at the end, the programs that are missing and the slowest files. */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { SEED, SIZE } from './campaign.ts';
import { missingPrograms } from './run-folder.ts';

const SHOWN = 15;

export class SlowestFiles implements Reporter {
  onInit(): void {
    process.stdout.write(`campaigns: ${SIZE}, seed ${SEED} (repeat with OCTAVO_SEED=${SEED})\n`);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const list = missingPrograms();
    const missing = existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : [];
    for (const program of [...new Set(missing)].sort()) {
      process.stdout.write(`SKIPPED: tests that need ${program}, which is not installed\n`);
    }
    const files = modules.map((module) => {
      const { duration, collectDuration } = module.diagnostic();
      return { seconds: (duration + collectDuration) / 1000, name: relative(process.cwd(), module.moduleId) };
    });
    if (files.length <= SHOWN) {
      return;
    }
    const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SHOWN);
    const lines = slowest.map(({ seconds, name }) => `${seconds.toFixed(1).padStart(7)}  ${name}\n`);
    process.stdout.write(`\nslowest test files (seconds)\n${lines.join('')}`);
  }
}
