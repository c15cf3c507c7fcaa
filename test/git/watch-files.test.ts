/** Watches on single files and on directories of files. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FileWatch, type WatchedFiles } from '../../src/git/watch.ts';
import { makeFolder } from './repository.ts';

let folder: string;
let watching: FileWatch | undefined;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(async () => {
  await watching?.close();
  rmSync(folder, { recursive: true });
});

const path = (...parts: string[]) => join(folder, ...parts);
const write = (name: string, content: string) => {
  mkdirSync(join(path(name), '..'), { recursive: true });
  writeFileSync(path(name), content);
};

/** Starts to watch, and returns a function that resolves at the next report after an action. */
async function start(watched: WatchedFiles) {
  let wake: () => void = () => undefined;
  let reports = 0;
  const onChange = () => {
    reports += 1;
    wake();
  };
  const fail = (error: Error) => {
    throw error;
  };
  watching = new FileWatch({ onChange, onError: fail, settle: 30 });
  await watching.set(watched);
  const after = async (act: () => void) => {
    const reported = new Promise<void>((done) => {
      wake = done;
    });
    act();
    await reported;
  };
  return { after, count: () => reports };
}

test('reports an edit, an atomic replacement, a removal and the return of a file', async () => {
  write('config.yaml', '1');
  const { after } = await start({ files: [path('config.yaml')], directories: [] });
  await after(() => write('config.yaml', '22'));
  await after(() => {
    write('config.yaml.tmp', '333');
    renameSync(path('config.yaml.tmp'), path('config.yaml'));
  });
  await after(() => rmSync(path('config.yaml')));
  await after(() => write('config.yaml', '4444'));
});

test('does not report other files next to a file', async () => {
  write('config.yaml', '1');
  const { after, count } = await start({ files: [path('config.yaml')], directories: [] });
  write('octavo.db-wal', 'x');
  await after(() => write('config.yaml', '22'));
  expect(count()).toBe(1);
});

test('reports new, changed and removed files of a directory', async () => {
  mkdirSync(path('organizations'));
  const { after } = await start({ files: [], directories: [path('organizations')] });
  await after(() => write('organizations/a.yaml', '1'));
  await after(() => write('organizations/a.yaml', '22'));
  await after(() => rmSync(path('organizations/a.yaml')));
});

test('reports each swap of the link through which a volume of Kubernetes shows its files', async () => {
  write('..one/config.yaml', '1');
  symlinkSync('..one', path('..data'));
  symlinkSync('..data/config.yaml', path('config.yaml'));
  const { after } = await start({ files: [path('config.yaml')], directories: [] });
  const swap = (target: string) => {
    write(`${target}/config.yaml`, target);
    symlinkSync(target, path('..data_tmp'));
    renameSync(path('..data_tmp'), path('..data'));
  };
  await after(() => swap('..two'));
  await after(() => swap('..three'));
});

test('reports changes although a name is one that no file can have', async () => {
  write('config.yaml', '1');
  // A configuration may name one by mistake, such as a secret instead of its file.
  const { after } = await start({ files: [path('config.yaml'), path('x'.repeat(300)), path('a\0b')], directories: [] });
  await after(() => write('config.yaml', '22'));
  await after(() => write('config.yaml', '333'));
});
