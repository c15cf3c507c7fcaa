/** Tests start programs with a time limit only. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

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
