import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { requireRepository } from '../../src/git/repository.ts';
import { readHeadCommit } from '../../src/git/work-tree.ts';
import { execFileSync } from '../support/programs.ts';
import { makeFolder, makeRepository, type TestRepository } from './repository.ts';

let folder: string;
let repository: TestRepository;
let commit: string;
beforeEach(() => {
  folder = makeFolder();
  repository = makeRepository(join(folder, 'repository'));
  repository.write('a.yaml', 'a');
  commit = repository.commit('First');
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (...args: string[]) => execFileSync('git', args, { cwd: repository.directory, stdio: 'pipe' });
const read = (directory = repository.directory) => readHeadCommit(requireRepository(directory));
const writeInGit = (path: string, text: string) => {
  const full = join(repository.directory, '.git', path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
};

test('the commit of a branch is read from its file, or from the packed refs', () => {
  expect(read()).toBe(commit);
  git('checkout', '--quiet', '-b', 'teams/docs');
  expect(read()).toBe(commit);
  git('pack-refs', '--all');
  expect(read()).toBe(commit);
  const second = repository.commit('Second');
  expect(read()).toBe(second);
});

test('a detached HEAD is the commit itself', () => {
  git('checkout', '--quiet', '--detach');
  expect(read()).toBe(commit);
});

test('a linked work tree has its own HEAD, and the branches of its repository', () => {
  const linked = join(folder, 'linked');
  git('worktree', 'add', '--quiet', '-b', 'other', linked);
  git('commit', '--quiet', '--allow-empty', '-m', 'Only here');
  expect(read(linked)).toBe(commit);
  git('pack-refs', '--all');
  expect(read(linked)).toBe(commit);
  expect(read()).not.toBe(commit);
});

test.each([
  ['a branch without a commit', 'ref: refs/heads/unborn\n'],
  ['another format of refs', 'ref: refs/heads/.invalid\n'],
  ['a ref that is not a branch', 'ref: refs/remotes/origin/main\n'],
  ['a path that leads out of the branches', 'ref: refs/heads/../outside\n'],
  ['a path with an empty part', 'ref: refs/heads//main\n'],
  ['an abbreviated commit', 'abcdef0\n'],
  ['nothing', ''],
])('HEAD with %s is left to git', (_what, text) => {
  writeInGit('refs/outside', `${commit}\n`);
  writeInGit('refs/remotes/origin/main', `${commit}\n`);
  writeInGit('HEAD', text);
  expect(read()).toBeNull();
});

test('a branch that refers to another ref is left to git, which follows it', () => {
  git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
  git('symbolic-ref', 'HEAD', 'refs/heads/alias');
  expect(read()).toBeNull();
});

test('a HEAD that is a symbolic link is read like git reads it', () => {
  rmSync(join(repository.directory, '.git/HEAD'));
  symlinkSync('refs/heads/main', join(repository.directory, '.git/HEAD'));
  expect(read()).toBe(commit);
});
