/** Status of every source. */
import type { SqlRow } from '../sql/database.ts';
import type { OutboxLimit, OutboxStatus, SourceStatus } from './outbox.ts';
import { isFull, type OutboxSql } from './tables.ts';

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

export async function readStatus({ sql, organization, parse }: OutboxSql, limit: OutboxLimit): Promise<OutboxStatus> {
  const rows = (await sql.all(STATUS, ...Array<string>(STATUS_VALUES).fill(organization))).map(toStatusRow);
  const [total] = rows.filter(({ kind }) => kind === 'stored');
  const stored = { items: Number(total?.value ?? 0), bytes: total?.extra ?? 0 };
  const bySource = Map.groupBy(
    rows.filter(({ kind }) => kind !== 'stored'),
    ({ source }) => source,
  );
  const sources = [...bySource].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...{ stored, limit, isFull: isFull(stored, limit) },
    sources: sources.map(([source, own]) => toSourceStatus(source, own, parse)),
  };
}

/** Counts waiting content by source that another redactor version produced. */
export async function countOutdated(
  { sql, organization }: OutboxSql,
  redactor: string,
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.all(
    `SELECT source, COUNT(*) AS items FROM content WHERE organization = ? AND state = 'waiting' AND redactor <> ?
     GROUP BY source ORDER BY source`,
    ...[organization, redactor],
  );
  return new Map(rows.map(({ source, items }) => [String(source), Number(items)]));
}

function toStatusRow({ kind, source, name, value, extra }: SqlRow): StatusRow {
  return {
    ...{ kind: String(kind), source: String(source), name: String(name), value: String(value) },
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
