import { globSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeDirectory } from '../../src/core/files/disk.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'octavo-directory-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test('creates what is missing with the mode, and accepts what exists', () => {
  const root = folder();
  makeDirectory(join(root, 'a', 'b', '..', 'c'), 0o700);
  makeDirectory(join(root, 'a', 'c'));
  expect(statSync(join(root, 'a', 'c')).mode & 0o777).toBe(0o700);
});

test('fails where nothing can be created', () => {
  const root = folder();
  writeFileSync(join(root, 'file'), '');
  symlinkSync('nowhere/at/all', join(root, 'link'));
  symlinkSync('loop', join(root, 'loop'));
  const path = (name: string) => () => makeDirectory(join(root, name));
  expect(path('file')).toThrow('EEXIST');
  expect(path('file/a/b')).toThrow(/EEXIST|ENOTDIR/);
  expect(path('link/a')).toThrow('EEXIST');
  expect(path('loop/a')).toThrow('ELOOP');
});

test.runIf(process.platform === 'linux')('fails in /proc, where the mkdir of Node never ends', () => {
  expect(() => makeDirectory('/proc/nope/x')).toThrow("ENOENT: no such file or directory, mkdir '/proc/nope'");
});

test('nothing else creates parents', () => {
  const sources = globSync('src/**/*.ts').filter((file) =>
    /mkdir(?:Sync)?\([^)]*recursive: true/.test(readFileSync(file, 'utf8')),
  );
  expect(sources).toEqual([]);
});
