import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** An installed build of Octavo with the measuring programs, in a temporary directory. */
export interface Stage {
  readonly folder: string;
  /** The command's entry. */
  readonly octavo: string;
  /** A measuring program of `process/`. */
  program(name: keyof typeof PROGRAMS): string;
}

/** Named one by one, so that it shows that they are used. */
const PROGRAMS = {
  account: new URL('./process/account.ts', import.meta.url),
  floor: new URL('./process/floor.ts', import.meta.url),
  load: new URL('./process/load.ts', import.meta.url),
  outbox: new URL('./process/outbox.ts', import.meta.url),
  'yaml-alone': new URL('./process/yaml-alone.ts', import.meta.url),
};

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '..');

export function buildStage(): Stage {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-bench-'));
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  execFileSync(compiler, ['-p', join(HERE, 'tsconfig.json'), '--outDir', folder], { stdio: 'inherit' });
  cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true });
  copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, [join(ROOT, 'scripts/build.ts'), join(folder, 'dist')], { stdio: 'inherit' });
  return {
    folder,
    octavo: join(folder, 'bin/octavo.js'),
    program: (name) => join(folder, relative(ROOT, fileURLToPath(PROGRAMS[name])).replace(/ts$/, 'js')),
  };
}
