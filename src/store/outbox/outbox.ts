/** Outbox in a database: its operations, the progress and the status of every source, and dead letters. */
import type { Clock } from '../../core/clock.ts';
import { largest } from '../../core/lists.ts';
import { inTexts, type SqlDatabase, type SqlValue } from '../sql/database.ts';
import { addCounts, readDayCounts } from './counts.ts';
import { putDeposit } from './deposits.ts';
import { findTickets, readLeftOut } from './known-tickets.ts';
import * as sending from './sending.ts';
import {
  type BatchLimits,
  type DeadFilter,
  type DeadLetter,
  type Deposit,
  type Hint,
  isFull,
  type Kept,
  type KnownTicket,
  type OutboxLimit,
  type OutboxSql,
  type OutboxStatus,
  type OutgoingBatch,
  type RecentCounts,
  type Recheck,
  readPosition,
  rememberDelivery,
  removeContent,
  type SourcePosition,
  type SourceStatus,
} from './tables.ts';

/**
 * Outbox: state of one organization's conversations, and the content that is still to be sent. Each method is one
 * transaction, which is on disk when its promise resolves. Every method throws StoreError if the state cannot be used.
 * Times are milliseconds since the epoch.
 */
export type Outbox = ReturnType<typeof openOutbox>;

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
) {
  const read = <T>(work: (context: OutboxSql) => Promise<T>) => database.read((sql) => work({ sql, organization }));
  const write = <T>(work: (context: OutboxSql) => Promise<T>, keeps?: (result: T) => boolean) =>
    database.write(organization, (sql) => work({ sql, organization }), keeps).finally(onWritten);
  /** Runs one statement that writes. */
  const run = (statement: string, ...values: readonly SqlValue[]) =>
    write(async ({ sql }) => {
      await sql.run(statement, ...values);
    });
  return {
    /** Stores a deposit. Content that was already sent, waits, or is dead is not stored again. */
    put: (deposit: Deposit): Promise<Kept> =>
      write(
        (context) => putDeposit(context, deposit, limit),
        ({ kind }) => kind === 'kept',
      ),

    position: (source: string): Promise<SourcePosition> => read((context) => readPosition(context, source)),
    /** Returns the items that deposits marked as processed. A reset empties the set. */
    processed: (source: string): Promise<ReadonlySet<string>> =>
      read(async ({ sql }) => {
        const rows = await sql.all<{ item: string }>(
          'SELECT item FROM processed WHERE organization = ? AND source = ?',
          ...[organization, source],
        );
        return new Set(rows.map(({ item }) => item));
      }),
    /** Records that a poll is complete. */
    polled: (source: string, at: number): Promise<void> =>
      run(
        `INSERT INTO source (organization, name, polled_at) VALUES (?, ?, ?)
         ON CONFLICT (organization, name) DO UPDATE SET polled_at = excluded.polled_at`,
        ...[organization, source, at],
      ),
    /** Resets the cursor: the next poll starts at `since`. Unchanged content is still not sent again. */
    reset: (source: string, since: number): Promise<void> =>
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

    /** Stores the hint of a webhook. Returns false if the delivery was accepted in the last few days. */
    hint: (source: string, delivery: string | null, ids: readonly string[], at: number): Promise<boolean> =>
      write(async (context) => {
        const isNew = delivery === null || (await rememberDelivery(context, source, delivery, at));
        if (isNew && ids.length > 0) {
          await addHints(context, source, ids);
          await addCounts(context, source, at, { hinted: ids.length });
        }
        return isNew;
      }),
    /** Returns the oldest unresolved hints. */
    hints: (source: string, most: number): Promise<readonly Hint[]> =>
      read(({ sql }) =>
        sql.all<Hint>(
          'SELECT id, mark FROM hint WHERE organization = ? AND source = ? ORDER BY mark LIMIT ?',
          ...[organization, source, most],
        ),
      ),
    /** Returns the content to check again now, the longest overdue first. */
    rechecks: (source: string, now: number, most: number): Promise<readonly Recheck[]> =>
      read(({ sql }) =>
        sql.all<Recheck>(
          `SELECT key, id ${CHECKS} AND at <= ? ORDER BY at, content LIMIT ?`,
          ...[organization, source, now, most],
        ),
      ),
    /** Returns the time of the next check; null if there is none. */
    recheckAt: (source: string): Promise<number | null> =>
      read(async ({ sql }) => {
        const row = await sql.get<{ at: number | null }>(`SELECT MIN(at) AS at ${CHECKS}`, organization, source);
        return row?.at ?? null;
      }),
    /** Postpones a check that failed until `until`; the content is not sent before. */
    postponeRecheck: (source: string, key: string, until: number): Promise<void> =>
      run(
        'UPDATE recheck SET at = ? WHERE organization = ? AND source = ? AND key = ? AND at IS NOT NULL',
        ...[Math.ceil(until), organization, source, key],
      ),

    /** Marks the batches that an earlier process was sending as in doubt. Returns their number. */
    recover: (): Promise<number> => write(sending.recoverBatches),
    /**
     * Returns the batch to send now: one in doubt whose delay has ended, otherwise a new one of the oldest content that
     * is due. It is stored as being sent before this resolves. Content of a conversation that is in another batch is not
     * due until that batch is settled. Returns null if there is none.
     */
    next: (limits: BatchLimits, now: number): Promise<OutgoingBatch | null> =>
      write((context) => sending.nextBatch(context, limits, now)),
    /** Returns the time of the next batch that `next` would return with these limits; null if there is nothing to send. */
    dueAt: (limits: Pick<BatchLimits, 'open' | 'inFlight'>): Promise<number | null> =>
      read((context) => sending.nextBatchTime(context, limits)),
    /**
     * Corrects times in the future of `now`, which a clock that was ahead has stored: waiting content is due unless its
     * source delays it, batches in doubt are due, and content is checked again when it is due. May be repeated.
     */
    correctTimes: (now: number): Promise<void> => write((context) => sending.correctTimes(context, Math.floor(now))),
    /** Records that the platform accepted the batch. */
    sent: (batch: number, at: number): Promise<void> => write((context) => sending.recordSent(context, batch, at)),
    /** Records that the response was lost: the same batch is sent again, not before `until`. */
    doubt: (batch: number, until: number): Promise<void> =>
      write((context) => sending.doubtBatch(context, batch, Math.ceil(until))),
    /** Postpones a batch that is still in doubt until `until`. */
    rest: (batch: number, until: number): Promise<void> =>
      run(`UPDATE content SET at = ? WHERE ${sending.OF_BATCH}`, Math.ceil(until), organization, batch),
    /** Moves the items of a batch that was certainly not accepted back to waiting, unless newer content replaces them. */
    release: (batch: number): Promise<void> => write((context) => sending.releaseBatch(context, batch)),
    /** Splits a batch into two. */
    split: (batch: number): Promise<void> => write((context) => sending.splitBatch(context, batch)),
    /** Records that a batch with one item was refused permanently. */
    bury: (batch: number, reason: string, at: number): Promise<void> =>
      write((context) => sending.buryBatch(context, batch, reason, at)),

    /** Returns dead letters, oldest first. */
    dead: (filter: DeadFilter, most: number): Promise<readonly DeadLetter[]> =>
      read(({ sql }) => {
        const { condition, values } = matching(filter);
        return sql.all<DeadLetter>(
          `SELECT ${LETTER} FROM content WHERE organization = ? AND ${condition} ORDER BY at, id LIMIT ?`,
          ...[organization, ...values, most],
        );
      }),
    /** Returns a dead letter with its payload; null if there is none. */
    deadLetter: (key: string): Promise<(DeadLetter & { readonly payload: string }) | null> =>
      read(async ({ sql }) => {
        const letter = await sql.get<DeadLetter & { readonly payload: string }>(
          `SELECT ${LETTER}, payload FROM content WHERE organization = ? AND key = ? AND state = 'dead'`,
          ...[organization, key],
        );
        return letter ?? null;
      }),
    /** Moves dead letters back to waiting. Resolves with their number. */
    retry: (filter: DeadFilter, now: number): Promise<number> =>
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
    /** Deletes dead letters; the same content is not accepted again. Resolves with their number. */
    drop: (filter: DeadFilter): Promise<number> =>
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

    status: (): Promise<OutboxStatus> => read((context) => readStatus(context, limit)),
    recent: (now: number): Promise<RecentCounts> =>
      read(async (context) => {
        const days = await readDayCounts(context, now);
        const reasons = [...days.keys()].flatMap((name) =>
          name.startsWith(SKIPPED) ? [name.slice(SKIPPED.length)] : [],
        );
        return { days, leftOut: await readLeftOut(context, reasons) };
      }),
    /** Returns what is known of the tickets with this key, or with this id in any account: `123` for `zendesk/acme/123`. */
    find: (text: string): Promise<readonly KnownTicket[]> => read((context) => findTickets(context, text)),
    /** Counts waiting content by source that another redactor version produced. Reads all waiting content. */
    outdated: (redactor: string): Promise<ReadonlyMap<string, number>> =>
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

/** Milliseconds after which the outbox is read again in any case: another replica may have stored a webhook request. */
const MAX_AGE = 55_000;

interface Reading {
  readonly status: Promise<OutboxStatus>;
  /** Number of changes before the outbox was read. */
  readonly changes: number;
  /** On the monotonic clock. */
  readonly at: number;
}

/** Reads the status again after `markChanged`, and otherwise once a minute. */
export class RecentStatus {
  readonly #outbox: Pick<Outbox, 'status'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #changes = 0;
  #last: Reading | null = null;

  constructor(outbox: Pick<Outbox, 'status'>, clock: Pick<Clock, 'monotonic'>) {
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** Records that the outbox may have changed. Call it after the change. */
  markChanged(): void {
    this.#changes += 1;
  }

  /** Returns the status since the last change. Throws StoreError. */
  async read(): Promise<OutboxStatus> {
    const at = this.#clock.monotonic();
    if (this.#last === null || this.#last.changes !== this.#changes || at - this.#last.at >= MAX_AGE) {
      this.#last = { status: this.#outbox.status(), changes: this.#changes, at };
    }
    const reading = this.#last;
    try {
      return await reading.status;
    } catch (error) {
      if (this.#last === reading) {
        this.#last = null;
      }
      throw error;
    }
  }
}
