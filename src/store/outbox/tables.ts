/** Shared parts of the outbox: rows of content, the amount of stored content, and the state of a source. */
import type { Sql, SqlValue } from '../sql/database.ts';
import type { OutboxLimit, SourcePosition } from './outbox.ts';

export type ContentState = 'waiting' | 'sending' | 'dead';

/** Transaction on the outbox of one organization. */
export interface OutboxSql {
  readonly sql: Sql;
  readonly organization: string;
}

export async function readStored({ sql, organization }: OutboxSql): Promise<OutboxLimit> {
  const row = await sql.get<OutboxLimit>('SELECT items, bytes FROM outbox WHERE organization = ?', organization);
  return row ?? { items: 0, bytes: 0 };
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

/** Row of content that was changed or deleted. */
export interface ContentRow {
  readonly source: string;
  readonly bytes: number;
}

/** Deletes content of the organization, its payloads and its checks. */
export async function deleteContent(
  { sql, organization }: OutboxSql,
  condition: string,
  ...values: readonly SqlValue[]
): Promise<readonly ContentRow[]> {
  const matching = `FROM content WHERE organization = ? AND ${condition}`;
  await sql.run(`DELETE FROM recheck WHERE content IN (SELECT id ${matching})`, organization, ...values);
  return sql.all<ContentRow>(`DELETE ${matching} RETURNING source, bytes`, organization, ...values);
}

/** Deletes content and subtracts it from the amount of stored content. */
export async function removeContent(
  context: OutboxSql,
  condition: string,
  ...values: readonly SqlValue[]
): Promise<readonly ContentRow[]> {
  const rows = await deleteContent(context, condition, ...values);
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  await changeStored(context, { items: -rows.length, bytes: -bytes });
  return rows;
}

export async function readPosition({ sql, organization }: OutboxSql, source: string): Promise<SourcePosition> {
  const row = await sql.get<{ cursor: string; since: number | null; round: number }>(
    'SELECT cursor, since, round FROM source WHERE organization = ? AND name = ?',
    ...[organization, source],
  );
  return row === undefined ? { cursor: null, since: null, round: 0 } : { ...row, cursor: sql.parse(row.cursor) };
}

/** Milliseconds for which the ids of webhook requests are remembered: senders repeat them for up to three days. */
const DELIVERIES_KEPT = 4 * 24 * 3_600_000;

/** Returns false if the delivery was already remembered. */
export async function rememberDelivery(
  { sql, organization }: OutboxSql,
  source: string,
  delivery: string,
  at: number,
): Promise<boolean> {
  await sql.run('DELETE FROM delivery WHERE at < ?', at - DELIVERIES_KEPT);
  const added = await sql.run(
    'INSERT INTO delivery (organization, source, id, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    ...[organization, source, delivery, at],
  );
  return added > 0;
}
