import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readRegularFile } from '../../src/core/files/disk.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-regular-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('readRegularFile', () => {
  test('returns all bytes, through links, up to the limit', () => {
    const path = join(folder, 'a');
    writeFileSync(path, 'x'.repeat(70_000));
    symlinkSync(path, join(folder, 'link'));
    expect(readRegularFile(join(folder, 'link'), { limit: 70_000 })).toHaveLength(70_000);
    expect(() => readRegularFile(path, { limit: 69_999 })).toThrow('at most 0.1 MB are read');
    writeFileSync(path, '');
    expect(readRegularFile(path, { limit: 0 })).toHaveLength(0);
  });

  test('refuses a sparse file by its size, and a generated one by its content', () => {
    const path = join(folder, 'sparse');
    writeFileSync(path, '');
    truncateSync(path, 2 ** 40);
    expect(() => readRegularFile(path, { limit: 1_048_576 })).toThrow('it is 1048576 MB; at most 1 MB are read');
    expect(() => readRegularFile('/proc/self/status', { limit: 100 })).toThrow('at most');
    expect(readRegularFile('/proc/self/status', { limit: 1_048_576 }).toString()).toContain('Pid:');
  });

  test('refuses a resolved path that has become a link', () => {
    mkdirSync(join(folder, 'real'));
    mkdirSync(join(folder, 'secrets'));
    writeFileSync(join(folder, 'secrets/file'), 'secret');
    writeFileSync(join(folder, 'real/file'), 'mine');
    const path = join(folder, 'real/file');
    const limits = { limit: 100, expected: path };
    expect(readRegularFile(path, limits).toString()).toBe('mine');
    renameSync(join(folder, 'real'), join(folder, 'old'));
    symlinkSync('secrets', join(folder, 'real'));
    expect(() => readRegularFile(path, limits)).toThrow('it was moved while it was opened');
    rmSync(join(folder, 'real'));
    mkdirSync(join(folder, 'real'));
    symlinkSync('../secrets/file', path);
    expect(() => readRegularFile(path, limits)).toThrow(/ELOOP/);
  });
});
