import { describe, expect, test } from 'vitest';
import { storeName } from '../../src/config/store.ts';
import { configOf, problemsIn } from './loading.ts';

const BASE = 'platform: { token: t0ken-value }\norganizations:\n  - { id: org_1, source: { directory: /m } }\n';
const URL = 'postgres://octavo:s3cret%2Fpw@db.example:6432/octavo';

const load = (store: string, env: Record<string, string> = {}) =>
  configOf(`${BASE}${store}\n`, { env, readFile: () => '-----BEGIN CERTIFICATE-----\n' });

describe('the setting "store"', () => {
  test.each([
    ['', { path: 'octavo.db' }],
    ['store: {}', { path: 'octavo.db' }],
    ['store: /var/lib/octavo.db', { path: '/var/lib/octavo.db' }],
    ['store: { path: other.db }', { path: 'other.db' }],
    [`store: ${URL}`, { url: URL, pool: 10 }],
    [`store: { url: "${URL}?sslmode=require", pool: 3 }`, { url: `${URL}?sslmode=require`, pool: 3 }],
    [`store: { url: "${URL}", ca: "\${file:ca.pem}" }`, { url: URL, pool: 10, ca: '-----BEGIN CERTIFICATE-----' }],
  ])('accepts %j', (text, expected) => {
    expect(load(text).store).toEqual(expected);
  });

  test('names the directory of the socket and the checkouts: that of the file, or one of its own', () => {
    expect(load('store: /var/lib/octavo/octavo.db').runtime).toEqual({ directory: '/var/lib/octavo' });
    expect(load(`store: ${URL}`).runtime).toEqual({ directory: 'octavo-runtime' });
    expect(load(`store: ${URL}\nruntime: { directory: /run/octavo }`).runtime).toEqual({ directory: '/run/octavo' });
  });

  test.each([
    ['store: postgres://db.example/octavo', '4:8: store.url: this must name a user and a database; use postgres://'],
    [
      'store:\n  url: postgres://u:very#private@h/d',
      '5:8: store.url: this is not the URL of a PostgreSQL database with one host; use postgres://',
    ],
    ['store:\n  url: postgres://u:private@h1,h2/d?a=b', '5:8: store.url: this has an unsupported parameter "a"'],
    ['store: { url: "postgres://u@h/d?sslmode=prefer" }', 'store.url: this has an unsupported sslmode; use disable,'],
    ['store: { url: mysql://u:private@h/d }', 'store.url: this is not the URL of a PostgreSQL database'],
    [`store: { path: a.db, url: "${URL}" }`, 'store: this names both a state file and a database; keep either'],
    ['store: { path: a.db, pool: 5 }', 'store: this has settings of a database without store.url'],
    [`store: { url: "${URL}", pool: 0 }`, 'store.pool: 0 is not valid; expected a whole number from 1 to 1000'],
    ['store: { uri: x }', '4:10: store.uri: unknown setting; did you mean "url"?'],
    ['store: mysql://u:private@h/d', 'store.path: this is a URL, not the path of a state file; set store.url to'],
    [`store: { path: "${URL}" }`, '4:16: store.path: this is a URL, not the path of a state file; set store.url to'],
    ['store: [a]', 'store: this is not valid; expected a mapping'],
    ['store: { url: 5 }', 'store.url: this is not valid; expected postgres://USER:PASSWORD@HOST:5432/DATABASE'],
  ])('refuses %j, and shows no password', (text, expected) => {
    const problems = problemsIn(() => load(text)).join('\n');
    expect(problems).toContain(expected);
    expect(problems).not.toMatch(/private|s3cret/);
  });

  test('treats the password as a secret, in every encoding', () => {
    for (const text of [`store: ${URL}`, `store: { url: "${URL}" }`, `store: "\${env:DB}"`]) {
      expect([...load(text, { DB: URL }).secrets]).toEqual(expect.arrayContaining(['s3cret%2Fpw', 's3cret/pw']));
    }
    const socket = load('store: postgres://u:pa55%2Fword@/d?host=/run/postgresql');
    expect([...socket.secrets]).toEqual(expect.arrayContaining(['pa55%2Fword', 'pa55/word']));
    const split = load(`store: "postgres://u:\${env:PASSWORD}@h/d"`, { PASSWORD: 'pa55word' });
    expect([...split.secrets]).toContain('pa55word');
  });

  test('does not treat the path of a state file as a secret', () => {
    for (const text of [`store: "\${env:STATE}"`, `store: { path: "\${env:STATE}" }`]) {
      expect([...load(text, { STATE: '/data/octavo.db' }).secrets]).toEqual(['t0ken-value']);
    }
  });

  test('has a name for messages, without the password', () => {
    expect(storeName(load('store: a.db').store)).toBe('a.db');
    expect(storeName(load(`store: ${URL}`).store)).toBe('the PostgreSQL database "octavo" at db.example:6432');
  });
});
