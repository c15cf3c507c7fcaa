/** State of a ticket without its content: whether it waits, was sent or refused, or why it was left out. */
import { inTexts, upsertRows } from '../sql/database.ts';
import type { ContentState, Deposit, KnownTicket, OutboxSql, RecentCounts } from './tables.ts';

/** Records which tickets of a deposit are left out, and which are not any more. */
export async function recordLeftOut({ sql, organization }: OutboxSql, deposit: Deposit): Promise<void> {
  const { source, at, entries } = deposit;
  const last = new Map(entries.map((entry) => [entry.key, entry]));
  const taken: string[] = [];
  const rows: (string | number)[][] = [];
  for (const [key, entry] of last) {
    const reason = entry.kind === 'gone' ? 'gone' : entry.kind === 'ineligible' ? entry.reason : undefined;
    if (entry.kind === 'content') {
      taken.push(key);
    } else if (reason !== undefined) {
      rows.push([organization, key, source, reason, Math.floor(at)]);
    }
  }
  if (taken.length > 0) {
    await sql.run(
      `DELETE FROM left_out WHERE organization = ? AND ${inTexts(sql, 'key')}`,
      ...[organization, JSON.stringify(taken)],
    );
  }
  await upsertRows(sql, {
    table: 'left_out',
    key: ['organization', 'key'],
    columns: ['source', 'reason', 'at'],
    rows,
  });
}

/** Number of examples for each reason. */
const EXAMPLES = 3;

/** Returns keys of tickets that are left out, for each of these reasons, the newest first. */
export async function readLeftOut(
  { sql, organization }: OutboxSql,
  reasons: readonly string[],
): Promise<RecentCounts['leftOut']> {
  const newest = `SELECT reason, key FROM (
    SELECT reason, key FROM left_out WHERE organization = ? AND reason = ? ORDER BY at DESC, key LIMIT ${EXAMPLES}
  ) AS newest`;
  const rows =
    reasons.length === 0
      ? []
      : await sql.all<{ reason: string; key: string }>(
          reasons.map(() => newest).join(' UNION ALL '),
          ...reasons.flatMap((reason) => [organization, reason]),
        );
  return new Map(
    [...Map.groupBy(rows, ({ reason }) => reason)].map(([reason, own]) => [reason, own.map(({ key }) => key)]),
  );
}

/** Longest text that can be a key, in UTF-16 units. */
const LONGEST = 512;

/** Returns the tickets with this key, or with this id in any account, such as the number in `zendesk/acme/123`. */
export async function findTickets(context: OutboxSql, text: string): Promise<readonly KnownTicket[]> {
  if (text === '' || text.length > LONGEST || text.includes('\0') || !text.isWellFormed()) {
    return [];
  }
  const heads = await readHeads(context);
  const keys = JSON.stringify([...new Set([text, ...heads.map((head) => `${head}${text}`)])]);
  const rows = await readKnown(context, keys);
  return [...Map.groupBy(rows, ({ key }) => key)].map(([key, own]) => {
    const find = (wanted: KnownRow['kind']) => own.find(({ kind }) => kind === wanted);
    const [waiting, dead, left, past] = [find('waiting'), find('dead'), find('left-out'), find('past')];
    return {
      key,
      source: (waiting ?? find('sending') ?? dead ?? left ?? past)?.source ?? '',
      waiting: waiting === undefined ? null : { since: waiting.since ?? 0, at: waiting.at ?? 0 },
      isSending: find('sending') !== undefined,
      refused: dead === undefined ? null : { reason: dead.reason ?? '', at: dead.at ?? 0 },
      sentAt: past?.at ?? null,
      isDiscarded: past?.reason === 'dismissed',
      leftOut: left === undefined ? null : { reason: left.reason ?? '', at: left.at ?? 0 },
    };
  });
}

interface KnownRow {
  readonly kind: ContentState | 'left-out' | 'past';
  readonly key: string;
  readonly source: string;
  readonly reason: string | null;
  readonly since: number | null;
  readonly at: number | null;
}

function readKnown({ sql, organization }: OutboxSql, keys: string): Promise<readonly KnownRow[]> {
  const own = `organization = ? AND ${inTexts(sql, 'key')}`;
  return sql.all<KnownRow>(
    `SELECT state AS kind, key, source, reason, since, at FROM content WHERE ${own}
     UNION ALL SELECT 'left-out', key, source, reason, NULL, at FROM left_out WHERE ${own}
     UNION ALL SELECT 'past', key, source, CASE WHEN dismissed IS NULL THEN NULL ELSE 'dismissed' END, NULL, sent_at
       FROM conversation WHERE ${own}
     ORDER BY key, kind`,
    ...[organization, keys, organization, keys, organization, keys],
  );
}

/** Maximum number of accounts in which an id is looked for. */
const MOST_HEADS = 50;

/** First key from another one on. */
const FIRST = `SELECT MIN(key) AS key FROM (
  SELECT MIN(key) AS key FROM conversation WHERE organization = ? AND key >= ?
  UNION ALL SELECT MIN(key) FROM content WHERE organization = ? AND key >= ?
  UNION ALL SELECT MIN(key) FROM left_out WHERE organization = ? AND key >= ?
) AS each_table`;

/** Returns the parts of keys before the ids, such as `zendesk/acme/`. Reads one key for each. */
async function readHeads({ sql, organization }: OutboxSql): Promise<readonly string[]> {
  const heads: string[] = [];
  let from = '';
  while (heads.length < MOST_HEADS) {
    const row = await sql.get<{ key: string | null }>(FIRST, ...Array(3).fill([organization, from]).flat());
    const key = row?.key ?? null;
    if (key === null) {
      break;
    }
    const [head = ''] = /^[^/]*\/(?:[^/]*\/)?/.exec(key) ?? [];
    heads.push(head);
    // "0" is the character after "/".
    from = head === '' ? `${key}\u0001` : `${head.slice(0, -1)}0`;
  }
  return heads;
}
