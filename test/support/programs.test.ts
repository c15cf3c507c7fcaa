import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { execFileSync, findProgram, OPTIONAL_PROGRAMS, spawnSync } from './programs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Names that a file imports as values from `node:child_process`; `*` for any other way to get at it. */
function startersOf(path: string): readonly string[] {
  const source = readFileSync(join(ROOT, path), 'utf8');
  const imports = [...source.matchAll(/^import (type )?(?:\{([^}]*)\}|(.*)) from '(?:node:)?child_process';$/gm)];
  return imports.flatMap(([, type, names]) =>
    type !== undefined ? [] : (names ?? '*').split(',').flatMap((name) => (/^\s*type /.test(name) ? [] : name.trim())),
  );
}

test('tests start programs, and others block for them, only by the functions with a time limit', () => {
  const files = ['test', 'scripts', 'bench'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  const found = files
    .filter((path) => path.endsWith('.ts') && path !== 'test/support/programs.ts')
    .flatMap((path) => startersOf(path).map((name) => `${path}: ${name}`))
    .filter((line) => line.startsWith('test/') || /: (?:\*|.*Sync)$/.test(line));
  expect(found).toEqual([]);
});

test('a program that does not end is ended after its time limit', () => {
  expect(() => execFileSync('sleep', ['60'], { timeout: 50 })).toThrow('ETIMEDOUT');
  expect(spawnSync('sleep', ['60'], { timeout: 50 })).toMatchObject({ signal: 'SIGKILL', status: null });
});

test('a program is missing if it is in no folder of the PATH', () => {
  expect(OPTIONAL_PROGRAMS.filter((name) => findProgram(name) === '')).toEqual([]);
});

test('a run prints a line for each program that tests have not found', () => {
  const project = mkdtempSync(join(tmpdir(), 'octavo-missing-'));
  const file = `import { describe, test } from 'vitest';
import { findProgram } from '${join(ROOT, 'test/support/programs.ts')}';
describe.runIf(findProgram('zsh') !== null)('a whole file', () => test('is skipped', () => undefined));
`;
  try {
    mkdirSync(join(project, 'test'));
    symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'));
    for (const name of ['a', 'b']) {
      writeFileSync(join(project, `test/${name}.test.ts`), file);
    }
    const args = ['scripts/test.ts', '--root', project, '--config', join(ROOT, 'vitest.config.ts')];
    const env = { ...process.env, OCTAVO_HIDDEN_PROGRAM: 'zsh' };
    const { stdout, status } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' });
    expect(stdout.match(/^SKIPPED: .*$/gm)).toEqual(['SKIPPED: tests that need zsh, which is not installed']);
    expect(status).toBe(0);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
});
