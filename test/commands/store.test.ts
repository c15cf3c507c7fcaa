import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { toFirstLayout } from '../store/first-layout.ts';
import { hasPostgres, type PostgresCluster, startPostgres } from '../support/postgres.ts';
import { openWorkspace } from '../support/workspace.ts';

let cluster: PostgresCluster;
beforeAll(async () => {
  if (hasPostgres) {
    cluster = await startPostgres({ auth: 'scram-sha-256' });
  }
});
afterAll(() => cluster?.stop());

const MANIFEST = 'teams:\n  docs: { title: Docs }\n  api: { title: API }\n';

describe('octavo store', () => {
  test.runIf(hasPostgres)('moves a daemon from its state file to PostgreSQL and back', async () => {
    await using work = await openWorkspace();
    work.repository.commit('Two teams', { 'a.yaml': MANIFEST });
    const before = work.configure();
    expect(await work.inside(['run', '--once', '--config', before])).toMatchObject({ code: 0 });
    expect(work.teams()).toEqual(['API', 'Docs']);

    const env = { DATABASE: await cluster.createDatabase() };
    const file = join(work.folder, 'state', 'octavo.db');
    const copied = await work.inside(['store', 'copy', file, 'env:DATABASE'], env);
    expect(copied).toMatchObject({ code: 0, stderr: '' });
    expect(copied.stdout).toMatch(/^table +rows +checksum\nhead +1 {2}[0-9a-f]{12}\nentry +2 /);
    expect(copied.stdout).toMatch(/\nCopied \d+ rows; the checksums of both stores are equal\n$/);

    // biome-ignore lint/suspicious/noTemplateCurlyInString: syntax of a variable in the configuration
    const after = work.configure({ name: 'after.yaml', top: { store: '${env:DATABASE}' } });
    const checked = await work.inside(['store', 'check', '--config', after], env);
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nNo problems\n$/) });

    const writes = work.writes();
    expect(await work.inside(['run', '--once', '--config', after], env)).toMatchObject({ code: 0 });
    expect(work.writes()).toBe(writes);
    // A deletion needs the record.
    work.repository.commit('One team', { 'a.yaml': 'teams:\n  docs: { title: Docs }\n' });
    expect(await work.inside(['run', '--once', '--config', after], env)).toMatchObject({ code: 0 });
    expect(work.teams()).toEqual(['Docs']);

    const back = join(work.folder, 'back.db');
    const json = await work.inside(['store', 'copy', 'env:DATABASE', back, '--format', 'json'], env);
    const tables: readonly { name: string; rows: number }[] = JSON.parse(json.stdout).tables;
    expect(tables.find(({ name }) => name === 'entry')?.rows).toBe(1);
    expect(await work.inside(['store', 'check', back])).toMatchObject({ code: 0 });
  });

  test.runIf(hasPostgres)('other commands do not work next to the replicas of a database', async () => {
    await using work = await openWorkspace();
    const database = await cluster.createDatabase();
    const config = work.configure({ top: { store: database } });
    const status = () => work.inside(['conversations', 'status', '--config', config]);
    expect(await status()).toMatchObject({ code: 0 });
    await cluster.query(
      `INSERT INTO octavo.replica VALUES ('r', '1', 'host-7 12', 1, 0, clock_timestamp(),
        clock_timestamp() + interval '1 minute', clock_timestamp())`,
      database.split('/').at(-1),
    );
    expect(await status()).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('running replicas use the database (host-7 12); run this command on the machine'),
    });
  });

  test('refuses what it cannot read or must not overwrite', async () => {
    await using work = await openWorkspace();
    const [one, two] = ['one.db', 'two.db'].map((name) => join(work.folder, name));
    const refused = async (args: readonly string[]) => {
      const { code, stderr } = await work.inside(['store', ...args]);
      expect(code).toBe(3);
      return stderr;
    };
    expect(await refused(['copy', String(one), String(two)])).toContain('one.db does not exist; name a state file');
    expect(await refused(['check', String(one)])).toContain('one.db does not exist');
    expect(await refused(['check', 'env:NOT_SET'])).toContain('the variable NOT_SET is not set');
    expect(await refused(['check', ''])).toContain('the name of a store is empty; use the path of a state file');
    expect(await refused(['check', 'postgres://u:pass-word@h'])).toContain('the store must name a user and a database');
    const config = work.configure({ top: { store: { path: one } } });
    await work.inside(['run', '--once', '--config', config]);
    expect(await work.inside(['store', 'copy', String(one), String(two)])).toMatchObject({ code: 0 });
    expect(await refused(['copy', String(one), String(two)])).toContain('two.db is not empty (table');
  });

  test('check and the source of copy do not change a store', async () => {
    await using work = await openWorkspace();
    const [empty, older] = ['empty.db', 'older.db'].map((name) => join(work.folder, name)) as [string, string];
    writeFileSync(empty, '');
    await openSqliteStore(older).close();
    const database = new DatabaseSync(older);
    toFirstLayout(database);
    database.close();
    const places = hasPostgres ? [empty, older, await cluster.createDatabase()] : [empty, older];
    const before = readFileSync(older);
    for (const place of places) {
      for (const args of [
        ['check', place],
        ['copy', place, join(work.folder, 'copy.db')],
      ]) {
        const { code, stderr } = await work.inside(['store', ...args]);
        expect(code).toBe(1);
        expect(stderr).toMatch(
          /is empty|older (?:Octavo|version).*; name another .*, or start the daemon of this version once/,
        );
      }
    }
    expect(readFileSync(empty, 'utf8')).toBe('');
    expect(readFileSync(older).equals(before)).toBe(true);
  });

  test('does not read the state file of a daemon that runs', async () => {
    await using work = await openWorkspace();
    const config = work.configure();
    const daemon = work.beginInside('run', '--config', config);
    await daemon.waitForLog('octavo is running');
    const { code, stderr } = await work.inside(['store', 'copy', join(work.folder, 'state', 'octavo.db'), 'x.db']);
    expect(code).toBe(1);
    expect(stderr).toContain('is in use by another process; only one Octavo may use a state file');
  });

  test.runIf(hasPostgres)('never prints the password of a database', async () => {
    await using work = await openWorkspace();
    const url = (await cluster.createDatabase()).replace(cluster.password, 'wr0ng%2Fpassword');
    for (const place of [url, 'env:DATABASE', url.replace(/:\d+\//, ':1/'), `${url}?host=no-such-host.invalid`]) {
      const { code, stdout, stderr } = await work.inside(['store', 'check', place], { DATABASE: url });
      expect(code).toBe(1);
      expect(stderr).toMatch(/refuses the user or the password|cannot be reached/);
      expect(stdout + stderr).not.toMatch(/wr0ng/);
    }
  });
});
