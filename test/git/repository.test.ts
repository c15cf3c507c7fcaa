/** Repositories, their folders and their commits, with real git. */
import { chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SourceError } from '../../src/core/errors.ts';
import { resolveRef } from '../../src/git/commits.ts';
import { checkOwner, findRepository, requireRepository, resolveManifestFolder } from '../../src/git/repository.ts';
import { listTrackedFiles, readHead, readHeadCommit } from '../../src/git/work-tree.ts';
import { makeFolder, makeRepository, runGit, type TestRepository } from './repository.ts';

let folder: string;
let repository: TestRepository;
beforeEach(() => {
  folder = makeFolder();
  repository = makeRepository(join(folder, 'repository'));
  repository.write('manifests/a.yaml', 'a');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('findRepository', () => {
  test('ignores embedded bare repositories', () => {
    runGit(repository.directory, ['init', '--quiet', '--bare', 'manifests/sub']);
    expect(findRepository(join(repository.directory, 'manifests/sub'))?.root).toBe(repository.directory);
    runGit(folder, ['init', '--quiet', '--bare', 'bare']);
    expect(findRepository(join(folder, 'bare'))).toBeNull();
  });

  test('accepts a file and a missing path', () => {
    expect(findRepository(join(repository.directory, 'manifests/a.yaml'))?.root).toBe(repository.directory);
    expect(findRepository(join(folder, 'nothing'))).toBeNull();
  });

  test('ignores a .git that is not a repository', () => {
    mkdirSync(join(repository.directory, 'manifests/.git'));
    expect(findRepository(join(repository.directory, 'manifests'))?.root).toBe(repository.directory);
  });

  test('follows a .git file that points outside its folder, as in linked work trees, but not one that points inside', async () => {
    const commit = repository.commit('First');
    repository.git('worktree', 'add', '--quiet', '--detach', join(folder, 'linked'));
    expect(findRepository(join(folder, 'linked/manifests'))?.root).toBe(join(folder, 'linked'));
    expect(await readHead(join(folder, 'linked/manifests'))).toMatchObject({ commit, dirty: false });
    const trap = join(folder, 'trap');
    runGit(folder, ['clone', '--quiet', repository.directory, 'trap']);
    renameSync(join(trap, '.git'), join(trap, 'hidden'));
    writeFileSync(join(trap, '.git'), 'gitdir: hidden\n');
    expect(findRepository(trap)).toBeNull();
  });

  test('refuses another user’s repository for remotes, unless safe.directory names it', async () => {
    const readsNothing = () => Promise.reject(new Error('git ran'));
    await expect(checkOwner({ root: folder, gitDir: folder }, readsNothing)).resolves.toBeUndefined();
    let root = '/proc/1';
    if (process.geteuid?.() === 0) {
      root = join(folder, 'foreign');
      mkdirSync(root);
      chownSync(root, 4242, 4242);
    }
    const check = (...safe: string[]) => checkOwner({ root, gitDir: root }, async () => safe);
    await expect(check()).rejects.toThrow(SourceError);
    await expect(check('*', '')).rejects.toThrow(SourceError);
    await expect(check('*')).resolves.toBeUndefined();
    await expect(check(root)).resolves.toBeUndefined();
    await expect(check(join(root, '../*'))).resolves.toBeUndefined();
  });
});

describe('resolveManifestFolder', () => {
  test('follows links inside the repository, and refuses links out of it or into its .git', () => {
    symlinkSync('manifests', join(repository.directory, 'inside'));
    symlinkSync('..', join(repository.directory, 'outside'));
    symlinkSync('.git', join(repository.directory, 'git'));
    symlinkSync('nowhere', join(repository.directory, 'broken'));
    expect(resolveManifestFolder(join(repository.directory, 'inside'))).toBe(join(repository.directory, 'manifests'));
    for (const name of ['outside', 'outside/repository', 'git', 'git/refs', 'broken']) {
      expect(() => resolveManifestFolder(join(repository.directory, name))).toThrow(/symbolic link/);
    }
  });

  test('follows links outside of repositories, such as those of git-sync', () => {
    symlinkSync('repository', join(folder, 'current'));
    expect(resolveManifestFolder(join(folder, 'current/manifests'))).toBe(join(repository.directory, 'manifests'));
  });
});

describe('a work tree is compared without filters', () => {
  test.each([
    ['an unchanged folder', () => {}, false],
    ['a change of the same size and time', () => repository.write('manifests/a.yaml', 'b'), true],
    ['a new file', () => repository.write('manifests/b.yaml', 'b'), true],
    ['an ignored file', () => repository.write('manifests/x.tmp', 'b'), false],
    ['a staged file', () => [repository.write('manifests/b.yaml', 'b'), repository.git('add', '--all')], true],
    ['a deleted file', () => rmSync(join(repository.directory, 'manifests/a.yaml')), true],
    ['a change outside the folder', () => repository.write('elsewhere', 'b'), false],
    ['Windows line endings', () => repository.write('manifests/lines', 'a\r\nb\r\n'), false],
    ['a folder name with pathspec magic', () => {}, false, ':(top)*'],
  ] as const)('and distinguishes %s', async (_name, change, dirty, inside: string = 'manifests') => {
    repository.write('.gitignore', '*.tmp\n');
    repository.write('manifests/lines', 'a\nb\n');
    repository.write(':(top)*/c.yaml', 'c');
    const commit = repository.commit('First');
    change();
    expect(await readHead(join(repository.directory, inside))).toEqual({ commit, dirty, root: repository.directory });
  });

  test('runs no command of its configuration and attributes', async () => {
    const ran = join(folder, 'ran');
    const commit = repository.commit('First', { '.gitattributes': '* filter=evil diff=evil merge=evil text\n' });
    for (const key of ['filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process', 'diff.evil.textconv']) {
      repository.git('config', key, `touch ${ran}`);
    }
    for (const key of ['core.fsmonitor', 'diff.external', 'core.pager', 'core.editor', 'core.sshCommand']) {
      repository.git('config', key, `touch ${ran}`);
    }
    repository.write('manifests/a.yaml', 'b');
    expect(await readHead(repository.directory)).toMatchObject({ commit, dirty: true });
    repository.git('tag', '--annotate', '--message', 'One', 'v1');
    for (const ref of ['HEAD', 'v1']) {
      expect(await resolveRef(repository.directory, ref)).toBe(commit);
    }
    expect(await listTrackedFiles(join(repository.directory, 'manifests'))).toEqual(new Set(['a.yaml']));
    expect(findRepository(ran)).toBeNull();
    expect(() => rmSync(ran)).toThrow('ENOENT');
  });
});

describe('readHead', () => {
  test('returns null outside of a repository, and before its first commit', async () => {
    expect(await readHead(repository.directory)).toBeNull();
    expect(await readHead(folder)).toBeNull();
    expect(await readHead(join(folder, 'nowhere'))).toBeNull();
  });
});

describe('the commit of HEAD without git', () => {
  let commit: string;
  beforeEach(() => {
    commit = repository.commit('First');
  });
  const read = (directory = repository.directory) => readHeadCommit(requireRepository(directory));
  const writeInGit = (path: string, text: string) => {
    const full = join(repository.directory, '.git', path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  };

  test('is read from the file of its branch, or from the packed refs', () => {
    expect(read()).toBe(commit);
    repository.git('checkout', '--quiet', '-b', 'teams/docs');
    expect(read()).toBe(commit);
    repository.git('pack-refs', '--all');
    expect(read()).toBe(commit);
    const second = repository.commit('Second');
    expect(read()).toBe(second);
  });

  test('is HEAD itself if that is detached', () => {
    repository.git('checkout', '--quiet', '--detach');
    expect(read()).toBe(commit);
  });

  test('is that of a linked work tree, with the branches of its repository', () => {
    const linked = join(folder, 'linked');
    repository.git('worktree', 'add', '--quiet', '-b', 'other', linked);
    repository.git('commit', '--quiet', '--allow-empty', '-m', 'Only here');
    expect(read(linked)).toBe(commit);
    repository.git('pack-refs', '--all');
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
  ])('is left to git if HEAD is %s', (_what, text) => {
    writeInGit('refs/outside', `${commit}\n`);
    writeInGit('refs/remotes/origin/main', `${commit}\n`);
    writeInGit('HEAD', text);
    expect(read()).toBeNull();
  });

  test('is left to git if the branch refers to another ref, which git follows', () => {
    repository.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
    repository.git('symbolic-ref', 'HEAD', 'refs/heads/alias');
    expect(read()).toBeNull();
  });

  test('is read through a HEAD that is a symbolic link, as by git', () => {
    rmSync(join(repository.directory, '.git/HEAD'));
    symlinkSync('refs/heads/main', join(repository.directory, '.git/HEAD'));
    expect(read()).toBe(commit);
  });
});
