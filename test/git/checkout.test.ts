import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { SourceError } from '../../src/core/errors.ts';
import { Checkout, type CheckoutOptions } from '../../src/git/checkout.ts';
import { makeFolder, makeRepository, runGit, type TestRepository } from './repository.ts';

let folder: string;
let origin: TestRepository;
beforeEach(() => {
  folder = makeFolder();
  origin = makeRepository(join(folder, 'origin'));
  origin.write('manifests/teams.yaml', 'teams: {}\n');
  origin.write('README.md', 'hello\n');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const open = (over: Partial<CheckoutOptions> = {}): Checkout =>
  new Checkout({
    url: origin.directory,
    ref: 'main',
    directory: join(folder, 'checkout'),
    path: '.',
    timeout: 20_000,
    fetchLimit: { clock: systemClock },
    ...over,
  });
const author = 'ana@acme.example';
const read = (checkout: Checkout, path: string) => readFileSync(join(checkout.root, path), 'utf8');

describe('a checkout', () => {
  test('clones, then follows the branch, and reports changes', async () => {
    const first = origin.commit('First words\n\nand more');
    const checkout = open({ path: 'manifests' });
    expect(await checkout.sync()).toEqual({
      commit: first,
      subject: 'First words',
      author,
      changed: true,
      forced: false,
    });
    expect(read(checkout, 'teams.yaml')).toBe('teams: {}\n');
    expect(await checkout.sync()).toMatchObject({ commit: first, changed: false });
    origin.write('manifests/teams.yaml', 'teams: { a: {} }\n');
    const second = origin.commit('Second');
    expect(await checkout.sync()).toEqual({ commit: second, subject: 'Second', author, changed: true, forced: false });
    expect(read(checkout, 'teams.yaml')).toBe('teams: { a: {} }\n');
    expect(await open({ path: 'manifests' }).sync()).toMatchObject({ commit: second, changed: false });
  });

  test('notices a force-push', async () => {
    origin.commit('First');
    const second = origin.commit('Second');
    const checkout = open();
    await checkout.sync();
    origin.git('reset', '--quiet', '--hard', 'HEAD~1');
    const other = origin.commit('Another second');
    expect(await checkout.sync()).toMatchObject({ commit: other, changed: true, forced: true });
    origin.git('reset', '--quiet', '--hard', second);
    expect(await open().sync()).toMatchObject({ commit: second, changed: true, forced: true });
    origin.git('reset', '--quiet', '--hard', 'HEAD~1');
    expect(await checkout.sync()).toMatchObject({ changed: true, forced: true });
  });

  test.each(['v1', 'refs/tags/v1', 'refs/heads/main', 'HEAD'])('checks out %s', async (ref) => {
    const commit = origin.commit('First');
    origin.git('tag', '-a', 'v1', '-m', 'a tag with words');
    expect((await open({ ref }).sync()).commit).toBe(commit);
  });

  test('checks out a full commit id, and then needs no network', async () => {
    const first = origin.commit('First');
    origin.commit('Second');
    const checkout = open({ ref: first });
    expect(await checkout.sync()).toMatchObject({ commit: first, changed: true });
    rmSync(origin.directory, { recursive: true });
    expect(await checkout.sync()).toMatchObject({ commit: first, changed: false });
  });

  test('starts git once while the branch does not move', async () => {
    const first = origin.commit('First');
    const checkout = open();
    const result = await checkout.sync();
    const log = join(folder, 'log');
    const program = `#!/bin/sh\necho run >> ${log}\nPATH=${process.env.PATH} exec git "$@"\n`;
    writeFileSync(join(folder, 'git'), program, { mode: 0o755 });
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
    expect(await checkout.sync()).toEqual({ ...result, commit: first, changed: false });
    expect(readFileSync(log, 'utf8')).toBe('run\n');
  });

  test('reverts another commit that was checked out in its directory', async () => {
    const first = origin.commit('First');
    origin.write('manifests/teams.yaml', 'teams: { a: {} }\n');
    const second = origin.commit('Second');
    const checkout = open();
    await checkout.sync();
    runGit(checkout.repository, ['checkout', '--quiet', '--detach', first]);
    expect(await checkout.sync()).toMatchObject({ commit: second, subject: 'Second' });
    expect(read(checkout, 'manifests/teams.yaml')).toBe('teams: { a: {} }\n');
  });

  test.each([
    ['incomplete', (tree: string) => rmSync(join(tree, '.git', 'HEAD'))],
    ['without objects', (tree: string) => rmSync(join(tree, '.git', 'objects'), { recursive: true })],
    ['locked by a killed git', (tree: string) => writeFileSync(join(tree, '.git', 'index.lock'), '')],
    ['with a broken index', (tree: string) => writeFileSync(join(tree, '.git', 'index'), 'nonsense')],
    ['changed', (tree: string) => writeFileSync(join(tree, 'manifests/teams.yaml'), 'tampered')],
    ['with another file', (tree: string) => writeFileSync(join(tree, 'manifests/extra.yaml'), 'tampered')],
  ])('restores its copy if it is %s', async (_name, damage) => {
    const commit = origin.commit('First');
    const before = open();
    await before.sync();
    damage(before.repository);
    const checkout = open();
    expect((await checkout.sync()).commit).toBe(commit);
    expect(read(checkout, 'manifests/teams.yaml')).toBe('teams: {}\n');
    expect(runGit(checkout.repository, ['status', '--porcelain'])).toBe('');
  });

  test('never deletes files that it did not create', async () => {
    origin.commit('First');
    mkdirSync(join(folder, 'checkout'));
    writeFileSync(join(folder, 'checkout', 'thesis.txt'), 'years of work');
    await expect(open().sync()).rejects.toThrow(/contains other files; use an empty directory/);
    expect(existsSync(join(folder, 'checkout', 'thesis.txt'))).toBe(true);
  });
});

describe('a checkout runs no code from the repository', () => {
  const HOOKS = ['post-checkout', 'post-merge', 'reference-transaction', 'pre-commit', 'post-index-change'];
  const plant = (hooks: string, proof: string) => {
    mkdirSync(hooks, { recursive: true });
    for (const hook of HOOKS) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 });
    }
  };

  test('such as a hook of its template or its .git', async () => {
    origin.commit('First');
    const proof = join(folder, 'hook-ran');
    plant(join(folder, 'template', 'hooks'), proof);
    writeFileSync(join(folder, 'gitconfig'), `[init]\n\ttemplateDir = ${join(folder, 'template')}\n`);
    vi.stubEnv('GIT_CONFIG_GLOBAL', join(folder, 'gitconfig'));
    const checkout = open();
    await checkout.sync();
    plant(join(checkout.repository, '.git', 'hooks'), proof);
    origin.commit('Second');
    await checkout.sync();
    expect(existsSync(proof)).toBe(false);
    // The hooks would run: git without Octavo's settings runs them.
    runGit(checkout.repository, ['checkout', '--quiet', '--detach', 'HEAD~0']);
    expect(existsSync(proof)).toBe(true);
  });

  test('such as a submodule', async () => {
    const other = makeRepository(join(folder, 'other'));
    other.write('secret.yaml', 'x: 1');
    other.commit('Other');
    origin.git('submodule', '--quiet', 'add', other.directory, 'sub');
    origin.commit('With a submodule');
    const checkout = open();
    await checkout.sync();
    expect(readdirSync(join(checkout.root, 'sub'))).toEqual([]);
  });

  test('such as a filter or a conversion of line endings', async () => {
    const proof = join(folder, 'filter-ran');
    writeFileSync(
      join(folder, 'gitconfig'),
      `[filter "lfs"]\n\tsmudge = "touch ${proof}; cat"\n\trequired = true\n[core]\n\tautocrlf = true\n`,
    );
    origin.write('.gitattributes', '*.yaml filter=lfs\n*.md text eol=crlf\n');
    origin.commit('With attributes');
    vi.stubEnv('GIT_CONFIG_GLOBAL', join(folder, 'gitconfig'));
    const checkout = open();
    await checkout.sync();
    expect(existsSync(proof)).toBe(false);
    expect(read(checkout, 'README.md')).toBe('hello\n');
  });
});

describe('a ref that is a branch and a tag', () => {
  test('is refused, whichever came first, and the files of the tag stay', async () => {
    const first = origin.commit('First');
    origin.git('tag', '--annotate', '--message', 'One', 'v1');
    const checkout = open({ ref: 'v1' });
    expect(await checkout.sync()).toMatchObject({ commit: first });
    origin.write('README.md', 'other\n');
    origin.commit('Second');
    origin.git('branch', 'v1');
    await expect(checkout.sync()).rejects.toThrow(
      '"v1" is ambiguous: it has refs/heads/v1 and refs/tags/v1; set ref to the one that is meant',
    );
    expect(read(checkout, 'README.md')).toBe('hello\n');
  });

  test.each(['refs/tags/v1', 'tags/v1'])('is found by its longer name %s', async (ref) => {
    const first = origin.commit('First');
    origin.git('tag', 'v1');
    origin.write('README.md', 'other\n');
    origin.commit('Second');
    origin.git('branch', 'v1');
    expect(await open({ ref }).sync()).toMatchObject({ commit: first });
  });
});

describe('a checkout that fails', () => {
  test.each([
    ['a missing ref', { ref: 'mian' }, /cannot fetch .*origin: it has no branch or tag "mian"/],
    ['a missing folder', { path: 'docs' }, /commit [0-9a-f]{7} has no directory "docs"/],
    ['a missing repository', { url: '/nowhere/at/all' }, /cannot reach \/nowhere\/at\/all: .*not appear to be a git/],
  ])('names %s', async (_name, over, message) => {
    origin.commit('First');
    const error = await open(over)
      .sync()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SourceError);
    expect((error as Error).message).toMatch(message);
  });

  test.each([
    [{ url: '--upload-pack=touch x' }],
    [{ url: 'ext::sh -c touch% x' }],
    [{ url: 'fd::17' }],
    [{ url: 'ssh://-oProxyCommand=x/y' }],
    [{ url: '-oProxyCommand=x:y' }],
    [{ url: 'javascript://x' }],
    [{ url: 'https://a.example/\nx' }],
    [{ url: '' }],
    [{ ref: '--upload-pack=x' }],
    [{ ref: 'main:refs/heads/x' }],
    [{ ref: 'a..b' }],
    [{ ref: 'main^' }],
    [{ ref: '' }],
  ])('refuses %j', (over) => {
    expect(() => open(over)).toThrow(SourceError);
  });

  test('keeps the last good files while the repository is unreachable, and recovers', async () => {
    const commit = origin.commit('First');
    const checkout = open();
    await checkout.sync();
    runGit(folder, ['clone', '--quiet', '--bare', origin.directory, 'backup']);
    rmSync(origin.directory, { recursive: true });
    await expect(checkout.sync()).rejects.toThrow(SourceError);
    expect(read(checkout, 'README.md')).toBe('hello\n');
    runGit(folder, ['clone', '--quiet', 'backup', 'origin']);
    expect(await checkout.sync()).toMatchObject({ commit, changed: false });
  });

  test('refuses a symbolic link as its folder, and keeps the last good files', async () => {
    const first = origin.commit('First');
    const checkout = open({ path: 'manifests' });
    await checkout.sync();
    rmSync(join(origin.directory, 'manifests'), { recursive: true });
    symlinkSync('/etc', join(origin.directory, 'manifests'));
    origin.commit('A trap');
    await expect(checkout.sync()).rejects.toThrow(/has no directory "manifests"/);
    expect(read(checkout, 'teams.yaml')).toBe('teams: {}\n');
    origin.git('reset', '--quiet', '--hard', first);
    expect(await checkout.sync()).toMatchObject({ commit: first, changed: false });
  });

  test('times out on a server that never responds', async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    await expect(open({ url: `http://127.0.0.1:${port}/docs.git`, timeout: 300 }).sync()).rejects.toThrow(SourceError);
    server.closeAllConnections();
    server.close();
  });

  test('reports that git is not installed', async () => {
    origin.commit('First');
    vi.stubEnv('PATH', '/nowhere');
    await expect(open().sync()).rejects.toThrow('git is not installed; install it');
  });

  test('sends credentials to the server without showing them anywhere', async () => {
    const authorizations: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      authorizations.push(request.headers.authorization);
      response.writeHead(request.headers.authorization === undefined ? 401 : 403, {
        'www-authenticate': 'Basic realm="git"',
      });
      response.end('no');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const checkout = open({ url: `http://bot:pa%40ss-word@127.0.0.1:${port}/docs.git` });
    const error = await checkout.sync().catch((reason: unknown) => reason);
    server.close();
    expect(authorizations).toContain(`Basic ${Buffer.from('bot:pa@ss-word').toString('base64')}`);
    expect(error).toBeInstanceOf(SourceError);
    const shown = `${(error as Error).stack} ${JSON.stringify(error)} ${String((error as Error).cause)}`;
    expect(shown).toContain('/docs.git');
    expect(shown).not.toMatch(/pa(@|%40)ss-word/);
    expect(readdirSync(join(folder, 'checkout'), { recursive: true }).join()).not.toContain('config');
  });
});
