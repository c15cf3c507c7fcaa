import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SourceError } from '../../src/core/errors.ts';
import type { FileTree } from '../../src/core/files/file-tree.ts';
import { readTreeAt } from '../../src/git/objects.ts';
import { openDiskTree } from '../../src/manifests/disk-tree.ts';
import { execFileSync } from '../support/programs.ts';
import { makeFolder, makeRepository, type TestRepository } from './repository.ts';

let folder: string;
let repository: TestRepository;
beforeEach(() => {
  folder = makeFolder();
  repository = makeRepository(join(folder, 'repository'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** Counts every git process from now on; returns a function with their number. */
function countedGit(): () => number {
  const counted = join(folder, 'counted');
  const bin = join(folder, 'bin');
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  mkdirSync(bin);
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho x >> '${counted}'\nexec '${real}' "$@"\n`, { mode: 0o755 });
  writeFileSync(counted, '');
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
  return () => readFileSync(counted, 'utf8').split('\n').length - 1;
}

const text = async (tree: FileTree, path: string) => Buffer.from(await tree.read(path)).toString();
const paths = async (tree: FileTree) => (await tree.list()).map((entry) => entry.path);

describe('the tree of a commit', () => {
  test('contains the files of the ref, regardless of the work tree', async () => {
    repository.write('manifests/a b/ü.yaml', 'old\n');
    repository.write('manifests/.hidden/x.yaml', 'x');
    repository.write('manifests/.octavoignore', 'x');
    repository.write('README.md', 'x');
    repository.commit('First');
    repository.commit('Second', { 'manifests/a b/ü.yaml': 'new\n', 'manifests/b.yaml': 'b' });
    const tree = await readTreeAt(repository.directory, 'HEAD~1', 'manifests');
    expect(await paths(tree)).toEqual(['.octavoignore', 'a b/ü.yaml']);
    expect(await text(tree, 'a b/ü.yaml')).toBe('old\n');
    expect(await tree.resolve('./a b/../a b/ü.yaml')).toBe('a b/ü.yaml');
    expect(await paths(await readTreeAt(repository.directory, 'main', './'))).toHaveLength(4);
  });

  test('is empty if the commit has no such folder', async () => {
    repository.commit('First', { 'README.md': 'x' });
    expect(await paths(await readTreeAt(repository.directory, 'main', 'manifests'))).toEqual([]);
  });

  test('returns bytes unchanged', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256);
    repository.commit('First', { 'x.bin': bytes, 'empty.yaml': '' });
    const tree = await readTreeAt(repository.directory, 'main', '.');
    expect(Buffer.compare(await tree.read('x.bin'), bytes)).toBe(0);
    expect(await tree.read('empty.yaml')).toHaveLength(0);
  });

  test.each(['nope', '--output=x', ''])('names a ref that does not exist: %j', async (ref) => {
    repository.commit('First');
    await expect(readTreeAt(repository.directory, ref, '.')).rejects.toThrow(SourceError);
  });

  test('reads many files with few processes, even one after the other', async () => {
    for (let index = 0; index < 600; index++) {
      repository.write(`d${index % 20}/${index}.yaml`, `n: ${index}\n`);
    }
    repository.commit('Many');
    const tree = await readTreeAt(repository.directory, 'main', '.');
    const calls = countedGit();
    for (const { path } of await tree.list()) {
      expect(await text(tree, path)).toBe(`n: ${/(\d+)\.yaml/.exec(path)?.[1]}\n`);
    }
    expect(calls()).toBeGreaterThan(0);
    expect(calls()).toBeLessThan(5);
  });
});

describe('links', () => {
  beforeEach(() => {
    repository.write('root/real.yaml', 'real');
    repository.write('root/certs/okta.pem', 'pem');
    repository.write('outside.yaml', 'outside');
    mkdirSync(join(repository.directory, 'root/sub'));
    symlinkSync('../real.yaml', join(repository.directory, 'root/sub/link.yaml'));
    symlinkSync('certs', join(repository.directory, 'root/folder'));
    symlinkSync('../outside.yaml', join(repository.directory, 'root/out.yaml'));
    symlinkSync('/etc/passwd', join(repository.directory, 'root/absolute.yaml'));
    symlinkSync('nowhere', join(repository.directory, 'root/broken.yaml'));
    symlinkSync('loop.yaml', join(repository.directory, 'root/loop.yaml'));
    repository.commit('Links');
  });

  describe.each([
    ['in a commit', () => readTreeAt(repository.directory, 'main', 'root')],
    ['on disk', async () => openDiskTree(join(repository.directory, 'root'))],
  ])('%s', (_name, open) => {
    test('are followed inside the tree', async () => {
      const tree = await open();
      expect(await text(tree, 'sub/link.yaml')).toBe('real');
      expect(await tree.resolve('sub/link.yaml')).toBe('real.yaml');
      expect(await text(tree, 'folder/okta.pem')).toBe('pem');
      expect(await tree.resolve('folder/okta.pem')).toBe('certs/okta.pem');
    });

    test('to a file are files with the version of their target', async () => {
      const entries = await (await open()).list();
      const of = (path: string) => entries.find((entry) => entry.path === path);
      expect(of('sub/link.yaml')?.version).toBe(of('real.yaml')?.version);
      expect(entries.map((entry) => entry.path)).toEqual(
        [
          'absolute.yaml',
          'broken.yaml',
          'certs/okta.pem',
          'loop.yaml',
          'out.yaml',
          'real.yaml',
          'sub/link.yaml',
        ].filter((path) => of(path) !== undefined),
      );
      expect(of('out.yaml')).toBeDefined();
      expect(of('broken.yaml')).toBeDefined();
    });

    test.each(['out.yaml', 'absolute.yaml', 'broken.yaml', 'loop.yaml', '../outside.yaml', '/etc/passwd', 'nope'])(
      'refuses %s',
      async (path) => {
        const tree = await open();
        await expect(tree.read(path)).rejects.toThrow(SourceError);
        await expect(tree.resolve(path)).rejects.toThrow(SourceError);
      },
    );
  });
});
