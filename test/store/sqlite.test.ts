import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../src/core/errors.ts';
import type { RecordEntry } from '../../src/store/record.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { endWithParent } from '../support/end-with-parent.ts';
import { spawn } from '../support/programs.ts';
import { toFirstLayout } from './first-layout.ts';

const entry: RecordEntry = { address: 'team/a', kind: 'team', id: 't', fields: {}, protect: true, metadata: {} };
const CHILD = fileURLToPath(new URL('hold-store.ts', import.meta.url));

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-sqlite-'));
  file = join(folder, 'state', 'octavo.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Another process that opens the store, writes its announced entries, and holds it until it is killed. */
async function startHolder(): Promise<{ kill(): Promise<void>; stderr(): string }> {
  const child = spawn(...endWithParent(process.execPath, [CHILD, file]), { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  await once(child.stdout, 'data');
  return {
    kill: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    stderr: () => stderr,
  };
}

describe('openSqliteStore', () => {
  test('creates the folder, and keeps data across a restart', async () => {
    const first = openSqliteStore(file);
    await first.organization('org_1').put([entry]);
    await first.close();
    const second = openSqliteStore(file);
    expect((await second.organization('org_1').read()).entries).toEqual([entry]);
    await second.close();
  });

  test('rejects a second process in one line, and loses no acknowledged write after kill -9', async () => {
    const holder = await startHolder();
    expect(() => openSqliteStore(file)).toThrow(
      new StoreError(`${file} is in use by another process; only one Octavo may use a state file`),
    );
    await holder.kill();
    expect(holder.stderr()).toBe('');
    const store = openSqliteStore(file);
    expect((await store.organization('org_1').read()).entries).toHaveLength(1);
    await store.close();
  });

  test('migrates a file of an older Octavo and keeps its data', async () => {
    const older = openSqliteStore(file);
    await older.organization('org_1').put([entry]);
    await older.close();
    const database = new DatabaseSync(file);
    toFirstLayout(database);
    database.close();
    const store = openSqliteStore(file);
    await store.note('flapping/org_1').write(['kept']);
    expect(await store.note('flapping/org_1').read()).toEqual(['kept']);
    expect((await store.organization('org_1').read()).entries).toEqual([entry]);
    expect((await store.outbox('org_1', { items: 1, bytes: 1 }).status()).sources).toEqual([]);
    await store.close();
  });

  test('restricts the file and its companions to their owner, whatever the permissions were', async () => {
    const modes = () =>
      readdirSync(dirname(file)).map((name) => (statSync(join(dirname(file), name)).mode & 0o777).toString(8));
    const mask = process.umask(0o022);
    try {
      const store = openSqliteStore(file);
      await store.note('a').write('kept');
      expect(modes()).toEqual(['600', '600']);
      await store.close();
      chmodSync(file, 0o664);
      await openSqliteStore(file).close();
      expect(modes()).toEqual(['600']);
    } finally {
      process.umask(mask);
    }
  });
});
