/**
 * Fills the history of organizations in a new state file: `node history.js <file> <organizations> <rows of each>`. Each
 * gets this many passes and entries of the audit, over 90 days.
 */
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../src/store/sqlite.ts';

const [file = 'octavo.db', organizations = '1000', rows = '1000'] = process.argv.slice(2);
const DAYS_90 = 90 * 24 * 3_600_000;

await openSqliteStore(file).close();
const database = new DatabaseSync(file);
const first = Date.now() - DAYS_90;
const step = Math.floor(DAYS_90 / Number(rows));
const all = `WITH RECURSIVE
  o(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM o WHERE i + 1 < ${Number(organizations)}),
  n(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM n WHERE j < ${Number(rows)})`;
const at = `${first} + j * ${step}`;
const values = [
  [
    'pass',
    `'commit', printf('%040d', j), 'Change the docs', 'ana@bench.example', 'done', printf('sha256:%064d', j),
    '{"update":1,"applied":1}', 3, 1, 0, 1200.5, NULL, ${at}, ${at}, 1, 'null'`,
  ],
  ['audit', `${at}, 'ana@bench.example', 'oidc', 'approve', printf('sha256:%064d', j), 'looks right', 'done', ''`],
];
database.exec('PRAGMA synchronous = OFF; BEGIN');
for (const [table, columns] of values) {
  database.exec(`${all} INSERT INTO ${table} SELECT printf('org_%04d', i), j, ${columns} FROM o, n`);
}
database.exec('COMMIT');
database.close();
