import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveRef } from '../../src/git/commits.ts';
import { readHead } from '../../src/git/work-tree.ts';
import { makeFolder, makeRepository, type TestRepository } from './repository.ts';

let folder: string;
let repository: TestRepository;
beforeEach(() => {
  folder = makeFolder();
  repository = makeRepository(join(folder, 'repository'));
  repository.write('manifests/a.yaml', 'a');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('readHead', () => {
  test('returns the commit, the repository, and whether the folder is clean', async () => {
    const manifests = join(repository.directory, 'manifests');
    expect(await readHead(manifests)).toBeNull();
    const commit = repository.commit('First');
    expect(await readHead(manifests)).toEqual({ commit, dirty: false, root: repository.directory });
    repository.write('elsewhere.txt', 'x');
    expect(await readHead(manifests)).toMatchObject({ dirty: false });
    repository.write('manifests/new.yaml', 'x');
    expect(await readHead(manifests)).toMatchObject({ dirty: true });
  });

  test('returns null outside of a repository', async () => {
    expect(await readHead(folder)).toBeNull();
    expect(await readHead(join(folder, 'nowhere'))).toBeNull();
  });
});

describe('resolveRef', () => {
  test('resolves names and expressions, but no options', async () => {
    const first = repository.commit('First');
    const second = repository.commit('Second');
    expect(await resolveRef(repository.directory, 'main')).toBe(second);
    expect(await resolveRef(repository.directory, 'HEAD~1')).toBe(first);
    expect(await resolveRef(repository.directory, first.slice(0, 8))).toBe(first);
    expect(await resolveRef(repository.directory, 'nope')).toBeNull();
    expect(await resolveRef(repository.directory, '--all')).toBeNull();
  });
});
