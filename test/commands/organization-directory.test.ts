/** Files of organizations on disk. */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chooseConfig } from '../../src/commands/cli/config.ts';
import { makeFifo } from '../support/fifo.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-organizations-'));
  writeFileSync(join(folder, 'config.yaml'), '');
  mkdirSync(join(folder, 'organizations'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function readAll(directory = 'organizations'): Promise<Record<string, string>> {
  const { source } = await chooseConfig({ named: join(folder, 'config.yaml'), cwd: folder, env: {} });
  const files = (await source?.readDirectory(join(folder, directory))) ?? new Map<string, string | Error>();
  return Object.fromEntries(
    [...files].map(([name, content]) => [name, typeof content === 'string' ? content : `Error: ${content.message}`]),
  );
}

test('are read through the links of a mounted ConfigMap, and of the directory itself', async () => {
  const data = join(folder, 'organizations', '..2026');
  mkdirSync(data);
  writeFileSync(join(data, 'acme.yaml'), 'id: acme');
  symlinkSync('..2026', join(folder, 'organizations', '..data'));
  symlinkSync(join('..data', 'acme.yaml'), join(folder, 'organizations', 'acme.yaml'));
  symlinkSync('organizations', join(folder, 'current'));
  expect(await readAll()).toEqual({ 'acme.yaml': 'id: acme' });
  expect(await readAll('current')).toEqual({ 'acme.yaml': 'id: acme' });
});

test('are not read from outside of the directory, nor from what is not a regular file', async () => {
  writeFileSync(join(folder, 'token'), 'a-secret: 1');
  const at = (name: string) => join(folder, 'organizations', name);
  symlinkSync(join(folder, 'token'), at('absolute.yaml'));
  symlinkSync(join('..', 'token'), at('relative.yaml'));
  symlinkSync('loop.yaml', at('loop.yaml'));
  symlinkSync('/dev/zero', at('zero.yaml'));
  mkdirSync(at('folder.yaml'));
  makeFifo(at('fifo.yaml'));
  const outside = 'Error: it is a symbolic link to a file outside of the directory';
  expect(await readAll()).toEqual({
    'absolute.yaml': outside,
    'relative.yaml': outside,
    'zero.yaml': outside,
    'loop.yaml': expect.stringMatching(/^Error: ELOOP/),
    'folder.yaml': expect.stringMatching(/^Error: .*not a regular file/),
    'fifo.yaml': expect.stringMatching(/^Error: .*not a regular file/),
  });
});
