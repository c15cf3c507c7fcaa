import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FileWatch, type WatchedFiles, watchDirectory } from '../../src/git/watch.ts';
import { openDiskTree } from '../../src/manifests/disk-tree.ts';
import { makeFolder, makeRepository } from './repository.ts';

let folder: string;
let watching: { close(): Promise<void> } | undefined;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(async () => {
  await watching?.close();
  rmSync(folder, { recursive: true });
});

/** Counts reports, and returns a function that resolves at the next report after an action. */
function reporting() {
  let reports = 0;
  let wake: () => void = () => undefined;
  return {
    onChange: () => {
      reports += 1;
      wake();
    },
    count: () => reports,
    after: async (act: () => void) => {
      const reported = new Promise<void>((done) => {
        wake = done;
      });
      act();
      await reported;
    },
  };
}

async function start(directory: string, settle = 30) {
  const reports = reporting();
  const opened = watchDirectory(directory, { onChange: reports.onChange, settle });
  watching = opened;
  await opened.ready;
  return reports;
}

test('a watch that is closed before it is ready keeps nobody waiting', async () => {
  const opened = watchDirectory(folder, { onChange: () => undefined, settle: 30 });
  await opened.close();
  await opened.ready;
});

async function startFiles(watched: WatchedFiles) {
  const reports = reporting();
  const onError = (error: Error) => {
    throw error;
  };
  const opened = new FileWatch({ onChange: reports.onChange, onError, settle: 30 });
  watching = opened;
  await opened.set(watched);
  return reports;
}

const write = (path: string, content: string) => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), content);
};
/** Like git-sync: a new link next to the old one, which is then renamed over it. */
const swap = (target: string) => {
  symlinkSync(target, join(folder, 'tmp-link'));
  renameSync(join(folder, 'tmp-link'), join(folder, 'link'));
};

describe('watchDirectory', () => {
  test('reports an edit, a new file in a new folder, and a removal', async () => {
    write('m/a.yaml', '1');
    const watched = await start(join(folder, 'm'));
    await watched.after(() => write('m/a.yaml', '22'));
    await watched.after(() => write('m/deep/er/b.yaml', '1'));
    await watched.after(() => write('m/.octavoignore', 'x'));
    await watched.after(() => rmSync(join(folder, 'm/a.yaml')));
  });

  test('reports many edits at once as one change', async () => {
    write('m/a.yaml', '1');
    const watched = await start(join(folder, 'm'), 300);
    await watched.after(() => {
      for (let index = 0; index < 50; index++) {
        write(`m/${index}.yaml`, 'x');
      }
    });
    expect(watched.count()).toBe(1);
  });

  test.each([
    ['the folder', 'link'],
    ['a folder above it', 'link/manifests'],
  ])('reports a swap of %s, and every edit and swap after it', async (_name, path) => {
    for (const name of ['one', 'two', 'three']) {
      write(`trees/${name}/manifests/a.yaml`, name);
    }
    swap('trees/one');
    const watched = await start(join(folder, path));
    await watched.after(() => swap('trees/two'));
    await watched.after(() => write('trees/two/manifests/b.yaml', 'x'));
    await watched.after(() => swap('trees/three'));
    await watched.after(() => write('trees/three/manifests/a.yaml', 'changed'));
  });

  test('does not watch folders behind a link, or a manifest folder whose link leads out of the repository', async () => {
    mkdirSync(join(folder, 'elsewhere'));
    // A watcher that walks into this folder reports an error, because the link loops.
    symlinkSync('loop', join(folder, 'elsewhere/loop'));
    const repository = makeRepository(join(folder, 'repository'));
    repository.write('m/a.yaml', '1');
    symlinkSync('../../elsewhere', join(folder, 'repository/m/out'));
    symlinkSync('loop', join(folder, 'repository/m/loop'));
    symlinkSync('../elsewhere', join(folder, 'repository/trap'));
    const errors: Error[] = [];
    for (const name of ['m', 'trap']) {
      const onError = (error: Error) => errors.push(error);
      const opened = watchDirectory(join(folder, 'repository', name), {
        onChange: () => undefined,
        settle: 30,
        onError,
      });
      await opened.ready;
      await opened.close();
    }
    expect(errors).toEqual([]);
    const trapped = await start(join(folder, 'repository/trap'));
    await trapped.after(() => {
      rmSync(join(folder, 'repository/trap'));
      symlinkSync('m', join(folder, 'repository/trap'));
    });
  });
});

describe('openDiskTree', () => {
  test('follows a root that is replaced', async () => {
    write('trees/one/a.yaml', 'one');
    write('trees/two/a.yaml', 'two');
    swap('trees/one');
    const tree = openDiskTree(join(folder, 'link'));
    expect(Buffer.from(await tree.read('a.yaml')).toString()).toBe('one');
    swap('trees/two');
    expect(Buffer.from(await tree.read('a.yaml')).toString()).toBe('two');
  });

  test('lists thousands of files below hundreds of folders', async () => {
    for (let index = 0; index < 3_000; index++) {
      if (index < 100) {
        mkdirSync(join(folder, `m/d${index}`), { recursive: true });
      }
      writeFileSync(join(folder, `m/d${index % 100}/${index}.yaml`), '');
    }
    const tree = openDiskTree(join(folder, 'm'));
    const listed = await tree.list();
    expect(listed).toHaveLength(3_000);
    expect(new Set(listed.map(({ path }) => path)).size).toBe(3_000);
  });
});

describe('FileWatch', () => {
  const path = (...parts: string[]) => join(folder, ...parts);

  test('reports an edit, an atomic replacement, a removal and the return of a file', async () => {
    write('config.yaml', '1');
    const watched = await startFiles({ files: [path('config.yaml')], directories: [] });
    await watched.after(() => write('config.yaml', '22'));
    await watched.after(() => {
      write('config.yaml.tmp', '333');
      renameSync(path('config.yaml.tmp'), path('config.yaml'));
    });
    await watched.after(() => rmSync(path('config.yaml')));
    await watched.after(() => write('config.yaml', '4444'));
  });

  test('does not report other files next to a file', async () => {
    write('config.yaml', '1');
    const watched = await startFiles({ files: [path('config.yaml')], directories: [] });
    write('octavo.db-wal', 'x');
    await watched.after(() => write('config.yaml', '22'));
    expect(watched.count()).toBe(1);
  });

  test('reports new, changed and removed files of a directory', async () => {
    mkdirSync(path('organizations'));
    const watched = await startFiles({ files: [], directories: [path('organizations')] });
    await watched.after(() => write('organizations/a.yaml', '1'));
    await watched.after(() => write('organizations/a.yaml', '22'));
    await watched.after(() => rmSync(path('organizations/a.yaml')));
  });

  test('reports each swap of the link through which a volume of Kubernetes shows its files', async () => {
    write('..one/config.yaml', '1');
    symlinkSync('..one', path('..data'));
    symlinkSync('..data/config.yaml', path('config.yaml'));
    const watched = await startFiles({ files: [path('config.yaml')], directories: [] });
    const swap = (target: string) => {
      write(`${target}/config.yaml`, target);
      symlinkSync(target, path('..data_tmp'));
      renameSync(path('..data_tmp'), path('..data'));
    };
    await watched.after(() => swap('..two'));
    await watched.after(() => swap('..three'));
  });

  test('reports changes although a name is one that no file can have', async () => {
    write('config.yaml', '1');
    // A configuration may name one by mistake, such as a secret instead of its file.
    const watched = await startFiles({
      files: [path('config.yaml'), path('x'.repeat(300)), path('a\0b')],
      directories: [],
    });
    await watched.after(() => write('config.yaml', '22'));
    await watched.after(() => write('config.yaml', '333'));
  });
});
