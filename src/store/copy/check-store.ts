/** Checks the content of a store. */
import { append } from '../../core/lists.ts';
import type { Sql, SqlDatabase, SqlRow } from '../sql/database.ts';
import { readPages, TableChecksum, type TableSummary } from './table-reader.ts';
import { STORED_TABLES, type StoredTable } from './tables.ts';

export interface StoreCheck {
  readonly tables: readonly TableSummary[];
  /** Sentences; empty if all is well. */
  readonly findings: readonly string[];
}

/** Most findings of one kind that are listed. */
const MAX_LISTED = 20;

/** Rules between tables, as statements that count the rows that break them. */
const RULES: readonly (readonly [words: string, statement: string])[] = [
  [
    'changes without their pass',
    `SELECT COUNT(*) AS n FROM pass_change WHERE NOT EXISTS
      (SELECT 1 FROM pass WHERE pass.organization = pass_change.organization AND pass.number = pass_change.pass)`,
  ],
  [
    'checks without the conversation that they belong to',
    'SELECT COUNT(*) AS n FROM recheck WHERE NOT EXISTS (SELECT 1 FROM content WHERE content.id = recheck.content)',
  ],
  [
    'conversations in sending without a batch',
    "SELECT COUNT(*) AS n FROM content WHERE state = 'sending' AND batch IS NULL",
  ],
  [
    'conversations in an unknown state',
    "SELECT COUNT(*) AS n FROM content WHERE state NOT IN ('waiting', 'sending', 'dead')",
  ],
];

/** Reads all tables in one state: computes checksums, parses stored JSON, and checks the rules between tables. */
export function checkStore(database: SqlDatabase): Promise<StoreCheck> {
  return database.read(async (sql) => {
    const tables: TableSummary[] = [];
    const findings: string[] = [];
    for (const table of STORED_TABLES) {
      const checked = await checkTable(sql, table);
      tables.push(checked.summary);
      append(findings, checked.findings);
    }
    for (const [words, statement] of RULES) {
      const count = Number((await sql.get(statement))?.n);
      if (count > 0) {
        findings.push(`${words}: ${count}`);
      }
    }
    append(findings, await checkSums(sql));
    return { tables, findings };
  });
}

async function checkTable(sql: Sql, table: StoredTable) {
  const checksum = new TableChecksum(table);
  const findings: string[] = [];
  let damaged = 0;
  for await (const rows of readPages(sql, table)) {
    checksum.add(rows);
    for (const row of rows) {
      const columns = (table.json ?? []).filter((column) => !isJson(row[column]));
      damaged += columns.length;
      for (const column of columns.slice(0, MAX_LISTED - findings.length)) {
        findings.push(`${table.name} ${nameRow(row, table)}: the column ${column} is not JSON`);
      }
    }
  }
  if (damaged > findings.length) {
    findings.push(`${table.name}: ${damaged - findings.length} more are not JSON`);
  }
  return { summary: checksum.summary(), findings };
}

function nameRow(row: SqlRow, { key }: StoredTable): string {
  return key.map((column) => JSON.stringify(row[column])).join(' ');
}

function isJson(value: unknown): boolean {
  if (value === null) {
    return true;
  }
  try {
    JSON.parse(String(value));
    return true;
  } catch {
    return false;
  }
}

/** Compares the size of each outbox with its content. */
async function checkSums(sql: Sql): Promise<readonly string[]> {
  const rows = await sql.all(
    `SELECT content.organization, COUNT(*) AS items, SUM(content.bytes) AS bytes FROM content
      GROUP BY content.organization`,
  );
  const stored = new Map(rows.map((row) => [String(row.organization), row]));
  const findings: string[] = [];
  for (const row of await sql.all('SELECT * FROM outbox ORDER BY organization')) {
    const actual = stored.get(String(row.organization));
    const [items, bytes] = [Number(actual?.items ?? 0), Number(actual?.bytes ?? 0)];
    if (Number(row.items) !== items || Number(row.bytes) !== bytes) {
      findings.push(
        `the outbox of ${JSON.stringify(row.organization)} counts ${row.items} items of ${row.bytes} bytes, but has ${items} of ${bytes}`,
      );
    }
    stored.delete(String(row.organization));
  }
  for (const organization of stored.keys()) {
    findings.push(`the outbox of ${JSON.stringify(organization)} has content that is not counted`);
  }
  return findings;
}
