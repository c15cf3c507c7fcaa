/** Outbox in a database: its operations, the progress and the status of every source, and dead letters. */

import { largest } from '../../core/lists.ts';
import { inTexts, type SqlDatabase, type SqlValue } from '../sql/database.ts';
import { addCounts, readDayCounts } from './counts.ts';
import { putDeposit } from './deposits.ts';
import { findTickets, readLeftOut } from './known-tickets.ts';
import type {
  DeadFilter,
  DeadLetter,
  Hint,
  Outbox,
  OutboxLimit,
  OutboxStatus,
  Recheck,
  SourceStatus,
} from './outbox.ts';
import * as sending from './sending.ts';
import { isFull, type OutboxSql, readPosition, rememberDelivery, removeContent } from './tables.ts';

const CHECKS = 'FROM recheck WHERE organization = ? AND source = ? AND at IS NOT NULL';
const SKIPPED = 'skipped.';
const LETTER = 'key, source, reason, at, bytes';

/**
 * Outbox of one organization in a database that has its tables. Times are stored as whole milliseconds, because times
 * from a provider, a monotonic clock or random jitter may have fractions.
 */
export function openOutbox(
  database: SqlDatabase,
  organization: string,
  limit: OutboxLimit,
  onWritten: () => void = () => undefined,
): Outbox {
  const read = <T>(work: (context: OutboxSql) => Promise<T>) => database.read((sql) => work({ sql, organization }));
  const write = <T>(work: (context: OutboxSql) => Promise<T>, keeps?: (result: T) => boolean) =>
    database.write(organization, (sql) => work({ sql, organization }), keeps).finally(onWritten);
  /** Runs one statement that writes. */
  const run = (statement: string, ...values: readonly SqlValue[]) =>
    write(async ({ sql }) => {
      await sql.run(statement, ...values);
    });
  return {
    put: (deposit) =>
      write(
        (context) => putDeposit(context, deposit, limit),
        ({ kind }) => kind === 'kept',
      ),

    position: (source) => read((context) => readPosition(context, source)),
    processed: (source) =>
      read(async ({ sql }) => {
        const rows = await sql.all<{ item: string }>(
          'SELECT item FROM processed WHERE organization = ? AND source = ?',
          ...[organization, source],
        );
        return new Set(rows.map(({ item }) => item));
      }),
    polled: (source, at) =>
      run(
        `INSERT INTO source (organization, name, polled_at) VALUES (?, ?, ?)
         ON CONFLICT (organization, name) DO UPDATE SET polled_at = excluded.polled_at`,
        ...[organization, source, at],
      ),
    reset: (source, since) =>
      write(async ({ sql }) => {
        // A new round, so that a poll that is running does not restore the old cursor.
        await sql.run(
          `INSERT INTO source (organization, name, since, round) VALUES (?, ?, ?, 1)
           ON CONFLICT (organization, name)
           DO UPDATE SET since = excluded.since, cursor = 'null', round = source.round + 1`,
          ...[organization, source, since],
        );
        await sql.run('DELETE FROM processed WHERE organization = ? AND source = ?', organization, source);
      }),

    hint: (source, delivery, ids, at) =>
      write(async (context) => {
        const isNew = delivery === null || (await rememberDelivery(context, source, delivery, at));
        if (isNew && ids.length > 0) {
          await addHints(context, source, ids);
          await addCounts(context, source, at, { hinted: ids.length });
        }
        return isNew;
      }),
    hints: (source, most) =>
      read(({ sql }) =>
        sql.all<Hint>(
          'SELECT id, mark FROM hint WHERE organization = ? AND source = ? ORDER BY mark LIMIT ?',
          ...[organization, source, most],
        ),
      ),
    rechecks: (source, now, most) =>
      read(({ sql }) =>
        sql.all<Recheck>(
          `SELECT key, id ${CHECKS} AND at <= ? ORDER BY at, content LIMIT ?`,
          ...[organization, source, now, most],
        ),
      ),
    recheckAt: (source) =>
      read(async ({ sql }) => {
        const row = await sql.get<{ at: number | null }>(`SELECT MIN(at) AS at ${CHECKS}`, organization, source);
        return row?.at ?? null;
      }),
    postponeRecheck: (source, key, until) =>
      run(
        'UPDATE recheck SET at = ? WHERE organization = ? AND source = ? AND key = ? AND at IS NOT NULL',
        ...[Math.ceil(until), organization, source, key],
      ),

    recover: () => write(sending.recoverBatches),
    next: (limits, now) => write((context) => sending.nextBatch(context, limits, now)),
    dueAt: (limits) => read((context) => sending.nextBatchTime(context, limits)),
    correctTimes: (now) => write((context) => sending.correctTimes(context, Math.floor(now))),
    sent: (batch, at) => write((context) => sending.recordSent(context, batch, at)),
    doubt: (batch, until) => write((context) => sending.doubtBatch(context, batch, Math.ceil(until))),
    rest: (batch, until) =>
      run(`UPDATE content SET at = ? WHERE ${sending.OF_BATCH}`, Math.ceil(until), organization, batch),
    release: (batch) => write((context) => sending.releaseBatch(context, batch)),
    split: (batch) => write((context) => sending.splitBatch(context, batch)),
    bury: (batch, reason, at) => write((context) => sending.buryBatch(context, batch, reason, at)),

    dead: (filter, most) =>
      read(({ sql }) => {
        const { condition, values } = matching(filter);
        return sql.all<DeadLetter>(
          `SELECT ${LETTER} FROM content WHERE organization = ? AND ${condition} ORDER BY at, id LIMIT ?`,
          ...[organization, ...values, most],
        );
      }),
    deadLetter: (key) =>
      read(async ({ sql }) => {
        const letter = await sql.get<DeadLetter & { readonly payload: string }>(
          `SELECT ${LETTER}, payload FROM content WHERE organization = ? AND key = ? AND state = 'dead'`,
          ...[organization, key],
        );
        return letter ?? null;
      }),
    retry: (filter, now) =>
      write(async ({ sql }) => {
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
      }),
    drop: (filter) =>
      write(async (context) => {
        const { condition, values } = matching(filter);
        await context.sql.run(
          `INSERT INTO conversation (organization, key, source, dismissed)
           SELECT organization, key, source, hash FROM content WHERE organization = ? AND ${condition}
           ON CONFLICT (organization, key) DO UPDATE SET dismissed = excluded.dismissed`,
          ...[organization, ...values],
        );
        return (await removeContent(context, condition, ...values)).length;
      }),

    status: () => read((context) => readStatus(context, limit)),
    recent: (now) =>
      read(async (context) => {
        const days = await readDayCounts(context, now);
        const reasons = [...days.keys()].flatMap((name) =>
          name.startsWith(SKIPPED) ? [name.slice(SKIPPED.length)] : [],
        );
        return { days, leftOut: await readLeftOut(context, reasons) };
      }),
    find: (text) => read((context) => findTickets(context, text)),
    outdated: (redactor) =>
      read(async ({ sql }) => {
        const rows = await sql.all<{ source: string; items: number }>(
          `SELECT source, COUNT(*) AS items FROM content WHERE organization = ? AND state = 'waiting' AND redactor <> ?
           GROUP BY source ORDER BY source`,
          ...[organization, redactor],
        );
        return new Map(rows.map(({ source, items }) => [source, items]));
      }),
  };
}

/** Stores hints. A repeated one gets another mark. */
async function addHints({ sql, organization }: OutboxSql, source: string, hinted: readonly string[]): Promise<void> {
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

function matching({ source, key }: DeadFilter): { readonly condition: string; readonly values: readonly string[] } {
  const conditions = ["state = 'dead'", ...(source === undefined ? [] : ['source = ?'])];
  return {
    condition: [...conditions, ...(key === undefined ? [] : ['key = ?'])].join(' AND '),
    values: [source, key].filter((value) => value !== undefined),
  };
}

/** One row for each number: its kind, source, name, value and additional value. One statement is one round trip. */
const STATUS = `
  SELECT 'stored' AS kind, '' AS source, '' AS name, CAST(items AS TEXT) AS value, bytes AS extra
    FROM outbox WHERE organization = ?
  UNION ALL SELECT 'position', name, '', cursor, polled_at FROM source WHERE organization = ?
  UNION ALL SELECT 'content', source, state, CAST(COUNT(*) AS TEXT), MIN(since)
    FROM content WHERE organization = ? GROUP BY source, state
  UNION ALL SELECT 'doubt', source, '', CAST(COUNT(*) AS TEXT), NULL
    FROM content WHERE organization = ? AND state = 'sending' AND doubts > 0 GROUP BY source
  UNION ALL SELECT 'hint', source, '', CAST(COUNT(*) AS TEXT), NULL
    FROM hint WHERE organization = ? GROUP BY source
  UNION ALL SELECT 'count', source, name, CAST(value AS TEXT), at FROM source_count WHERE organization = ?
  ORDER BY kind, source, name`;
const STATUS_VALUES = STATUS.split('?').length - 1;

interface StatusRow {
  readonly kind: string;
  readonly source: string;
  readonly name: string;
  readonly value: string;
  readonly extra: number | null;
}

async function readStatus({ sql, organization }: OutboxSql, limit: OutboxLimit): Promise<OutboxStatus> {
  const rows = await sql.all<StatusRow>(STATUS, ...Array<string>(STATUS_VALUES).fill(organization));
  const total = rows.find(({ kind }) => kind === 'stored');
  const stored = { items: Number(total?.value ?? 0), bytes: total?.extra ?? 0 };
  const bySource = Map.groupBy(
    rows.filter(({ kind }) => kind !== 'stored'),
    ({ source }) => source,
  );
  const sources = [...bySource].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    stored,
    limit,
    isFull: isFull(stored, limit),
    sources: sources.map(([source, own]): SourceStatus => {
      const find = (wanted: string, state = '') => own.find(({ kind, name }) => kind === wanted && name === state);
      const items = (row: StatusRow | undefined) => Number(row?.value ?? 0);
      const position = find('position');
      const waiting = find('content', 'waiting');
      const counts = own.filter(({ kind }) => kind === 'count');
      const arrivals = counts.filter(
        ({ name, extra }) => extra !== null && (name === 'queued' || name.startsWith(SKIPPED)),
      );
      return {
        source,
        cursor: sql.parse(position?.value ?? 'null'),
        polledAt: position?.extra ?? null,
        arrivedAt: arrivals.length === 0 ? null : largest(arrivals.map(({ extra }) => extra ?? 0)),
        waiting: items(waiting),
        waitingSince: waiting?.extra ?? null,
        sending: items(find('content', 'sending')),
        inDoubt: items(find('doubt')),
        deadLetters: items(find('content', 'dead')),
        hints: items(find('hint')),
        counts: Object.fromEntries(counts.map(({ name, value }) => [name, Number(value)])),
      };
    }),
  };
}
