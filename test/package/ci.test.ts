import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/octavo-process.ts';
import { execFileSync, spawn } from '../support/programs.ts';
import { ROOT } from './pruned.ts';

const text = readFileSync(join(ROOT, '.ci/run'), 'utf8');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

describe('.ci/run', () => {
  test('is executable and valid bash', () => {
    expect(statSync(join(ROOT, '.ci/run')).mode & 0o111).not.toBe(0);
    expect(text).toMatch(/^#!\/usr\/bin\/env bash\n[\s\S]*^set -euo pipefail$/m);
    execFileSync('bash', ['-n', join(ROOT, '.ci/run')]);
  });

  test('runs the same checks as npm test, by scripts that exist', () => {
    expect(scripts.test).toBe('exec node scripts/test.ts --check');
    expect(text).toMatch(/^npm run check .*\n[\s\S]*^CAMPAIGN=ci TEST_RESULTS=.* npm run test:unit /m);
    const named = [...text.matchAll(/^(?:[A-Z_]+=\S+ )*npm run ([a-z:]+)/gm)].map((match) => match[1] ?? '');
    expect(named).toEqual(['check', 'test:unit']);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });
});

describe.skipIf(process.platform !== 'linux')('.ci/run that does not come to its end', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'octavo-ci-'));
    mkdirSync(join(folder, '.ci'));
    cpSync(join(ROOT, '.ci/run'), join(folder, '.ci/run'));
    mkdirSync(join(folder, 'bin'));
    // An installation that hangs in a process of its own.
    writeFileSync(
      join(folder, 'bin/npm'),
      '#!/bin/sh\n[ "$1" = ci ] || exit 1\nsleep 3600 &\necho "HANGS $!"\nwait\n',
      { mode: 0o755 },
    );
    writeFileSync(join(folder, 'bin/apt-get'), '#!/bin/sh\n', { mode: 0o755 });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function end(limit: string, signal?: NodeJS.Signals) {
    const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, CI_LIMIT: limit };
    const child = spawn(join(folder, '.ci/run'), [], { env, stdio: ['ignore', 'pipe', 'ignore'], timeout: 60_000 });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const closed = once(child, 'close');
    const hanging = await eventually('npm ci', () => /HANGS (\d+)/.exec(output)?.[1] ?? null, 30);
    if (signal !== undefined) {
      child.kill(signal);
    }
    const [code] = await closed;
    return { code, last: output.trimEnd().split('\n').at(-1), isLeft: existsSync(`/proc/${hanging}`) };
  }

  test.concurrent.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('fails and leaves no process after %s', async (signal, code) => {
    expect(await end('600', signal)).toEqual({ code, last: '0 passed, 1 failed', isLeft: false });
  });

  test.concurrent('fails and leaves no process after its time limit', async () => {
    expect(await end('2')).toEqual({ code: 124, last: '0 passed, 1 failed', isLeft: false });
  });
});
