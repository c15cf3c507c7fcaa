/** Outbox in a database: its operations, the status of every source, and dead letters. */

import type { SqlDatabase, SqlRow } from '../sql/database.ts';
import { putDeposit } from './deposits.ts';
import type { DeadFilter, DeadLetter, Outbox, OutboxLimit, OutboxStatus, SourceStatus } from './outbox.ts';
import * as sending from './sending.ts';
import * as sources from './sources.ts';
import { postponeRecheck, readRechecks, readRecheckTime } from './sources.ts';
import { addCounts, isFull, type OutboxSql, removeContent } from './tables.ts';

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
  const parse = (text: unknown) => database.parse(text);
  const read = <T>(work: (context: OutboxSql) => Promise<T>) =>
    database.read((sql) => work({ sql, organization, parse }));
  const write = <T>(work: (context: OutboxSql) => Promise<T>, keeps?: (result: T) => boolean) =>
    database.write(organization, (sql) => work({ sql, organization, parse }), keeps).finally(onWritten);
  return {
    put: (deposit) =>
      write(
        (context) => putDeposit(context, deposit, limit),
        ({ kind }) => kind === 'kept',
      ),
    position: (source) => read((context) => sources.readPosition(context, source)),
    processed: (source) => read((context) => sources.readProcessed(context, source)),
    polled: (source, at) => write((context) => sources.recordPoll(context, source, at)),
    reset: (source, since) => write((context) => sources.resetSource(context, source, since)),
    hint: (source, delivery, ids, at) =>
      write(async (context) => {
        const isNew = delivery === null || (await sources.rememberDelivery(context, source, delivery, at));
        await sources.addHints(context, source, isNew ? ids : []);
        await addCounts(context, source, { hinted: isNew ? ids.length : 0 });
        return isNew;
      }),
    hints: (source, most) => read((context) => sources.readHints(context, source, most)),
    rechecks: (source, now, most) => read((context) => readRechecks(context, source, now, most)),
    recheckAt: (source) => read((context) => readRecheckTime(context, source)),
    postponeRecheck: (source, key, until) =>
      write((context) => postponeRecheck(context, source, key, Math.ceil(until))),
    recover: () => write(sending.recoverBatches),
    next: (limits, now) => write((context) => sending.nextBatch(context, limits, now)),
    dueAt: (limits) => read((context) => sending.nextBatchTime(context, limits)),
    correctTimes: (now) => write((context) => sending.correctTimes(context, Math.floor(now))),
    sent: (batch, at) => write((context) => sending.recordSent(context, batch, at)),
    doubt: (batch, until) => write((context) => sending.doubtBatch(context, batch, Math.ceil(until))),
    rest: (batch, until) => write((context) => sending.restBatch(context, batch, Math.ceil(until))),
    release: (batch) => write((context) => sending.releaseBatch(context, batch)),
    split: (batch) => write((context) => sending.splitBatch(context, batch)),
    bury: (batch, reason, at) => write((context) => sending.buryBatch(context, batch, reason, at)),
    dead: (filter, most) => read((context) => listDeadLetters(context, filter, most)),
    deadLetter: (key) => read((context) => readDeadLetter(context, key)),
    retry: (filter, now) => write((context) => retryDeadLetters(context, filter, now)),
    drop: (filter) => write((context) => dropDeadLetters(context, filter)),
    status: () => read((context) => readStatus(context, limit)),
    outdated: (redactor) => read((context) => countOutdated(context, redactor)),
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
  UNION ALL SELECT 'count', source, name, CAST(value AS TEXT), NULL FROM source_count WHERE organization = ?
  ORDER BY kind, source, name`;
const STATUS_VALUES = STATUS.split('?').length - 1;

/** Row of `STATUS`. */
interface StatusRow {
  readonly kind: string;
  readonly source: string;
  readonly name: string;
  readonly value: string;
  readonly extra: number | null;
}

async function readStatus({ sql, organization, parse }: OutboxSql, limit: OutboxLimit): Promise<OutboxStatus> {
  const rows = (await sql.all(STATUS, ...Array<string>(STATUS_VALUES).fill(organization))).map(toStatusRow);
  const [total] = rows.filter(({ kind }) => kind === 'stored');
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
    sources: sources.map(([source, own]) => toSourceStatus(source, own, parse)),
  };
}

/** Counts waiting content by source that another redactor version produced. */
async function countOutdated({ sql, organization }: OutboxSql, redactor: string): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.all(
    `SELECT source, COUNT(*) AS items FROM content WHERE organization = ? AND state = 'waiting' AND redactor <> ?
     GROUP BY source ORDER BY source`,
    ...[organization, redactor],
  );
  return new Map(rows.map(({ source, items }) => [String(source), Number(items)]));
}

function toStatusRow({ kind, source, name, value, extra }: SqlRow): StatusRow {
  return {
    kind: String(kind),
    source: String(source),
    name: String(name),
    value: String(value),
    extra: extra == null ? null : Number(extra),
  };
}

function toSourceStatus(source: string, rows: readonly StatusRow[], parse: OutboxSql['parse']): SourceStatus {
  const find = (wanted: string, state = '') => rows.find(({ kind, name }) => kind === wanted && name === state);
  const items = (row: StatusRow | undefined) => Number(row?.value ?? 0);
  const position = find('position');
  const waiting = find('content', 'waiting');
  return {
    source,
    cursor: parse(position?.value ?? 'null'),
    polledAt: position?.extra ?? null,
    waiting: items(waiting),
    waitingSince: waiting?.extra ?? null,
    sending: items(find('content', 'sending')),
    inDoubt: items(find('doubt')),
    deadLetters: items(find('content', 'dead')),
    hints: items(find('hint')),
    counts: Object.fromEntries(
      rows.flatMap(({ kind, name, value }) => (kind === 'count' ? [[name, Number(value)] as const] : [])),
    ),
  };
}

const LETTER = 'key, source, reason, at, bytes';

async function listDeadLetters(
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

async function readDeadLetter(
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
async function retryDeadLetters({ sql, organization }: OutboxSql, filter: DeadFilter, now: number): Promise<number> {
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
async function dropDeadLetters(context: OutboxSql, filter: DeadFilter): Promise<number> {
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
