/** Status of every source. */
import type { SqlRow } from '../sql/database.ts';
import type { OutboxLimit, OutboxStatus, SourceStatus } from './outbox.ts';
import { isFull, type OutboxSql, readStored } from './tables.ts';

export async function readStatus(context: OutboxSql, limit: OutboxLimit): Promise<OutboxStatus> {
  const stored = await readStored(context);
  return { stored, limit, isFull: isFull(stored, limit), sources: await readSources(context) };
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

async function readSources({ sql, organization, parse }: OutboxSql): Promise<SourceStatus[]> {
  const read = (statement: string) => sql.all(statement, organization);
  const sources = await read('SELECT name, cursor, polled_at FROM source WHERE organization = ?');
  const contents = await read(`SELECT source, state, COUNT(*) AS items, MIN(since) AS since FROM content
    WHERE organization = ? GROUP BY source, state`);
  const doubts = await read(`SELECT source, COUNT(*) AS items FROM content
    WHERE organization = ? AND state = 'sending' AND doubts > 0 GROUP BY source`);
  const hints = await read('SELECT source, COUNT(*) AS items FROM hint WHERE organization = ? GROUP BY source');
  const counters = await read('SELECT source, name, value FROM source_count WHERE organization = ? ORDER BY name');
  const positions = new Map(sources.map((row) => [String(row.name), row]));
  const counts = Map.groupBy(counters, (row) => String(row.source));
  const names = [...contents, ...hints].map((row) => String(row.source));
  return [...new Set([...positions.keys(), ...counts.keys(), ...names])].sort().map((source) => {
    const of = (rows: readonly SqlRow[], state?: string) =>
      rows.find((row) => row.source === source && (state === undefined || row.state === state));
    const items = (row: SqlRow | undefined) => Number(row?.items ?? 0);
    const position = positions.get(source);
    const waiting = of(contents, 'waiting');
    return {
      source,
      cursor: parse(position?.cursor ?? 'null'),
      polledAt: position?.polled_at == null ? null : Number(position.polled_at),
      waiting: items(waiting),
      waitingSince: waiting === undefined ? null : Number(waiting.since),
      sending: items(of(contents, 'sending')),
      inDoubt: items(of(doubts)),
      deadLetters: items(of(contents, 'dead')),
      hints: items(of(hints)),
      counts: Object.fromEntries((counts.get(source) ?? []).map(({ name, value }) => [name, Number(value)])),
    };
  });
}
