/** Dead letters: content that the platform refused. */
import type { DeadFilter, DeadLetter } from './outbox.ts';
import { type OutboxSql, removeContent } from './tables.ts';

const LETTER = 'key, source, reason, at, bytes';

export async function listDeadLetters(
  { sql, organization }: OutboxSql,
  filter: DeadFilter,
  most: number,
): Promise<DeadLetter[]> {
  const { condition, values } = matching(filter);
  const rows = await sql.all(
    `SELECT ${LETTER} FROM content WHERE organization = ? AND ${condition} ORDER BY at, id LIMIT ?`,
    ...[organization, ...values, most],
  );
  return rows.map(toLetter);
}

export async function readDeadLetter(
  { sql, organization }: OutboxSql,
  key: string,
): Promise<(DeadLetter & { readonly payload: string }) | null> {
  const row = await sql.get(
    `SELECT ${LETTER}, payload FROM content WHERE organization = ? AND key = ? AND state = 'dead'`,
    ...[organization, key],
  );
  return row === undefined ? null : { ...toLetter(row), payload: String(row.payload) };
}

/** Moves dead letters back to waiting. Returns their number. */
export async function retryDeadLetters(
  { sql, organization }: OutboxSql,
  filter: DeadFilter,
  now: number,
): Promise<number> {
  const { condition, values } = matching(filter);
  // The conversation may have changed since its content was refused.
  await sql.run(
    `UPDATE recheck SET at = ? WHERE content IN (SELECT id FROM content WHERE organization = ? AND ${condition})`,
    ...[now, organization, ...values],
  );
  return sql.run(
    `UPDATE content SET state = 'waiting', reason = NULL, at = ?, since = ? WHERE organization = ? AND ${condition}`,
    ...[now, now, organization, ...values],
  );
}

/** Deletes dead letters; the same content is not accepted again. Returns their number. */
export async function dropDeadLetters(context: OutboxSql, filter: DeadFilter): Promise<number> {
  const { sql, organization } = context;
  const { condition, values } = matching(filter);
  await sql.run(
    `INSERT INTO conversation (organization, key, source, dismissed)
     SELECT organization, key, source, hash FROM content WHERE organization = ? AND ${condition}
     ON CONFLICT (organization, key) DO UPDATE SET dismissed = excluded.dismissed`,
    ...[organization, ...values],
  );
  return (await removeContent(context, condition, ...values)).length;
}

function matching({ source, key }: DeadFilter): { readonly condition: string; readonly values: readonly string[] } {
  const conditions = ["state = 'dead'", ...(source === undefined ? [] : ['source = ?'])];
  return {
    condition: [...conditions, ...(key === undefined ? [] : ['key = ?'])].join(' AND '),
    values: [source, key].filter((value) => value !== undefined),
  };
}

function toLetter(row: Readonly<Record<string, unknown>>): DeadLetter {
  return {
    key: String(row.key),
    source: String(row.source),
    reason: String(row.reason),
    at: Number(row.at),
    bytes: Number(row.bytes),
  };
}
