import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SourceError } from '../../src/core/errors.ts';
import { appliedRef, fetchRef, headOf, resolveRef, updateRef } from '../../src/git/commit-info.ts';
import { makeFolder, makeRepository, runGit, type TestRepository } from './repository.ts';

let folder: string;
let repository: TestRepository;
beforeEach(() => {
  folder = makeFolder();
  repository = makeRepository(join(folder, 'repository'));
  repository.write('manifests/a.yaml', 'a');
});
afterEach(() => rmSync(folder, { recursive: true }));

const REF = appliedRef('org_1');

describe('headOf', () => {
  test('says the commit, the repository, and whether the folder is clean', async () => {
    const manifests = join(repository.directory, 'manifests');
    expect(await headOf(manifests)).toBeNull();
    const commit = repository.commit('First');
    expect(await headOf(manifests)).toEqual({ commit, dirty: false, root: repository.directory });
    repository.write('elsewhere.txt', 'x');
    expect(await headOf(manifests)).toMatchObject({ dirty: false });
    repository.write('manifests/new.yaml', 'x');
    expect(await headOf(manifests)).toMatchObject({ dirty: true });
  });

  test('knows a folder that is in no repository', async () => {
    expect(await headOf(folder)).toBeNull();
    expect(await headOf(join(folder, 'nowhere'))).toBeNull();
  });
});

describe('resolveRef', () => {
  test('takes names and expressions, and nothing that is an option', async () => {
    const first = repository.commit('First');
    const second = repository.commit('Second');
    expect(await resolveRef(repository.directory, 'main')).toBe(second);
    expect(await resolveRef(repository.directory, 'HEAD~1')).toBe(first);
    expect(await resolveRef(repository.directory, first.slice(0, 8))).toBe(first);
    expect(await resolveRef(repository.directory, 'nope')).toBeNull();
    expect(await resolveRef(repository.directory, '--all')).toBeNull();
  });
});

describe('updateRef and fetchRef', () => {
  test('record in the repository where there is no remote', async () => {
    const commit = repository.commit('First');
    expect(await fetchRef(repository.directory, REF)).toBeNull();
    expect(await updateRef(repository.directory, REF, commit, { push: true })).toEqual({ pushed: false });
    expect(await fetchRef(repository.directory, REF)).toBe(commit);
  });

  test('push to the remote, backwards too, and fetch from it elsewhere', async () => {
    const first = repository.commit('First');
    const second = repository.commit('Second');
    runGit(folder, ['clone', '--quiet', '--bare', repository.directory, 'origin.git']);
    runGit(folder, ['clone', '--quiet', 'origin.git', 'one']);
    runGit(folder, ['clone', '--quiet', 'origin.git', 'two']);
    expect(await fetchRef(join(folder, 'two'), REF)).toBeNull();
    expect(await updateRef(join(folder, 'one'), REF, second, { push: true })).toEqual({ pushed: true });
    expect(await fetchRef(join(folder, 'two'), REF)).toBe(second);
    await updateRef(join(folder, 'one'), REF, first, { push: true });
    expect(await fetchRef(join(folder, 'two'), REF)).toBe(first);
    await updateRef(join(folder, 'one'), REF, second, { push: false });
    expect(await fetchRef(join(folder, 'two'), REF)).toBe(first);
  });

  test('a push that fails moves nothing, and runs no hook', async () => {
    const commit = repository.commit('First');
    repository.git('remote', 'add', 'origin', join(folder, 'gone.git'));
    repository.write('.git/hooks/pre-push', `#!/bin/sh\ntouch ${join(folder, 'hook-ran')}\n`);
    chmodSync(join(repository.directory, '.git/hooks/pre-push'), 0o755);
    await expect(updateRef(repository.directory, REF, commit, { push: true })).rejects.toThrow(SourceError);
    await expect(fetchRef(repository.directory, REF)).rejects.toThrow(SourceError);
    expect(await resolveRef(repository.directory, REF)).toBeNull();
    expect(await headOf(join(folder, 'hook-ran'))).toBeNull();
  });

  test('refuse what is no ref', async () => {
    const commit = repository.commit('First');
    await expect(updateRef(repository.directory, 'main', commit, { push: false })).rejects.toThrow(SourceError);
    await expect(updateRef(repository.directory, REF, 'main', { push: false })).rejects.toThrow(SourceError);
    expect(() => appliedRef('../x y')).toThrow(SourceError);
  });
});
