import type { DatabaseSync } from 'node:sqlite';

const FIRST = ['head', 'entry', 'approval'];

/** Changes a state file to the layout of the first version: without the tables of later layouts. */
export function toFirstLayout(database: DatabaseSync): void {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  for (const name of tables.map((table) => String(table.name))) {
    if (!FIRST.includes(name) && !name.startsWith('sqlite_')) {
      database.exec(`DROP TABLE "${name}"`);
    }
  }
  database.exec('ALTER TABLE entry RENAME COLUMN metadata TO marks; PRAGMA user_version = 1');
}
