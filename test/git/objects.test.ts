/** Reading objects with real git. */
import { rmSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { findObjects, readObjects } from '../../src/git/objects.ts';
import { repositoryIn } from '../../src/git/repository.ts';
import { openGit } from '../../src/git/run.ts';
import { makeFolder, makeRepository } from './repository.ts';

const folder = makeFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const repository = makeRepository(folder);
const commit = repository.commit('One', { 'a.yaml': 'ä: 1\n\n', 'b/c d.yaml': '' });
const open = ({ input = '' }) => openGit({ repository: repositoryIn(folder), timeout: 10_000, input });

test('objects are found in the order of their names, and null for those that do not exist', async () => {
  expect(await findObjects(open, ['main^{commit}', 'missing', 'main:b', 'main:b/c d.yaml', commit])).toEqual([
    { id: commit, type: 'commit' },
    null,
    { id: repository.git('rev-parse', 'main:b'), type: 'tree' },
    { id: repository.git('rev-parse', 'main:b/c d.yaml'), type: 'blob' },
    { id: commit, type: 'commit' },
  ]);
});

test('a name with a line break finds nothing, and the names after it are found', async () => {
  expect(await findObjects(open, ['main:b\nmain', 'main^{commit}'])).toEqual([null, { id: commit, type: 'commit' }]);
});

test('reading an object that does not exist fails with its name', async () => {
  await expect(readObjects(open, ['main', 'nowhere'])).rejects.toThrow('the object nowhere does not exist');
});
