/** State file: what it keeps, its protection, and the errors of a file that cannot be used. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../src/core/errors.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { endWithParent } from '../support/end-with-parent.ts';
import { execFileSync, spawn } from '../support/programs.ts';
import { toFirstLayout } from './first-layout.ts';
import { recordEntry } from './samples.ts';

const entry = (n: number, title = 'T') =>
  recordEntry(`team/${String(n).padStart(5, '0')}`, { id: `t${n}`, fields: { title } });
const entries = (count: number, title?: string) => Array.from({ length: count }, (_, n) => entry(n, title));

const PROCESS = fileURLToPath(new URL('store-process.ts', import.meta.url));

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-trouble-'));
  file = join(folder, 'octavo.db');
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

/** Fills the file and releases the space. */
async function fill(count: number, title?: string): Promise<void> {
  const store = openSqliteStore(file);
  await store.organization('o').put(entries(count, title));
  await store.close();
}

function change(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

/** Overwrites pages of the file, from one page to another one. */
function damage(from: number, to: number): void {
  const bytes = readFileSync(file);
  bytes.subarray(4096 * from, 4096 * to).fill(0xa5);
  writeFileSync(file, bytes);
}

/** Error of opening, in one line; the file must not be changed by it. */
function refusal(): string {
  const before = statSync(file).isFile() ? readFileSync(file) : null;
  try {
    openSqliteStore(file);
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError);
    expect((error as Error).message).not.toContain('\n');
    expect(before?.equals(readFileSync(file)) ?? true).toBe(true);
    return (error as Error).message.replace(file, 'FILE');
  }
  throw new Error('it opened');
}

const DAMAGED = /^FILE is damaged; move it away and start again: .*deletes nothing/;

describe('names a file that cannot be opened, with advice, and does not change it', () => {
  test.each(['organizations: []\n', randomBytes(20_000)])('a file of another format', (content) => {
    writeFileSync(file, content);
    expect(refusal()).toMatch(DAMAGED);
  });

  test.each([0.3, 0.5, 0.9])('a file truncated to %d of its length', async (share) => {
    await fill(500);
    truncateSync(file, Math.floor(statSync(file).size * share));
    expect(refusal()).toMatch(DAMAGED);
  });

  test('a file with a damaged page that is not needed to open it', async () => {
    await fill(3000, 'x'.repeat(1500));
    damage(500, 501);
    expect(refusal()).toMatch(DAMAGED);
  });

  test.each([0, 1, 2, 99])('the database of another program with the layout number %d', (version) => {
    change(`CREATE TABLE songs (title TEXT); PRAGMA user_version = ${version};`);
    expect(refusal()).toBe(
      'FILE is the database of another program and was not changed; set store.path to another file',
    );
  });

  test.each([
    ['of a newer Octavo', 'PRAGMA user_version = 99;', /^FILE was written by a newer Octavo \(layout 99; .*newer one$/],
    ['without one of its tables', '', DAMAGED],
  ])('a file %s', async (_what, statement, message) => {
    await fill(3);
    change(`${statement} DROP TABLE approval;`);
    expect(refusal()).toMatch(message);
  });

  test('a folder', () => {
    mkdirSync(file);
    expect(refusal()).toBe(
      'FILE cannot be opened; set store.path to a file in a directory that this user can write to',
    );
  });
});

describe('a file without write permission', () => {
  const open = () => execFileSync(process.execPath, [PROCESS, file], { encoding: 'utf8' }).trim();
  const words = (message: string) => message.replace(file, 'FILE');
  const READ_ONLY =
    'StoreError: FILE cannot be written: it is read-only for this user; make the file and its directory writable, or set store.path to another file';

  beforeEach(async () => {
    await fill(3);
    chmodSync(folder, 0o777);
    chmodSync(file, 0o666);
  });

  test('can be written if the user of these tests has access', () => {
    expect(open()).toBe('written');
  });

  test.each([
    ['the file', 0o777, 0o444],
    ['the file and its folder', 0o555, 0o444],
  ])('is reported as read-only at startup: %s', (_what, ofFolder, ofFile) => {
    chmodSync(file, ofFile);
    chmodSync(folder, ofFolder);
    const before = readFileSync(file);
    expect(words(open())).toBe(READ_ONLY);
    expect(before.equals(readFileSync(file))).toBe(true);
    chmodSync(folder, 0o777);
    chmodSync(file, 0o666);
    expect(open()).toBe('written');
  });

  test.each([
    ['the folder is read-only', 0o555, 0o666],
    ['the file may not be read', 0o777, 0o000],
  ])('reports the path and advice if %s', (_what, ofFolder, ofFile) => {
    chmodSync(file, ofFile);
    chmodSync(folder, ofFolder);
    expect(words(open())).toMatch(/^StoreError: FILE cannot be (opened|written)[;:] .*(store\.path|this user)/);
  });

  test('names a folder that does not exist and cannot be created', () => {
    chmodSync(folder, 0o555);
    file = join(folder, 'state', 'octavo.db');
    expect(words(open())).toMatch(/^StoreError: FILE cannot be used: EACCES: .*set store\.path to a file/);
  });
});

test('uses an empty file as a new one, and ignores a leftover write-ahead log', async () => {
  await fill(3);
  const leftover = join(folder, 'kept.db');
  const store = openSqliteStore(leftover);
  await store.organization('o').put(entries(3));
  writeFileSync(`${file}-wal`, readFileSync(`${leftover}-wal`));
  await store.close();
  writeFileSync(file, '');
  const again = openSqliteStore(file);
  expect(await again.organization('o').read()).toEqual({ head: null, entries: [] });
  await again.organization('o').put(entries(1));
  await again.close();
});

test('migrates a file of the first version, which has no application id, and keeps its data', async () => {
  await fill(3);
  const database = new DatabaseSync(file);
  toFirstLayout(database);
  database.exec('PRAGMA application_id = 0');
  database.close();
  const store = openSqliteStore(file);
  await store.note('flapping/org_1').write(['kept']);
  expect(await store.note('flapping/org_1').read()).toEqual(['kept']);
  expect((await store.organization('o').read()).entries).toEqual(entries(3));
  expect((await store.outbox('org_1', { items: 1, bytes: 1 }).status()).sources).toEqual([]);
  await store.close();
});

test('rejects a second process in one line, and loses no acknowledged write after kill -9', async () => {
  file = join(folder, 'state', 'octavo.db');
  const holder = spawn(...endWithParent(process.execPath, [PROCESS, file, 'hold']), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  holder.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  await once(holder.stdout, 'data');
  expect(() => openSqliteStore(file)).toThrow(
    new StoreError(`${file} is in use by another process; only one Octavo may use a state file`),
  );
  const ended = once(holder, 'exit');
  holder.kill('SIGKILL');
  await ended;
  expect(stderr).toBe('');
  const store = openSqliteStore(file);
  expect((await store.organization('o').read()).entries).toHaveLength(1);
  await store.close();
});

test('restricts the file and its companions to their owner, whatever the permissions were', async () => {
  const modes = () => readdirSync(folder).map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8));
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

describe('errors while the file is open', () => {
  let database: DatabaseSync;
  const open = () =>
    openSqliteStore(file, (opened) => {
      database = opened;
    });

  test('a full disk rolls back the write, and later writes succeed when there is space', async () => {
    const store = open();
    const record = store.organization('o');
    await record.put(entries(20));
    const pages = Number(database.prepare('PRAGMA page_count').get()?.page_count);
    database.exec(`PRAGMA max_page_count = ${pages}`);
    const full = new StoreError(
      `${file} cannot be written: the disk is full; free some space; a running daemon then continues by itself`,
    );
    await expect(record.put(entries(2000))).rejects.toThrow(full);
    await expect(record.put(entries(2000))).rejects.toThrow(full);
    expect((await record.read()).entries).toEqual(entries(20));
    database.exec('PRAGMA max_page_count = 100000');
    await record.put(entries(2000));
    await store.close();
    const again = openSqliteStore(file);
    expect((await again.organization('o').read()).entries).toHaveLength(2000);
    await again.close();
  });

  test('a write to a file that became read-only fails with advice', async () => {
    const store = open();
    const record = store.organization('o');
    await record.put(entries(2));
    database.exec('PRAGMA query_only = 1');
    await expect(record.moveHead({ commit: 'abc', at: 1 }, [])).rejects.toThrow(
      /cannot be written: it is read-only for this user;/,
    );
    await expect(record.put(entries(1))).rejects.toThrow(StoreError);
    database.exec('PRAGMA query_only = 0');
    await record.moveHead({ commit: 'abc', at: 1 }, []);
    expect((await record.read()).head).toEqual({ commit: 'abc', at: 1 });
    await store.close();
  });

  test('damaged pages are detected when they are read', async () => {
    await fill(3000, 'x'.repeat(1500));
    const store = open();
    damage(20, Number.POSITIVE_INFINITY);
    await expect(store.organization('o').read()).rejects.toThrow(/octavo\.db is damaged; move it away and start again/);
    await store.close();
    expect(refusal()).toContain('is damaged');
  });

  test.each(['fields', 'metadata'])('an entry whose %s are not an object is reported as damage', async (column) => {
    const store = open();
    const record = store.organization('o');
    await record.put(entries(2));
    for (const text of ['{"title":', '5', 'null']) {
      database.exec(`UPDATE entry SET ${column} = '${text}' WHERE id = 't1'`);
      await expect(record.read()).rejects.toThrow(/octavo\.db is damaged/);
    }
    await store.close();
  });
});
