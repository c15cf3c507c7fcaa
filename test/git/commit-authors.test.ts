import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_COMMITS, readCommitAuthors } from '../../src/git/commits.ts';
import { repositoryIn } from '../../src/git/repository.ts';
import { openGit } from '../../src/git/run.ts';
import { execFileSync } from '../support/programs.ts';
import { makeFolder, makeRepository, runGit, type TestRepository } from './repository.ts';

let folder: string;
let repository: TestRepository;
const commits = new Map<string, string>();

const read = (from: string | null, to: string, directory = repository.directory) =>
  readCommitAuthors(openGit({ repository: repositoryIn(directory), timeout: 10_000 }), { from, to });
const idOf = (name: string) => commits.get(name) ?? '';
const email = (person: string) => `${person}@acme.example`;

/** Commits as a person; the committer is another one if it is given. */
function commit(name: string, author: string, { committer = author, message = name } = {}): void {
  runGit(repository.directory, ['commit', '--quiet', '--allow-empty', '-m', message], {
    GIT_AUTHOR_EMAIL: email(author),
    GIT_COMMITTER_EMAIL: email(committer),
  });
  commits.set(name, repository.git('rev-parse', 'HEAD'));
}

beforeAll(() => {
  folder = makeFolder();
  repository = makeRepository(join(folder, 'repository'));
  commit('first', 'ana');
  commit('applied', 'bo');
  commit('one', 'cy', { committer: 'dan' });
  commit('two', 'EVE', { message: 'Two\n\nCo-authored-by: Fay <Fay@acme.example>\nco-authored-by: gus@acme.example' });
  // A branch from before the applied commit, merged.
  repository.git('switch', '--quiet', '-c', 'side', idOf('first'));
  commit('side', 'hal');
  repository.git('switch', '--quiet', 'main');
  runGit(repository.directory, ['merge', '--quiet', '--no-ff', '-m', 'Merge', 'side'], {
    GIT_AUTHOR_EMAIL: email('ida'),
    GIT_COMMITTER_EMAIL: email('ida'),
  });
  commits.set('merge', repository.git('rev-parse', 'HEAD'));
  // A force-push that removes everything after the first commit.
  repository.git('switch', '--quiet', '-c', 'forced', idOf('first'));
  commit('forced', 'jo');
  repository.git('switch', '--quiet', '--orphan', 'other');
  commit('unrelated', 'kim');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the authors of a range', () => {
  test.each([
    ['one commit', 'one', 'two', ['eve', 'fay', 'gus']],
    ['several commits, with committers and co-authors', 'applied', 'two', ['cy', 'dan', 'eve', 'fay', 'gus']],
    ['a merge, with the merged branch', 'two', 'merge', ['hal', 'ida']],
    ['the same commit', 'one', 'one', ['cy', 'dan']],
    ['a force-push, with the commits that it removed', 'one', 'forced', ['bo', 'cy', 'dan', 'jo']],
    ['a branch that was set back, with its new end', 'one', 'applied', ['bo', 'cy', 'dan']],
    ['an unrelated history', 'applied', 'unrelated', ['ana', 'bo', 'kim']],
    ['the whole history if nothing was applied', null, 'one', ['ana', 'bo', 'cy', 'dan']],
    ['the whole history if the applied commit is gone', 'gone', 'applied', ['ana', 'bo']],
  ])('of %s', async (_what, from, to, people) => {
    const start = from === 'gone' ? 'a'.repeat(40) : from === null ? null : idOf(from);
    const found = await read(start, idOf(to));
    expect([...(found?.emails ?? [])].sort()).toEqual(people.map(email));
    expect(found?.isComplete).toBe(true);
  });

  test('is not known for a shallow clone', async () => {
    const clone = join(folder, 'shallow');
    runGit(folder, ['clone', '--quiet', '--depth=1', `file://${repository.directory}`, clone, '--branch=main']);
    expect(await read(null, idOf('merge'), clone)).toBeNull();
  });

  test('is not known if the commit cannot be read', async () => {
    expect(await read(idOf('first'), 'a'.repeat(40))).toBeNull();
  });

  test('covers the newest commits of a long range', async () => {
    const long = makeRepository(join(folder, 'long'));
    const line = (index: number) =>
      [
        'commit refs/heads/main',
        `author A <a${index}@acme.example> ${1_700_000_000 + index} +0000`,
        `committer A <a${index}@acme.example> ${1_700_000_000 + index} +0000`,
        'data 0\n',
      ].join('\n');
    execFileSync('git', ['fast-import', '--quiet'], {
      cwd: long.directory,
      input: Array.from({ length: MAX_COMMITS + 2 }, (_, index) => line(index)).join('\n'),
    });
    const found = await read(null, long.git('rev-parse', 'main'), long.directory);
    expect(found?.isComplete).toBe(false);
    expect(found?.emails.size).toBe(MAX_COMMITS);
    expect(found?.emails.has('a2@acme.example')).toBe(true);
    expect(found?.emails.has('a1@acme.example')).toBe(false);
  });
});
