/** Shared parts of the outbox: rows of content, the amount of stored content, and the counters. */
import type { Json } from '../../core/json.ts';
import { rowBatches, type Sql, type SqlRow, type SqlValue } from '../sql/database.ts';
import type { OutboxLimit } from './outbox.ts';

export type ContentState = 'waiting' | 'sending' | 'dead';

/** Transaction on the outbox of one organization. */
export interface OutboxSql {
  readonly sql: Sql;
  readonly organization: string;
  /** Parses stored JSON. Throws StoreError. */
  parse(text: unknown): Json;
}

export async function readStored({ sql, organization }: OutboxSql): Promise<OutboxLimit> {
  const row = await sql.get('SELECT items, bytes FROM outbox WHERE organization = ?', organization);
  return { items: Number(row?.items ?? 0), bytes: Number(row?.bytes ?? 0) };
}

export function isFull(stored: OutboxLimit, limit: OutboxLimit): boolean {
  return stored.items >= limit.items || stored.bytes >= limit.bytes;
}

/** Changes the amount of stored content. */
export async function changeStored({ sql, organization }: OutboxSql, { items, bytes }: OutboxLimit): Promise<void> {
  if (items !== 0 || bytes !== 0) {
    await sql.run(
      `INSERT INTO outbox (organization, items, bytes) VALUES (?, ?, ?) ON CONFLICT (organization)
       DO UPDATE SET items = outbox.items + excluded.items, bytes = outbox.bytes + excluded.bytes`,
      ...[organization, items, bytes],
    );
  }
}

/** Adds to counters of a source; zeros are ignored. */
export async function addCounts(
  { sql, organization }: OutboxSql,
  source: string,
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  const rows = Object.entries(counts).filter(([, by]) => by !== 0);
  for (const { list, values } of rowBatches(
    '(?, ?, ?, ?)',
    rows.map(([name, by]) => [organization, source, name, by]),
  )) {
    await sql.run(
      `INSERT INTO source_count (organization, source, name, value) VALUES ${list}
       ON CONFLICT (organization, source, name) DO UPDATE SET value = source_count.value + excluded.value`,
      ...values,
    );
  }
}

/** Adds the number of rows of each source to a counter. */
export async function countRows(context: OutboxSql, rows: readonly SqlRow[], name: string): Promise<void> {
  for (const [source, { length }] of Map.groupBy(rows, (row) => String(row.source))) {
    await addCounts(context, source, { [name]: length });
  }
}

/** Deletes content of the organization, its payloads and its checks. Returns the source and the size of each. */
export async function deleteContent(
  { sql, organization }: OutboxSql,
  condition: string,
  ...values: readonly SqlValue[]
): Promise<readonly SqlRow[]> {
  const matching = `FROM content WHERE organization = ? AND ${condition}`;
  await sql.run(`DELETE FROM recheck WHERE content IN (SELECT id ${matching})`, organization, ...values);
  return sql.all(`DELETE ${matching} RETURNING source, bytes`, organization, ...values);
}

/** Deletes content and subtracts it from the amount of stored content. Returns the source of each. */
export async function removeContent(
  context: OutboxSql,
  condition: string,
  ...values: readonly SqlValue[]
): Promise<readonly SqlRow[]> {
  const rows = await deleteContent(context, condition, ...values);
  const bytes = rows.reduce((sum, row) => sum + Number(row.bytes), 0);
  await changeStored(context, { items: -rows.length, bytes: -bytes });
  return rows;
}
