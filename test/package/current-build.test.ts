/** Checks that a checkout runs its build only if the build matches the source, and where compiled code is cached. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { execFileSync } from '../support/programs.ts';

const { sourceDigest } = (await import(new URL('../../bin/source.js', import.meta.url).href)) as {
  sourceDigest: (root: string) => string;
};
let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'octavo-checkout-'));
  cpSync(fileURLToPath(new URL('../../bin', import.meta.url)), join(root, 'bin'), { recursive: true });
  mkdirSync(join(root, 'src/part'), { recursive: true });
  mkdirSync(join(root, 'dist'));
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(root, 'src/cli.ts'), "export const main = () => console.log('source');\n");
  writeFileSync(join(root, 'src/part/one.ts'), 'export {};\n');
  writeFileSync(join(root, 'dist/cli.js'), "export const main = () => console.log('build');\n");
  writeFileSync(join(root, 'dist/source.sha256'), sourceDigest(root));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test.each<readonly [string, () => void, string]>([
  ['the source is unchanged', () => {}, 'build'],
  ['a file has other content', () => writeFileSync(join(root, 'src/part/one.ts'), 'export const a = 1;\n'), 'source'],
  ['a file has another time of change', () => utimesSync(join(root, 'src/part/one.ts'), 1, 1), 'source'],
  ['a file was added', () => writeFileSync(join(root, 'src/part/two.ts'), ''), 'source'],
  ['a file was removed', () => rmSync(join(root, 'src/part/one.ts')), 'source'],
  ['the dependencies changed', () => writeFileSync(join(root, 'package-lock.json'), '{}'), 'source'],
  ['there is no build', () => rmSync(join(root, 'dist'), { recursive: true }), 'source'],
  ['there is no source', () => rmSync(join(root, 'src'), { recursive: true }), 'build'],
])('runs the current code when %s', (_when, change, expected) => {
  change();
  expect(run()).toBe(`${expected}\n`);
});

test.each<readonly [string, () => void, string, string]>([
  ['its source', () => rmSync(join(root, 'dist'), { recursive: true }), '.octavo/cache', 'source'],
  ['its build', () => {}, '.octavo/cache', 'build-'],
])('a checkout caches the compiled code of %s in itself', (_what, change, caches, name) => {
  change();
  run();
  expect(readdirSync(join(root, caches))).toEqual([expect.stringMatching(name)]);
  expect(readdirSync(root)).not.toContain('own-cache');
});

test('an installed package caches compiled code for the user, and keeps that of the last four builds', () => {
  rmSync(join(root, 'src'), { recursive: true });
  const builds = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(64));
  for (const [index, build] of builds.entries()) {
    writeFileSync(join(root, 'dist/source.sha256'), build);
    run();
    utimesSync(join(root, `own-cache/octavo/build-${build.slice(0, 16)}`), index + 1, index + 1);
  }
  const kept = builds.slice(-4).map((build) => `build-${build.slice(0, 16)}`);
  expect(readdirSync(join(root, 'own-cache/octavo')).sort()).toEqual(kept);
  run();
  expect(readdirSync(join(root, 'own-cache/octavo')).sort()).toEqual(kept);
});

test('keeps the compiled code of plan and apply apart from that of other commands, which have other flags', () => {
  const folders = (...commands: readonly string[]) => {
    for (const command of commands) {
      run(command);
    }
    const caches = join(root, '.octavo/cache');
    return readdirSync(caches).flatMap((build) => readdirSync(join(caches, build))).length;
  };
  const hasMaglev = ['x64', 'arm64'].includes(process.arch);
  expect([folders('validate', 'import', 'constructor'), folders('plan', 'apply')]).toEqual([1, hasMaglev ? 2 : 1]);
});

function run(...args: readonly string[]): string {
  const env = { PATH: process.env.PATH, XDG_CACHE_HOME: join(root, 'own-cache') };
  return execFileSync(process.execPath, [join(root, 'bin/octavo.js'), ...args], { encoding: 'utf8', env });
}
