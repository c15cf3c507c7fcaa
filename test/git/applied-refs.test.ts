import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SourceError } from '../../src/core/errors.ts';
import { AppliedRefs, appliedRef, openRefHost } from '../../src/git/refs.ts';
import { makeFolder, makeRepository, runGit, type TestRepository } from './repository.ts';

let folder: string;
let repository: TestRepository;
beforeEach(() => {
  folder = makeFolder();
  repository = makeRepository(join(folder, 'repository'));
  repository.write('manifests/a.yaml', 'a');
});
afterEach(() => rmSync(folder, { recursive: true }));

async function refsIn(directory: string): Promise<AppliedRefs> {
  const refs = new AppliedRefs(openRefHost(directory), 'org_1');
  await refs.fetch();
  return refs;
}

/** A bare remote and two clones of it. */
function makeClones(): { readonly origin: string; readonly one: string; readonly two: string } {
  const [origin, one, two] = ['origin.git', 'one', 'two'].map((name) => join(folder, name)) as [string, string, string];
  runGit(folder, ['clone', '--quiet', '--bare', repository.directory, origin]);
  runGit(folder, ['clone', '--quiet', origin, one]);
  runGit(folder, ['clone', '--quiet', origin, two]);
  return { origin, one, two };
}

test('gives each scope a separate ref that no other scope can replace', async () => {
  const commit = repository.commit('First');
  const refs = await refsIn(repository.directory);
  const scopes = [
    '.',
    'applied',
    'a',
    'a/b',
    'a%2Fb',
    'a.lock',
    '..',
    '-x',
    'é',
    'x'.repeat(500),
    `${'x'.repeat(499)}y`,
  ];
  for (const scope of scopes) {
    await refs.move(scope, await refs.write(commit, scope, 'Record\n'));
  }
  const read = await refsIn(repository.directory);
  const records = await Promise.all(
    scopes.map(async (scope) => (await read.read(read.tipOf(scope) ?? '', scope)).record),
  );
  expect(records).toEqual(scopes);
  expect(read.others('a').size).toBe(scopes.length - 1);
});

test('lets only one of two concurrent runs move the ref, and reports it to the other', async () => {
  const commit = repository.commit('First');
  const { origin, one, two } = makeClones();
  const [first, second] = [await refsIn(one), await refsIn(two)];
  const tip = await first.write(commit, 'first', 'Record\n');
  expect(await first.move('docs', tip)).toEqual({ pushed: true });
  await expect(second.move('docs', await second.write(commit, 'second', 'Record\n'))).rejects.toThrow(
    `cannot move ${appliedRef('org_1', 'docs')}: another run has moved it to ${tip.slice(0, 7)}`,
  );
  for (const directory of [origin, one]) {
    expect(runGit(directory, ['rev-parse', appliedRef('org_1', 'docs')]).trim()).toBe(tip);
  }
  // After it has fetched the other's commit, it may continue from there.
  await second.fetch();
  await second.move('docs', await second.write(commit, 'second', 'Record\n'));
  await first.fetch();
  expect((await first.read(first.tipOf('docs') ?? '', 'docs')).record).toBe('second');
});

test('lets only one of two concurrent runs move the ref without a remote', async () => {
  const commit = repository.commit('First');
  const [first, second] = [await refsIn(repository.directory), await refsIn(repository.directory)];
  await first.move('.', await first.write(commit, 'first', 'Record\n'));
  await expect(second.move('.', await second.write(commit, 'second', 'Record\n'))).rejects.toThrow(
    'another run has moved it',
  );
});

test('a failed push moves nothing and runs no hook', async () => {
  const commit = repository.commit('First');
  const { origin, one } = makeClones();
  const hooks = join(one, '.git/hooks');
  mkdirSync(hooks, { recursive: true });
  writeFileSync(join(hooks, 'pre-push'), `#!/bin/sh\ntouch ${join(folder, 'hook-ran')}\n`);
  chmodSync(join(hooks, 'pre-push'), 0o755);
  const refs = await refsIn(one);
  const tip = await refs.write(commit, 'a', 'Record\n');
  rmSync(origin, { recursive: true });
  await expect(refs.move('.', tip)).rejects.toThrow(SourceError);
  await expect(refs.fetch()).rejects.toThrow(SourceError);
  expect(runGit(one, ['for-each-ref', 'refs/octavo'])).toBe('');
  expect(existsSync(join(folder, 'hook-ran'))).toBe(false);
});

test('ignores refs of other organizations', async () => {
  const commit = repository.commit('First');
  for (const name of ['org_1/other', 'org_2/applied', 'org_1/a/b/applied', 'org_1/docs/applied']) {
    repository.git('update-ref', `refs/octavo/${name}`, commit);
  }
  const refs = await refsIn(repository.directory);
  expect([...refs.others('.').keys()]).toEqual(['refs/octavo/org_1/docs/applied']);
  expect(() => appliedRef('../x y')).toThrow(SourceError);
});
