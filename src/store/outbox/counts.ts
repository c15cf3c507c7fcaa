/** Counters of sources: their totals, and for the organization the numbers of each of the last 30 days. */
import { runBatches } from '../sql/database.ts';
import { type ContentRow, DAYS_KEPT, type OutboxSql, type RecentCounts } from './tables.ts';

const DAY = 24 * 3_600_000;

/** Counters that are kept by day too. */
const BY_DAY = /^(?:queued|sent|refused|skipped\..*)$/;

/** Adds to counters of a source; zeros are ignored. `at`: milliseconds since the epoch; null: only the totals are kept. */
export async function addCounts(
  context: OutboxSql,
  source: string,
  at: number | null,
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  const { sql, organization } = context;
  const added = Object.entries(counts).filter(([, by]) => by !== 0);
  await runBatches(
    sql,
    '(?, ?, ?, ?, ?)',
    added.map(([name, by]) => [organization, source, name, by, at === null ? null : Math.floor(at)]),
    (list) =>
      `INSERT INTO source_count (organization, source, name, value, at) VALUES ${list}
       ON CONFLICT (organization, source, name)
       DO UPDATE SET value = source_count.value + excluded.value, at = COALESCE(excluded.at, source_count.at)`,
  );
  if (at !== null) {
    await addDayCounts(
      context,
      at,
      added.filter(([name]) => BY_DAY.test(name)),
    );
  }
}

async function addDayCounts(
  { sql, organization }: OutboxSql,
  at: number,
  added: readonly (readonly [name: string, by: number])[],
): Promise<void> {
  const today = Math.floor(at / DAY);
  const rows = await runBatches<{ name: string; value: number }>(
    sql,
    '(?, ?, ?, ?)',
    added.map(([name, by]) => [organization, today, name, by]),
    (list) =>
      `INSERT INTO day_count (organization, day, name, value) VALUES ${list}
       ON CONFLICT (organization, day, name) DO UPDATE SET value = day_count.value + excluded.value
       RETURNING name, value`,
  );
  const by = new Map(added);
  if (!rows.some(({ name, value }) => value === by.get(name))) {
    return;
  }
  // The first number of a name on a day. What a clock that was ahead has stored for later days is removed too; the clock
  // of another replica may be in the next day already.
  await sql.run(
    'DELETE FROM day_count WHERE organization = ? AND (day <= ? OR day > ?)',
    ...[organization, today - DAYS_KEPT, today + 1],
  );
  await sql.run('DELETE FROM left_out WHERE organization = ? AND at < ?', organization, (today - DAYS_KEPT + 1) * DAY);
}

/** Adds the number of rows of each source to a counter. */
export async function countRows(
  context: OutboxSql,
  rows: readonly Pick<ContentRow, 'source'>[],
  name: string,
  at: number | null,
): Promise<void> {
  for (const [source, { length }] of Map.groupBy(rows, (row) => row.source)) {
    await addCounts(context, source, at, { [name]: length });
  }
}

/** Returns the numbers of the last 30 UTC days. */
export async function readDayCounts({ sql, organization }: OutboxSql, now: number): Promise<RecentCounts['days']> {
  const first = Math.floor(now / DAY) - DAYS_KEPT + 1;
  const rows = await sql.all<{ day: number; name: string; value: number }>(
    'SELECT day, name, value FROM day_count WHERE organization = ? AND day BETWEEN ? AND ? ORDER BY name',
    ...[organization, first, first + DAYS_KEPT - 1],
  );
  return new Map(
    [...Map.groupBy(rows, ({ name }) => name)].map(([name, own]) => {
      const days = Array<number>(DAYS_KEPT).fill(0);
      for (const { day, value } of own) {
        days[day - first] = value;
      }
      return [name, days];
    }),
  );
}
