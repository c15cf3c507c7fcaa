import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './pruned.ts';

const text = readFileSync(join(ROOT, '.ci/run'), 'utf8');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

describe('.ci/run', () => {
  test('is executable and valid bash', () => {
    expect(statSync(join(ROOT, '.ci/run')).mode & 0o111).not.toBe(0);
    expect(text).toMatch(/^#!\/usr\/bin\/env bash\n[\s\S]*^set -euo pipefail$/m);
    execFileSync('bash', ['-n', join(ROOT, '.ci/run')]);
  });

  test('runs the same checks as npm test', () => {
    expect(scripts.test).toBe('npm run check && npm run test:unit');
    expect(text).toMatch(/^npm run check .*\n[\s\S]*^CAMPAIGN=ci TEST_RESULTS=.* npm run test:unit /m);
  });

  test('runs only scripts that exist', () => {
    const named = [...text.matchAll(/^(?:[A-Z_]+=\S+ )*npm run ([a-z:]+)/gm)].map((match) => match[1] ?? '');
    expect(named).toEqual(['check', 'test:unit']);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});
