import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import { parsePostgresUrl } from '../../../src/core/postgres-url.ts';
import { openPostgresDatabase } from '../../../src/store/postgres/database.ts';
import { PostgresErrors } from '../../../src/store/postgres/errors.ts';
import { NAMES } from '../../support/certificates.ts';
import { HOSTILE_TEXTS } from '../../support/hostile-texts.ts';
import { hasPostgres } from '../../support/postgres.ts';
import { shareCluster } from '../../support/shared-cluster.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';

const PASSWORD = 's3cret/p@ss word';
const URL = `postgres://octavo:${encodeURIComponent(PASSWORD)}@db.example/octavo`;

function errorsOf(url: string): PostgresErrors {
  const parsed = parsePostgresUrl(url);
  if (typeof parsed === 'string') {
    throw new Error(parsed);
  }
  return new PostgresErrors(parsed);
}

describe('the URL of a database', () => {
  test.each([
    ['postgres://u@h/d', { host: 'h', port: 5432, user: 'u', database: 'd', password: '', sslMode: 'verify-full' }],
    ['postgresql://u:p%40%2F@127.0.0.1:6/d', { host: '127.0.0.1', port: 6, password: 'p@/', sslMode: 'disable' }],
    ['postgres://u@[::1]:7/d', { host: '::1', port: 7, sslMode: 'disable' }],
    ['postgres://u:p@/d?host=/run/postgresql', { host: '/run/postgresql', password: 'p', sslMode: 'disable' }],
    ['postgres://u@%2Frun%2Fpg/d', { host: '/run/pg', sslMode: 'disable' }],
    ['postgres://u@h/d?sslmode=require&port=9', { port: 9, sslMode: 'require' }],
    ['postgres://%C3%BC@h/%C3%A4%20b', { user: 'ü', database: 'ä b' }],
  ])('%s is understood', (url, expected) => {
    expect(parsePostgresUrl(url)).toMatchObject(expected);
  });

  test.each([
    'postgres://u:private@h1:1,h2:2/d',
    'postgres://u:private@h/a/b',
    'postgres://:private@h/d',
    'postgres://u:private%ff@h/d',
    'postgres://u:private@h/d?options=-c%20x',
    'postgres://u:private@h:0/d',
    'postgres://u:12?private@h/d',
    'postgres://u:p@h/d?private@h2/d',
    'postgres://u:p@h/private@h2',
    'postgres://u:p@h?private@h2/d',
    'http://u:private@h/d',
    'private',
  ])('%s is refused without being shown', (url) => {
    expect(parsePostgresUrl(url)).toEqual(expect.any(String));
    expect(parsePostgresUrl(url)).not.toContain('private');
  });
});

describe('errors of a database', () => {
  const errors = errorsOf(URL);
  const FORMS = [PASSWORD, encodeURIComponent(PASSWORD)];

  test('never contain the password, whatever the server answers', () => {
    const codes = ['28P01', '08006', 'XX000', '42P01', '22P02', '23505', '57014', 'ECONNREFUSED', '', 'nonsense'];
    for (const code of codes) {
      for (const text of [...HOSTILE_TEXTS, ...FORMS, `x${PASSWORD}${PASSWORD}`, `cannot connect to ${URL}`]) {
        const message = `${text} ${FORMS.join(' ')}`;
        const raw = Object.assign(new Error(message), {
          code,
          detail: message,
          hint: message,
          where: message,
          query: message,
        });
        const error = errors.convert(raw);
        expect(error).toBeInstanceOf(StoreError);
        expect(error.message).not.toMatch(/\p{Cc}/u);
        for (const form of FORMS) {
          expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(form);
        }
      }
    }
  });

  test('are short, and never quote the values of rows', () => {
    const long = errors.convert(Object.assign(new Error('x'.repeat(100_000)), { code: 'XX000' }));
    expect(long.message.length).toBeLessThan(600);
    const raw = Object.assign(new Error('duplicate key: (ana@example.com)'), {
      code: '23505',
      detail: 'ana@example.com',
    });
    expect(inspect(errors.convert(raw), { depth: 9 })).not.toContain('ana@example.com');
  });
});

describe.runIf(hasPostgres)('connections', () => {
  const ca = NAMES.cert;
  const cluster = shareCluster({
    settings: { ssl: 'on', ssl_cert_file: "'server.crt'", ssl_key_file: "'server.key'" },
    files: { 'server.crt': ca, 'server.key': NAMES.key },
  });

  const connect = async (host: string, mode: string, authority?: string) => {
    const url = cluster().url().replace('127.0.0.1', host);
    const database = await openPostgresDatabase({ url: `${url}?sslmode=${mode}`, pool: 1, ca: authority });
    const row = await database.read((sql) =>
      sql.get(
        'SELECT ssl, application_name FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE pid = pg_backend_pid()',
      ),
    );
    await database.close();
    return row;
  };

  test('are encrypted and verified as sslmode says', async () => {
    expect(await connect('localhost', 'verify-full', ca)).toMatchObject({ ssl: 1 });
    expect(await connect('127.0.0.1', 'verify-ca', ca)).toMatchObject({ ssl: 1 });
    expect(await connect('127.0.0.1', 'require')).toMatchObject({ ssl: 1 });
    expect(await connect('127.0.0.1', 'disable')).toMatchObject({ ssl: 0 });
    await expect(connect('127.0.0.1', 'verify-full', ca)).rejects.toThrow(/certificate that is not trusted/);
    await expect(connect('localhost', 'verify-full')).rejects.toThrow(/certificate that is not trusted; set store.ca/);
    await expect(connect('localhost', 'verify-ca')).rejects.toThrow(/certificate that is not trusted/);
  });

  test('that are encrypted are given up, too, when their answers are lost', async () => {
    await using proxy = await TcpProxy.open({ port: cluster().port });
    const url = new globalThis.URL(cluster().url());
    url.port = String(proxy.port);
    url.searchParams.set('sslmode', 'require');
    // The test fails by its own limit if a call waits for these.
    const limits = { statementTimeout: 600_000, connectTimeout: 60_000, silenceLimit: 600 };
    const database = await openPostgresDatabase({ url: String(url), pool: 1, ...limits });
    const repeat = async (count: number) => {
      const row = await database.read((sql) => sql.get("SELECT repeat('x', ?) AS text", count));
      return String(row?.text).length;
    };
    expect(await repeat(1_000_000)).toBe(1_000_000);
    proxy.abandon();
    expect(await repeat(1)).toBe(1);
    await database.close();
  }, 60_000);

  test('have the address of the replica as their name', async () => {
    expect((await connect('127.0.0.1', 'disable'))?.application_name).toMatch(new RegExp(`^octavo .* ${process.pid}$`));
  });

  test('a server without TLS is an error that says so', async () => {
    await cluster().query('ALTER SYSTEM SET ssl = off');
    await cluster().query('SELECT pg_reload_conf()');
    await expect.poll(() => cluster().query('SHOW ssl')).toEqual([{ ssl: 'off' }]);
    const url = `${cluster().url()}?sslmode=require`;
    await expect(openPostgresDatabase({ url, pool: 1 })).rejects.toThrow(/does not support encrypted connections/);
  });
});
