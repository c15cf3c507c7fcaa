/** Content that must be checked again at its source, and when. */
import type { Recheck } from './outbox.ts';
import type { OutboxSql } from './tables.ts';

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
