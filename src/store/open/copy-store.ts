/** Reads all tables of a store: copies them into an empty one, and checks them. See docs/fleet.md#set-up. */
import { createHash } from 'node:crypto';
import { CancelledError, ConfigError, StoreError } from '../../core/errors.ts';
import { append } from '../../core/lists.ts';
import { insertNewRows, type Sql, type SqlDatabase, type SqlRow, type SqlValue } from '../sql/database.ts';
import type { OpenDatabase } from './open-store.ts';

/** Table with a primary key. */
interface StoredTable {
  readonly name: string;
  readonly key: readonly string[];
  /** Columns that contain JSON. */
  readonly json?: readonly string[];
  /** The key is a number that the database assigns. */
  readonly isNumbered?: boolean;
}

/** Tables that are not copied: requests and states of running replicas, which would be wrong elsewhere. */
export const TRANSIENT_TABLES = ['command', 'organization_state'];

const of = (...key: readonly string[]) => ['organization', ...key];

/** All other tables. */
export const STORED_TABLES: readonly StoredTable[] = [
  { name: 'head', key: of() },
  { name: 'entry', key: of('address'), json: ['fields', 'metadata'] },
  { name: 'decision', key: of('checksum', 'method', 'actor') },
  { name: 'note', key: ['topic'], json: ['value'] },
  { name: 'session', key: ['id'], json: ['data'] },
  { name: 'commit_status', key: of('commit_id', 'context'), json: ['record'] },
  { name: 'pass', key: of('number'), json: ['counts', 'plan'] },
  { name: 'pass_change', key: of('address', 'pass', 'action') },
  { name: 'audit', key: of('number') },
  { name: 'manual_pause', key: of('address') },
  { name: 'fact', key: ['reporter', 'key'], json: ['fact'] },
  { name: 'condition', key: ['id'], json: ['fact', 'starts'] },
  { name: 'notification_event', key: ['id'], json: ['event', 'channels'] },
  { name: 'notification_delivery', key: ['number'], json: ['about'], isNumbered: true },
  { name: 'notified', key: ['channel', 'condition'] },
  { name: 'content', key: ['id'], isNumbered: true },
  { name: 'conversation', key: of('key') },
  { name: 'outbox', key: of() },
  { name: 'source', key: of('name'), json: ['cursor'] },
  { name: 'source_count', key: of('source', 'name') },
  { name: 'day_count', key: of('day', 'name') },
  { name: 'left_out', key: of('key') },
  { name: 'hint', key: ['mark'], isNumbered: true },
  { name: 'delivery', key: of('source', 'id') },
  { name: 'recheck', key: ['content'] },
  { name: 'processed', key: of('source', 'item') },
  { name: 'mail_link', key: of('id') },
  { name: 'mail', key: of('thread', 'id') },
];

/** Content of a table in short: equal checksums mean equal rows. */
export interface TableSummary {
  readonly name: string;
  readonly rows: number;
  readonly checksum: string;
}

const FIRST_PAGE = 16;
const MAX_PAGE = 500;
/** Length of the texts of a page, in UTF-16 units, above which the next one has fewer rows. */
const PAGE_LENGTH = 1024 * 1024;

/** Reads the rows of a table in the order of its key. */
export async function* readPages(sql: Sql, { name, key }: StoredTable): AsyncGenerator<readonly SqlRow[]> {
  const columns = key.join(', ');
  const order = `ORDER BY ${columns} LIMIT ?`;
  const next = `SELECT * FROM ${name} WHERE (${columns}) > (${key.map(() => '?').join(', ')}) ${order}`;
  let size = FIRST_PAGE;
  let rows = await sql.all(`SELECT * FROM ${name} ${order}`, size);
  while (rows.length > 0) {
    yield rows;
    const last = rows.at(-1);
    const isLong = lengthOf(rows) > PAGE_LENGTH;
    size = isLong ? Math.max(1, Math.floor(rows.length / 2)) : Math.min(MAX_PAGE, size * 2);
    rows = await sql.all(next, ...key.map((column) => last?.[column] as SqlValue), size);
  }
}

function lengthOf(rows: readonly SqlRow[]): number {
  let length = 0;
  for (const row of rows) {
    for (const value of Object.values(row)) {
      length += typeof value === 'string' ? value.length : 0;
    }
  }
  return length;
}

/** Running checksum of a table. The order of columns does not matter, that of rows does. */
class TableChecksum {
  readonly #hash = createHash('sha256');
  #rows = 0;

  add(rows: readonly SqlRow[]): void {
    for (const row of rows) {
      const columns = Object.keys(row).sort();
      this.#hash.update(`${JSON.stringify(columns.map((column) => row[column]))}\n`);
    }
    this.#rows += rows.length;
  }

  /** Ends the computation. */
  summary(name: string): TableSummary {
    return { name, rows: this.#rows, checksum: this.#hash.digest('hex') };
  }
}

interface StoreCopy {
  readonly tables: readonly TableSummary[];
  /** Texts with characters that PostgreSQL cannot store, which were replaced by U+FFFD. */
  readonly replaced: number;
}

const LONGEST_PAUSE = '1h';

/**
 * Copies all tables in one transaction, reads them back and compares the checksums. Throws ConfigError if the target is
 * not empty or a replica uses one of the stores, and StoreError if a checksum differs; the target stays empty then.
 */
export async function copyStore(from: OpenDatabase, to: OpenDatabase, signal: AbortSignal): Promise<StoreCopy> {
  await requireUnused(from);
  await requireUnused(to);
  return from.database.read(async (source) => {
    await allowPauses(source, from);
    return to.database.write('copy', async (target) => {
      await allowPauses(target, to);
      await requireEmpty(target, to.name);
      const copies: TableCopy[] = [];
      for (const table of STORED_TABLES) {
        const copy = await copyTable(source, target, table, to.isPostgres, signal);
        const { name, rows, checksum } = copy.summary;
        const { summary: stored } = await checkTable(target, { ...table, json: [] });
        if (stored.checksum !== checksum) {
          throw new StoreError(
            `the copy of the table ${name} differs from the original (${stored.rows} of ${rows} rows); nothing was stored`,
          );
        }
        copies.push(copy);
      }
      return {
        tables: copies.map(({ summary }) => summary),
        replaced: copies.reduce((sum, { replaced }) => sum + replaced, 0),
      };
    });
  });
}

/** PostgreSQL ends a transaction that sends nothing for a few seconds; here, one waits while the other reads a whole table. */
async function allowPauses(sql: Sql, { isPostgres }: OpenDatabase): Promise<void> {
  if (isPostgres) {
    await sql.all(`SELECT set_config('idle_in_transaction_session_timeout', '${LONGEST_PAUSE}', true)`);
  }
}

async function requireUnused({ name, replicas }: OpenDatabase): Promise<void> {
  const running = await replicas();
  if (running.length > 0) {
    const addresses = running.map(({ address }) => address).join(', ');
    throw new ConfigError(`${name} is in use by running replicas (${addresses}); stop them first`);
  }
}

async function requireEmpty(sql: Sql, name: string): Promise<void> {
  for (const table of STORED_TABLES) {
    if ((await sql.get(`SELECT 1 AS found FROM ${table.name} LIMIT 1`)) !== undefined) {
      throw new ConfigError(`${name} is not empty (table ${table.name}); copy into a new file or database`);
    }
  }
}

interface TableCopy {
  readonly summary: TableSummary;
  readonly replaced: number;
}

async function copyTable(
  source: Sql,
  target: Sql,
  table: StoredTable,
  isPostgres: boolean,
  signal: AbortSignal,
): Promise<TableCopy> {
  const { name, key, isNumbered = false } = table;
  const checksum = new TableChecksum();
  let replaced = 0;
  const toStorable = (value: unknown) => {
    if (typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed())) {
      return value;
    }
    replaced += 1;
    return value.toWellFormed().replaceAll('\0', '\ufffd');
  };
  for await (const page of readPages(source, table)) {
    if (signal.aborted) {
      throw new CancelledError('interrupted; nothing was stored');
    }
    const columns = Object.keys(page[0] ?? {}).filter((column) => !key.includes(column));
    const rows = isPostgres
      ? page.map((row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [column, toStorable(value)])))
      : page;
    checksum.add(rows);
    const values = rows.map((row) => [...key, ...columns].map((column) => row[column] as SqlValue));
    await insertNewRows(target, { table: name, key, columns, rows: values });
  }
  if (isPostgres && isNumbered) {
    const [column = ''] = key;
    await target.all(
      `SELECT setval(pg_get_serial_sequence('${name}', '${column}'), MAX(${column})) FROM ${name} HAVING COUNT(*) > 0`,
    );
  }
  return { summary: checksum.summary(name), replaced };
}

interface StoreCheck {
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

/** Reads a table: computes its checksum, and parses its JSON. */
async function checkTable(sql: Sql, table: StoredTable) {
  const { name, key, json = [] } = table;
  const checksum = new TableChecksum();
  const findings: string[] = [];
  let damaged = 0;
  for await (const rows of readPages(sql, table)) {
    checksum.add(rows);
    for (const row of rows) {
      const columns = json.filter((column) => !isJson(row[column]));
      damaged += columns.length;
      for (const column of columns.slice(0, MAX_LISTED - findings.length)) {
        const id = key.map((part) => JSON.stringify(row[part])).join(' ');
        findings.push(`${name} ${id}: the column ${column} is not JSON`);
      }
    }
  }
  if (damaged > findings.length) {
    findings.push(`${name}: ${damaged - findings.length} more are not JSON`);
  }
  return { summary: checksum.summary(name), findings };
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

/** Sizes of outboxes as they are counted, and of their content; `counts` is 0 for content without an outbox. */
const SIZES = `SELECT organization, SUM(counts) AS counts, SUM(items) AS items, SUM(bytes) AS bytes,
    SUM(own_items) AS "ownItems", SUM(own_bytes) AS "ownBytes" FROM (
    SELECT organization, 1 AS counts, items, bytes, 0 AS own_items, 0 AS own_bytes FROM outbox
    UNION ALL SELECT organization, 0, 0, 0, COUNT(*), SUM(bytes) FROM content GROUP BY organization
  ) AS sizes GROUP BY organization ORDER BY counts DESC, organization`;

interface SizeRow extends Record<'counts' | 'items' | 'bytes' | 'ownItems' | 'ownBytes', number> {
  readonly organization: string;
}

/** Compares the size of each outbox with its content. */
async function checkSums(sql: Sql): Promise<readonly string[]> {
  const rows = await sql.all<SizeRow>(SIZES);
  return rows.flatMap(({ organization, counts, items, bytes, ownItems, ownBytes }) => {
    const outbox = `the outbox of ${JSON.stringify(organization)}`;
    if (counts === 0) {
      return [`${outbox} has content that is not counted`];
    }
    const isRight = items === ownItems && bytes === ownBytes;
    return isRight ? [] : [`${outbox} counts ${items} items of ${bytes} bytes, but has ${ownItems} of ${ownBytes}`];
  });
}
