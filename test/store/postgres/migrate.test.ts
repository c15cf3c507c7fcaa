import { describe, expect, test } from 'vitest';
import { migrate, requireTables } from '../../../src/store/postgres/database.ts';
import { MIGRATIONS } from '../../../src/store/sql/schema-migrations.ts';
import { hasPostgres } from '../../support/postgres.ts';
import { shareCluster } from '../../support/shared-cluster.ts';

const cluster = shareCluster();

const nameOf = (url: string) => url.split('/').at(-1);
const next = (readableBy: number) => ({ readableBy, statements: 'CREATE TABLE later (id BIGINT)' });

describe.runIf(hasPostgres)('migrations of PostgreSQL', () => {
  test('compare texts by their bytes in every column', async () => {
    const url = await cluster().createDatabase();
    await migrate({ url, pool: 1 });
    const others = await cluster().query(
      `SELECT attrelid::regclass, attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
       WHERE c.relnamespace = 'octavo'::regnamespace AND atttypid = 'text'::regtype
         AND attcollation <> (SELECT oid FROM pg_collation WHERE collname = 'C')`,
      nameOf(url),
    );
    expect(others).toEqual([]);
  });

  /** Creates a database where functions of the server are replaced, by their name and result. */
  async function createDisguised(functions: Readonly<Record<string, string>>): Promise<string> {
    const url = await cluster().createDatabase();
    const name = nameOf(url) ?? '';
    const created = Object.entries(functions).map(
      ([head, result]) => `CREATE FUNCTION fake.${head} LANGUAGE sql AS $$${result}$$;`,
    );
    await cluster().query(`CREATE SCHEMA fake; ${created.join('')}`, name);
    await cluster().query(`ALTER DATABASE ${name} SET search_path = fake, pg_catalog, public`);
    return url;
  }
  const version = (number: number) => ({
    'current_setting(name text) RETURNS text': `SELECT CASE WHEN name = 'server_version_num' THEN '${number}' ELSE pg_catalog.current_setting(name) END`,
  });

  test.each([
    [
      'a server older than version 14',
      version(130_022),
      /runs on PostgreSQL 13; Octavo needs version 14 or newer; upgrade/,
    ],
    ['a server of version 9', version(90_624), /runs on PostgreSQL 9; Octavo needs version 14 or newer; upgrade/],
    [
      'a standby',
      { 'pg_is_in_recovery() RETURNS boolean': 'SELECT true' },
      /is a read-only standby; name the primary server in store\.url/,
    ],
  ])('refuse %s, and name the database without its password', async (_, functions, message) => {
    const url = await createDisguised(functions);
    await expect(migrate({ url, pool: 1 })).rejects.toThrow(message);
    const error = await migrate({ url, pool: 1 }).catch(String);
    expect(error).toContain(`"${nameOf(url)}" at 127.0.0.1:${cluster().port}`);
    expect(error).not.toContain(cluster().password);
    expect(await cluster().query("SELECT 1 FROM pg_namespace WHERE nspname = 'octavo'", nameOf(url))).toEqual([]);
  });

  test('accept version 14', async () => {
    const url = await createDisguised(version(140_000));
    await migrate({ url, pool: 1 });
    expect(await cluster().query('SELECT count(*)::int AS n FROM octavo.migration', nameOf(url))).toEqual([
      { n: MIGRATIONS.length },
    ]);
  });

  test('run once if several replicas start at the same time', async () => {
    const url = await cluster().createDatabase();
    await Promise.all([1, 2, 3, 4, 5].map(() => migrate({ url, pool: 1 })));
    expect(await cluster().query('SELECT number FROM octavo.migration', nameOf(url))).toHaveLength(MIGRATIONS.length);
    await Promise.all([1, 2, 3].map(() => migrate({ url, pool: 1 }, [...MIGRATIONS, next(1)])));
    expect(await cluster().query('SELECT number FROM octavo.migration', nameOf(url))).toHaveLength(
      MIGRATIONS.length + 1,
    );
  });

  test('a failed migration changes nothing', async () => {
    const url = await cluster().createDatabase();
    const broken = { readableBy: 1, statements: 'CREATE TABLE later (id BIGINT); SELECT 1 / 0' };
    await expect(migrate({ url, pool: 1 }, [...MIGRATIONS, broken])).rejects.toThrow('22012');
    expect(await cluster().query("SELECT to_regnamespace('octavo') AS found", nameOf(url))).toEqual([{ found: null }]);
  });

  test('an older program keeps using a newer layout that says so, and refuses others', async () => {
    const url = await cluster().createDatabase();
    const layout = MIGRATIONS.length;
    await migrate({ url, pool: 1 }, [...MIGRATIONS, next(layout)]);
    await migrate({ url, pool: 1 });
    await migrate({ url, pool: 1 }, [...MIGRATIONS, next(layout), { readableBy: layout + 1, statements: 'SELECT 1' }]);
    await expect(migrate({ url, pool: 1 })).rejects.toThrow(
      `was migrated by a newer Octavo (layout ${layout + 2}; this version supports up to ${layout}); run that version or a newer one`,
    );
    await migrate({ url, pool: 1 }, [...MIGRATIONS, next(layout)]);
  });

  test('are not run by a command that only reads', async () => {
    const url = await cluster().createDatabase();
    const older = /has no tables of Octavo, or those of an older version/;
    await expect(requireTables({ url, pool: 1 })).rejects.toThrow(older);
    expect(await cluster().query("SELECT to_regnamespace('octavo') AS found", nameOf(url))).toEqual([{ found: null }]);
    await migrate({ url, pool: 1 });
    await requireTables({ url, pool: 1 });
    await expect(requireTables({ url, pool: 1 }, [...MIGRATIONS, next(1)])).rejects.toThrow(older);
    expect(await cluster().query('SELECT number FROM octavo.migration', nameOf(url))).toHaveLength(MIGRATIONS.length);
  });

  test('refuse a database that they cannot use, and say what to do', async () => {
    const ascii = await cluster().createDatabase("ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0");
    await expect(migrate({ url: ascii, pool: 1 })).rejects.toThrow(/has the encoding SQL_ASCII; create another one/);

    const foreign = await cluster().createDatabase();
    await cluster().query('CREATE SCHEMA octavo; CREATE TABLE octavo.mine (id int)', nameOf(foreign));
    await expect(migrate({ url: foreign, pool: 1 })).rejects.toThrow(/schema "octavo" of another program/);

    const closed = await cluster().createDatabase();
    await cluster().query(`CREATE ROLE app LOGIN; REVOKE ALL ON DATABASE ${nameOf(closed)} FROM PUBLIC;
      GRANT CONNECT ON DATABASE ${nameOf(closed)} TO app`);
    const asApp = cluster().url(nameOf(closed), 'app');
    await expect(migrate({ url: asApp, pool: 1 })).rejects.toThrow(/GRANT CREATE ON DATABASE/);
    await cluster().query(`GRANT CREATE ON DATABASE ${nameOf(closed)} TO app`);
    await migrate({ url: asApp, pool: 1 });

    await expect(migrate({ url: cluster().url('none'), pool: 1 })).rejects.toThrow(/does not exist; create it/);
    await expect(migrate({ url: 'postgres://u@127.0.0.1:1/d', pool: 1 })).rejects.toThrow(/cannot be reached/);
  });

  test('use an empty schema that an administrator has created for a user without further permissions', async () => {
    const url = await cluster().createDatabase();
    await cluster().query('CREATE ROLE owner LOGIN; CREATE SCHEMA octavo AUTHORIZATION owner', nameOf(url));
    await migrate({ url: cluster().url(nameOf(url), 'owner'), pool: 1 });
    expect(await cluster().query('SELECT number FROM octavo.migration', nameOf(url))).toHaveLength(MIGRATIONS.length);
  });
});
