import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  checkStore,
  copyStore,
  readPages,
  STORED_TABLES,
  TRANSIENT_TABLES,
} from '../../../src/store/open/copy-store.ts';
import { type OpenDatabase, openDatabase, type StorePlace } from '../../../src/store/open/open-store.ts';
import type { SqlDatabase } from '../../../src/store/sql/database.ts';
import { openSqlStore } from '../../../src/store/store.ts';
import { hasPostgres } from '../../support/postgres.ts';
import { shareCluster } from '../../support/shared-cluster.ts';
import { wrapDatabase } from '../../support/wrapped-database.ts';
import { auditEntry, content, deposit, pass, recordEntry } from '../samples.ts';

const NEVER = new AbortController().signal;
const LIMIT = { items: 1000, bytes: 10_000_000 };

const cluster = shareCluster();

let folder: string;
const opened: OpenDatabase[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-copy-'));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ database }) => database.close()));
  rmSync(folder, { recursive: true });
});

async function open(place: StorePlace): Promise<OpenDatabase> {
  const database = await openDatabase(place, false);
  opened.push(database);
  return database;
}
const openFile = (name: string) => open({ path: join(folder, name) });
const openPostgres = async () => open({ url: await cluster().createDatabase(), pool: 3 });

/** Writes something to every table. */
async function fill(database: SqlDatabase): Promise<void> {
  const store = openSqlStore(database, null);
  const actor = { name: 'ana "é" \u{1f600}', method: 'oidc' as const };
  for (const id of ['org_1', 'org_2', 'Org_3', 'ürg']) {
    const record = store.organization(id);
    const entries = Array.from({ length: 40 }, (_, index) =>
      recordEntry(`team/${index}`, {
        ...{ id: index % 2 === 0 ? null : `t${index}`, protect: index > 9 },
        fields: { title: `T${index}\u0000`, rate: 0.1 * index },
      }),
    );
    await record.put(entries);
    await record.moveHead({ commit: id === 'ürg' ? null : 'c1', at: 5 }, []);
    await record.decide({ checksum: 'sha256:1', verdict: 'approved', by: actor, reason: '', at: 1 });
    await store.note(`notes/${id}`).write({ text: 'x'.repeat(5000), none: null });
    const changes = [{ address: 'team/1', action: 'update', status: 'applied', error: null }];
    await store.history(id).addPass(pass(10, { writes: 1, plan: { heldChecksum: 'h' }, changes }));
    await store.history(id).addAudit(auditEntry({ actor }));
    await store.history(id).pause({ address: 'team/1', reason: 'r', by: actor, since: 1, until: null });
    const outbox = store.outbox(id, LIMIT);
    await outbox.put(
      deposit(
        ['a', 'b', 'c', 'd'].map((key) => content(key)),
        { at: 1, counts: { found: 4 } },
      ),
    );
    const batch = await outbox.next({ items: 2, bytes: 1000, open: 4 }, 10);
    await outbox.sent(batch?.id ?? 0, 11);
    await outbox.next({ items: 1, bytes: 1000, open: 4 }, 12);
  }
  await store.sessions().put({ id: 's', data: { name: 'ana' }, expiresAt: 1e15 }, 1);
}

/** Every direction between the kinds of stores. */
const DIRECTIONS: readonly (readonly [string, () => Promise<OpenDatabase>, () => Promise<OpenDatabase>])[] = [
  ['a file to a file', () => openFile('a.db'), () => openFile('b.db')],
  ...(hasPostgres
    ? [
        ['a file to PostgreSQL', () => openFile('a.db'), openPostgres] as const,
        ['PostgreSQL to a file', openPostgres, () => openFile('b.db')] as const,
        ['PostgreSQL to PostgreSQL', openPostgres, openPostgres] as const,
      ]
    : []),
];

describe.each(DIRECTIONS)('a copy of %s', (_name, openSource, openTarget) => {
  test('has the same content, and can be continued', async () => {
    const [source, target] = [await openSource(), await openTarget()];
    await fill(source.database);
    const { tables, replaced } = await copyStore(source, target, NEVER);
    expect(replaced).toBe(0);
    expect(tables.find(({ name }) => name === 'entry')?.rows).toBe(160);
    const checks = await Promise.all([checkStore(source.database), checkStore(target.database)]);
    expect(checks[0]).toEqual({ tables, findings: [] });
    expect(checks[1]).toEqual({ tables, findings: [] });

    const stores = [source, target].map(({ database }) => openSqlStore(database, null));
    const states = stores.map(async (store) => {
      const outbox = store.outbox('org_1', LIMIT);
      await outbox.put(deposit([content('new')], { at: 20 }));
      return [
        await store.organization('ürg').read(),
        await store.history('org_2').pass(1),
        await store.note('notes/Org_3').read(),
        await outbox.status(),
        await outbox.next({ items: 9, bytes: 1000, open: 4 }, 30),
      ];
    });
    const [before, after] = await Promise.all(states);
    expect(after).toEqual(before);
  });

  test('is refused if the target is not empty', async () => {
    const [source, target] = [await openSource(), await openTarget()];
    await openSqlStore(target.database, null).note('a').write(1);
    await expect(copyStore(source, target, NEVER)).rejects.toThrow(/is not empty \(table note\); copy into a new/);
  });

  test('stores nothing if it is interrupted', async () => {
    const [source, target] = [await openSource(), await openTarget()];
    await fill(source.database);
    await expect(copyStore(source, target, AbortSignal.abort())).rejects.toThrow('interrupted; nothing was stored');
    expect((await checkStore(target.database)).tables.every(({ rows }) => rows === 0)).toBe(true);
  });
});

describe.runIf(hasPostgres)('copies with PostgreSQL', () => {
  test('replace what PostgreSQL cannot store, and count it', async () => {
    const [source, target] = [await openFile('a.db'), await openPostgres()];
    const history = openSqlStore(source.database, null).history('o');
    await history.addAudit(auditEntry({ actor: { name: 'a\0', method: 'oidc' }, reason: '\0b' }));
    expect((await copyStore(source, target, NEVER)).replaced).toBe(2);
    const [entry] = await openSqlStore(target.database, null).history('o').audit({ limit: 1 });
    expect(entry).toMatchObject({ actor: { name: 'a\ufffd' }, reason: '\ufffdb' });
  });

  test('keep both transactions open, however long a table takes to be read back', async () => {
    const seen: unknown[] = [];
    /** Notes how long the server lets the transactions pause before each table is read. */
    const observed = (opened: OpenDatabase): OpenDatabase => ({
      ...opened,
      database: wrapDatabase(opened.database, async (statement, call, sql) => {
        if (statement.startsWith('SELECT * FROM')) {
          const row = await sql.get("SELECT current_setting('idle_in_transaction_session_timeout') AS pause");
          seen.push(row?.pause);
        }
        return call();
      }),
    });
    await copyStore(observed(await openPostgres()), observed(await openPostgres()), NEVER);
    expect(seen).toHaveLength(2 * STORED_TABLES.length);
    expect(new Set(seen)).toEqual(new Set(['1h']));
  });

  test('are refused while a replica uses the database', async () => {
    const [source, target] = [await openPostgres(), await openFile('b.db')];
    const join = (expiry: string) =>
      source.database.write('x', (sql) =>
        sql.run(`INSERT INTO replica VALUES ('r', '1', 'host-7 12', 1, 0, clock_timestamp(),
          clock_timestamp() ${expiry}, clock_timestamp())`),
      );
    await join("+ interval '1 minute'");
    await expect(copyStore(source, target, NEVER)).rejects.toThrow(
      /is in use by running replicas \(host-7 12\); stop them/,
    );
    await source.database.write('x', (sql) => sql.run('DELETE FROM replica'));
    await join("- interval '1 minute'");
    expect((await copyStore(source, target, NEVER)).tables).toHaveLength(STORED_TABLES.length);
  });

  test('include every table of a state file, and of PostgreSQL those that are not about running replicas', async () => {
    const [file, postgres] = [await openFile('a.db'), await openPostgres()];
    const ofFile = await file.database.read((sql) =>
      sql.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"),
    );
    const ofPostgres = await postgres.database.read((sql) =>
      sql.all(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'octavo' ORDER BY tablename COLLATE "C"`),
    );
    const known = [...STORED_TABLES.map(({ name }) => name), ...TRANSIENT_TABLES];
    expect(ofFile.map(({ name }) => name)).toEqual([...known, 'approval'].sort());
    expect(ofPostgres.map(({ name }) => name)).toEqual(expect.arrayContaining([...known].sort()));
    const own = ofPostgres.map(({ name }) => String(name)).filter((name) => !known.includes(name));
    expect(own).toEqual(['lease', 'migration', 'replica']);
  });
});

describe('reading a table', () => {
  test('takes pages of bounded size, whatever the rows have', async () => {
    const { database } = await openFile('a.db');
    const store = openSqlStore(database, null);
    for (let index = 0; index < 60; index += 1) {
      await store.note(`n${String(index).padStart(3, '0')}`).write('x'.repeat(500_000));
    }
    const note = STORED_TABLES.find(({ name }) => name === 'note');
    const sizes = await database.read(async (sql) => {
      const found: number[] = [];
      for await (const rows of readPages(sql, note as NonNullable<typeof note>)) {
        found.push(rows.length);
      }
      return found;
    });
    expect(sizes.slice(0, 5)).toEqual([16, 8, 4, 2, 4]);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(60);
    expect(Math.max(...sizes.slice(3))).toBeLessThanOrEqual(4);
  });
});

describe('a check', () => {
  test.each([
    ["UPDATE note SET value = '{' WHERE topic = 'notes/org_1'", /note "notes\/org_1": the column value is not JSON/],
    ["UPDATE outbox SET items = items + 1 WHERE organization = 'org_2'", /outbox of "org_2" counts 3 items/],
    ["DELETE FROM outbox WHERE organization = 'org_2'", /outbox of "org_2" has content that is not counted/],
    ["DELETE FROM pass WHERE organization = 'org_1'", /^changes without their pass: 1$/],
    ["UPDATE content SET batch = NULL WHERE organization = 'org_1'", /^conversations in sending without a batch: 1$/],
    [
      "UPDATE content SET state = 'x' WHERE organization = 'org_1' AND batch IS NULL",
      /^conversations in an unknown state: 1$/,
    ],
  ])('finds the effect of %s', async (statement, finding) => {
    const { database } = await openFile('a.db');
    await fill(database);
    await database.write('x', (sql) => sql.run(statement));
    const { findings } = await checkStore(database);
    expect(findings).toEqual([expect.stringMatching(finding)]);
  });
});
