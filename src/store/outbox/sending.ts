/** Batches that are being sent to the platform. */
import { largest, smallest } from '../../core/lists.ts';
import { inNumbers } from '../sql/database.ts';
import { countRows } from './counts.ts';
import { type BatchLimits, type ContentRow, type OutboxSql, type OutgoingBatch, removeContent } from './tables.ts';

/**
 * Waiting content that may be sent: not while older content of the same key is being sent, nor while it must be checked
 * again.
 */
const READY = `FROM content AS own WHERE organization = ? AND state = 'waiting'
  AND NOT EXISTS (SELECT 1 FROM recheck WHERE recheck.content = own.id AND recheck.at IS NOT NULL)
  AND NOT EXISTS (
  SELECT 1 FROM content AS older
  WHERE older.organization = own.organization AND older.key = own.key AND older.state = 'sending')`;
const OPEN_BATCHES =
  'SELECT batch AS id, MAX(at) AS at FROM content WHERE organization = ? AND batch IS NOT NULL GROUP BY batch';
/** Matches the content of a batch; its values are the organization and the batch. */
export const OF_BATCH = 'organization = ? AND batch = ?';
const NOT_IN_BATCH = 'batch = NULL, position = NULL, doubts = 0';

/** Batch in flight or in doubt. `at` is the time at which it is sent again. */
interface OpenBatch {
  readonly id: number;
  readonly at: number;
}

/** Marks the batches that an earlier process was sending as in doubt. Returns their number. */
export async function recoverBatches(context: OutboxSql): Promise<number> {
  const rows = await context.sql.all<{ source: string; batch: number }>(
    `UPDATE content SET doubts = 1 WHERE organization = ? AND state = 'sending' AND doubts = 0
     RETURNING source, batch`,
    context.organization,
  );
  await countRows(context, rows, 'doubted', null);
  return new Set(rows.map(({ batch }) => batch)).size;
}

export async function nextBatch(context: OutboxSql, limits: BatchLimits, now: number): Promise<OutgoingBatch | null> {
  const open = await openBatches(context);
  const again = resting(open, limits.inFlight).find(({ at }) => at <= now);
  if (again !== undefined) {
    return readBatch(context, again.id);
  }
  return open.length < limits.open ? beginBatch(context, limits, now, unusedId(open)) : null;
}

export async function nextBatchTime(
  { sql, organization }: OutboxSql,
  limits: Pick<BatchLimits, 'open' | 'inFlight'>,
): Promise<number | null> {
  // One statement is one round trip. A row without a batch is the next content that waits.
  const rows = await sql.all<{ id: number | null; at: number }>(
    `SELECT id, at FROM (${OPEN_BATCHES}) AS open
     UNION ALL SELECT NULL, at FROM (SELECT at ${READY} ORDER BY at, id LIMIT 1) AS ready`,
    ...[organization, organization],
  );
  const open = rows.filter((row) => row.id !== null) as OpenBatch[];
  const waiting = open.length < limits.open ? rows.filter(({ id }) => id === null) : [];
  const times = [...resting(open, limits.inFlight), ...waiting].map(({ at }) => at);
  return times.length === 0 ? null : smallest(times);
}

function openBatches({ sql, organization }: OutboxSql): Promise<readonly OpenBatch[]> {
  return sql.all<OpenBatch>(`${OPEN_BATCHES} ORDER BY MAX(at), batch`, organization);
}

function resting(open: readonly OpenBatch[], inFlight: readonly number[] = []): OpenBatch[] {
  return open.filter(({ id }) => !inFlight.includes(id));
}

function unusedId(open: readonly OpenBatch[]): number {
  return 1 + open.reduce((last, { id }) => Math.max(last, id), 0);
}

/** Starts a batch with the oldest content that is due, within the limits. */
async function beginBatch(
  { sql, organization }: OutboxSql,
  limits: BatchLimits,
  now: number,
  batch: number,
): Promise<OutgoingBatch | null> {
  const ids: number[] = [];
  let size = 0;
  const ready = await sql.all<{ id: number; bytes: number }>(
    `SELECT id, bytes ${READY} AND at <= ? ORDER BY at, id LIMIT ?`,
    ...[organization, now, limits.items],
  );
  for (const { id, bytes } of ready) {
    // Each payload is preceded by a comma or a bracket; the last bracket follows.
    size += bytes + 1;
    if (ids.length > 0 && size + 1 > limits.bytes) {
      break;
    }
    ids.push(id);
  }
  if (ids.length === 0) {
    return null;
  }
  const rows = await sql.all<BatchRow & { readonly position: number }>(
    `WITH chosen AS (
       SELECT id, ROW_NUMBER() OVER (ORDER BY at, id) - 1 AS place FROM content WHERE ${inNumbers(sql, 'id')}
     )
     UPDATE content SET state = 'sending', batch = ?, position = chosen.place, doubts = 0
     FROM chosen WHERE content.id = chosen.id RETURNING key, source, doubts, position, payload`,
    ...[JSON.stringify(ids), batch],
  );
  return toBatch(
    batch,
    rows.toSorted((a, b) => a.position - b.position),
  );
}

interface BatchRow {
  readonly key: string;
  readonly source: string;
  readonly payload: string;
  readonly doubts: number;
}

async function readBatch({ sql, organization }: OutboxSql, batch: number): Promise<OutgoingBatch> {
  const rows = await sql.all<BatchRow>(
    `SELECT key, source, doubts, payload FROM content WHERE ${OF_BATCH} ORDER BY position`,
    ...[organization, batch],
  );
  return toBatch(batch, rows);
}

function toBatch(id: number, rows: readonly BatchRow[]): OutgoingBatch {
  return {
    id,
    doubts: largest(rows.map(({ doubts }) => doubts)),
    items: rows.map(({ key, source, payload }) => ({ key, source, payload })),
  };
}

export async function correctTimes({ sql, organization }: OutboxSql, now: number): Promise<void> {
  // Content that is due later than it was stored has a time that its source gave.
  await sql.run(
    `UPDATE content SET at = CASE WHEN at > since THEN at ELSE CAST(? AS BIGINT) END, since = ?
     WHERE organization = ? AND state = 'waiting' AND since > ?`,
    ...[now, now, organization, now],
  );
  await sql.run(
    "UPDATE content SET at = ? WHERE organization = ? AND state = 'sending' AND at > ?",
    ...[now, organization, now],
  );
  await sql.run(
    `UPDATE recheck SET at = content.at FROM content
     WHERE content.id = recheck.content AND recheck.organization = ? AND recheck.at > content.at AND recheck.at > ?`,
    ...[organization, now],
  );
}

export async function recordSent(context: OutboxSql, batch: number, at: number): Promise<void> {
  const { sql, organization } = context;
  await sql.run(
    `INSERT INTO conversation (organization, key, source, sent, sent_at, redactor)
     SELECT organization, key, source, hash, CAST(? AS BIGINT), redactor FROM content WHERE ${OF_BATCH}
     ON CONFLICT (organization, key) DO UPDATE SET source = excluded.source, sent = excluded.sent,
     sent_at = excluded.sent_at, redactor = excluded.redactor, dismissed = NULL`,
    ...[at, organization, batch],
  );
  await countRows(context, await removeContent(context, 'batch = ?', batch), 'sent', at);
}

export async function doubtBatch(context: OutboxSql, batch: number, until: number): Promise<void> {
  const rows = await context.sql.all<Pick<ContentRow, 'source'>>(
    `UPDATE content SET doubts = doubts + 1, at = ? WHERE ${OF_BATCH} RETURNING source`,
    ...[until, context.organization, batch],
  );
  await countRows(context, rows, 'doubted', null);
}

export async function releaseBatch(context: OutboxSql, batch: number): Promise<void> {
  await removeContent(context, 'batch = ? AND replaced = 1', batch);
  await context.sql.run(
    `UPDATE content SET state = 'waiting', ${NOT_IN_BATCH} WHERE ${OF_BATCH}`,
    ...[context.organization, batch],
  );
}

export async function splitBatch(context: OutboxSql, batch: number): Promise<void> {
  const { sql, organization } = context;
  const second = unusedId(await openBatches(context));
  await sql.run(
    `WITH placed AS (
       SELECT id, ROW_NUMBER() OVER (ORDER BY position) AS place, COUNT(*) OVER () AS items FROM content WHERE ${OF_BATCH}
     )
     UPDATE content SET doubts = CASE WHEN doubts > 1 THEN 1 ELSE doubts END,
       batch = CASE WHEN placed.place * 2 <= placed.items + 1 THEN batch ELSE ? END
     FROM placed WHERE content.id = placed.id`,
    ...[organization, batch, second],
  );
}

export async function buryBatch(context: OutboxSql, batch: number, reason: string, at: number): Promise<void> {
  await removeContent(context, 'batch = ? AND replaced = 1', batch);
  const rows = await context.sql.all<Pick<ContentRow, 'source'>>(
    `UPDATE content SET state = 'dead', reason = ?, at = ?, ${NOT_IN_BATCH} WHERE ${OF_BATCH} RETURNING source`,
    ...[reason, at, context.organization, batch],
  );
  await countRows(context, rows, 'refused', at);
}
