import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { describeFileError } from '../../src/core/errors.ts';
import { octavoInside } from '../support/octavo-inside.ts';

const cwd = mkdtempSync(join(tmpdir(), 'octavo-file-errors-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
writeFileSync(join(cwd, 'file'), '');
writeFileSync(join(cwd, 'empty.yaml'), '');
symlinkSync('loop', join(cwd, 'loop'));
mkdirSync(join(cwd, 'taken'));
writeFileSync(join(cwd, 'taken', '.octavo'), '');

const PATHS = ['/proc/nope', 'file/below', 'file', 'loop', 'loop/below', 'x'.repeat(300), 'taken', '/dev/full'];
const COMMANDS = [['init', '--forge', 'none'], ['validate'], ['run', '--once', '--config']];

describe.each(COMMANDS.map((command) => [command.join(' '), command] as const))('octavo %s', (_, command) => {
  test.each(PATHS)('explains the path %s', async (path) => {
    const { stdout, stderr, code } = await octavoInside([...command, path], { cwd });
    expect(stderr).not.toContain('This is a bug');
    expect(stderr).not.toContain('unexpected error');
    expect([0, 1, 3]).toContain(code);
    expect(stdout + stderr).toMatch(/\S/);
  });
});

test('octavo init says that a file is in place of a folder', async () => {
  const { stderr, code } = await octavoInside(['init', '--forge', 'none', 'taken'], { cwd });
  expect({ stderr, code }).toEqual({
    code: 3,
    stderr: expect.stringMatching(/cannot create the folder \S*\.octavo: .*move it away/),
  });
});

test.each(
  [
    'EACCES EPERM EROFS ENOSPC EDQUOT ENOTDIR EISDIR ENOENT ELOOP ENAMETOOLONG EMFILE ENFILE EEXIST EBUSY EXDEV ENOTEMPTY EIO',
  ].flatMap((codes) => codes.split(' ')),
)('%s says what, where and what to do', (code) => {
  const error = Object.assign(new Error(`${code}: words`), { code, syscall: 'open', path: '/a/b' });
  expect(describeFileError(error)).toMatch(new RegExp(`^cannot open /a/b: [^;]+ \\(${code}\\); .+`));
  expect(describeFileError(Object.assign(new Error('write'), { code, syscall: 'write' }))).toContain(
    'cannot write a file',
  );
});

test.each([
  { code: 'EACCES', syscall: 'listen', address: '0.0.0.0', port: 80 },
  { code: 'ENOENT', syscall: 'spawn git', path: 'git' },
  { code: 'toString', syscall: 'open', path: '/a' },
  { code: 'ECONNRESET', syscall: 'read' },
])('does not describe %j', (members) => {
  expect(describeFileError(Object.assign(new Error('other'), members))).toBeNull();
});
