import { expect, test } from 'vitest';
import { isInGitFolder } from '../../src/core/files/file-tree.ts';

test.each([
  '.git',
  '.git/config',
  'a/.git/config',
  '.GIT/config',
  '.Git/config',
  'a\\.git\\config',
  'git~1/config',
  'GIT~2/config',
  '.git /config',
  '.git./config',
  '.git::$INDEX_ALLOCATION/config',
  '.git:x/config',
  '.g\u200cit/config',
  '\ufeff.git/config',
  '.gi\u202et/config',
  '.ｇｉｔ/config',
])('isInGitFolder returns true for %j', (path) => {
  expect(isInGitFolder(path)).toBe(true);
});

test.each(['git', 'a.git/config', '.github/x', '.gitignore', '.gitmodules', 'git~/x', '.git-blame', 'x/.gitx', ''])(
  'isInGitFolder returns false for %j',
  (path) => {
    expect(isInGitFolder(path)).toBe(false);
  },
);
