/** Progress of each source: cursors, hints, deliveries, and content that must be checked again. */
import type { Json } from '../../core/json.ts';
import { inNumbers, inTexts } from '../sql/database.ts';
import type { Hint, ProcessedChange, Recheck, SourcePosition } from './outbox.ts';
import type { OutboxSql } from './tables.ts';

/** Milliseconds for which the ids of webhook requests are remembered: senders repeat them for up to three days. */
const DELIVERIES_KEPT = 4 * 24 * 3_600_000;

export async function readPosition({ sql, organization, parse }: OutboxSql, source: string): Promise<SourcePosition> {
  const row = await sql.get(
    'SELECT cursor, since, round FROM source WHERE organization = ? AND name = ?',
    ...[organization, source],
  );
  return {
    cursor: parse(row?.cursor ?? 'null'),
    since: row?.since == null ? null : Number(row.since),
    round: Number(row?.round ?? 0),
  };
}

export async function moveCursor({ sql, organization }: OutboxSql, source: string, cursor: Json): Promise<void> {
  await sql.run(
    `INSERT INTO source (organization, name, cursor) VALUES (?, ?, ?)
     ON CONFLICT (organization, name) DO UPDATE SET cursor = excluded.cursor`,
    ...[organization, source, JSON.stringify(cursor)],
  );
}

export async function recordPoll({ sql, organization }: OutboxSql, source: string, at: number): Promise<void> {
  await sql.run(
    `INSERT INTO source (organization, name, polled_at) VALUES (?, ?, ?)
     ON CONFLICT (organization, name) DO UPDATE SET polled_at = excluded.polled_at`,
    ...[organization, source, at],
  );
}

/** Starts a new round, so that a poll that is running does not restore the old cursor. */
export async function resetSource({ sql, organization }: OutboxSql, source: string, since: number): Promise<void> {
  await sql.run(
    `INSERT INTO source (organization, name, since, round) VALUES (?, ?, ?, 1)
     ON CONFLICT (organization, name)
     DO UPDATE SET since = excluded.since, cursor = 'null', round = source.round + 1`,
    ...[organization, source, since],
  );
  await sql.run('DELETE FROM processed WHERE organization = ? AND source = ?', organization, source);
}

export async function readProcessed({ sql, organization }: OutboxSql, source: string): Promise<Set<string>> {
  const rows = await sql.all(
    'SELECT item FROM processed WHERE organization = ? AND source = ?',
    ...[organization, source],
  );
  return new Set(rows.map(({ item }) => String(item)));
}

export async function changeProcessed(
  { sql, organization }: OutboxSql,
  source: string,
  { add, remove }: ProcessedChange = { add: [], remove: [] },
): Promise<void> {
  if (remove.length > 0) {
    await sql.run(
      `DELETE FROM processed WHERE organization = ? AND source = ? AND ${inTexts(sql, 'item')}`,
      ...[organization, source, JSON.stringify(remove)],
    );
  }
  if (add.length > 0) {
    // The condition separates SELECT from ON CONFLICT in SQLite.
    await sql.run(
      `INSERT INTO processed (organization, source, item)
       SELECT CAST(? AS TEXT), CAST(? AS TEXT), value FROM ${sql.jsonItems('?')} WHERE true ON CONFLICT DO NOTHING`,
      ...[organization, source, JSON.stringify(add)],
    );
  }
}

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

/** Stores hints. A repeated one gets another mark. */
export async function addHints(
  { sql, organization }: OutboxSql,
  source: string,
  hinted: readonly string[],
): Promise<void> {
  if (hinted.length === 0) {
    return;
  }
  const ids = JSON.stringify([...new Set(hinted.toReversed())].reverse());
  await sql.run(
    `DELETE FROM hint WHERE organization = ? AND source = ? AND ${inTexts(sql, 'id')}`,
    ...[organization, source, ids],
  );
  await sql.run(
    `INSERT INTO hint (organization, source, id)
     SELECT CAST(? AS TEXT), CAST(? AS TEXT), value FROM ${sql.jsonItems('?')}`,
    ...[organization, source, ids],
  );
}

export async function readHints({ sql, organization }: OutboxSql, source: string, most: number): Promise<Hint[]> {
  const rows = await sql.all(
    'SELECT id, mark FROM hint WHERE organization = ? AND source = ? ORDER BY mark LIMIT ?',
    ...[organization, source, most],
  );
  return rows.map(({ id, mark }) => ({ id: String(id), mark: Number(mark) }));
}

/** Deletes hints. One that arrived again in the meantime has another mark and is kept. */
export async function answerHints(
  { sql, organization }: OutboxSql,
  source: string,
  hints: readonly Hint[],
): Promise<void> {
  if (hints.length > 0) {
    await sql.run(
      `DELETE FROM hint WHERE organization = ? AND source = ? AND ${inNumbers(sql, 'mark')}`,
      ...[organization, source, JSON.stringify(hints.map(({ mark }) => mark))],
    );
  }
}

const DUE = 'FROM recheck WHERE organization = ? AND source = ? AND at IS NOT NULL';

export async function readRechecks(
  { sql, organization }: OutboxSql,
  source: string,
  now: number,
  most: number,
): Promise<Recheck[]> {
  const rows = await sql.all(
    `SELECT key, id ${DUE} AND at <= ? ORDER BY at, content LIMIT ?`,
    ...[organization, source, now, most],
  );
  return rows.map(({ key, id }) => ({ key: String(key), id: String(id) }));
}

export async function readRecheckTime({ sql, organization }: OutboxSql, source: string): Promise<number | null> {
  const row = await sql.get(`SELECT MIN(at) AS at ${DUE}`, organization, source);
  return row?.at == null ? null : Number(row.at);
}

export async function postponeRecheck(
  { sql, organization }: OutboxSql,
  source: string,
  key: string,
  until: number,
): Promise<void> {
  await sql.run(
    'UPDATE recheck SET at = ? WHERE organization = ? AND source = ? AND key = ? AND at IS NOT NULL',
    ...[until, organization, source, key],
  );
}
