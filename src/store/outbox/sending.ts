import type { StatementSync } from 'node:sqlite';
import { largest, smallest } from '../../core/lists.ts';
import type { BatchLimits, OutgoingBatch } from './outbox.ts';
import type { RecheckTables } from './rechecks.ts';
import { CONTENT_COLUMNS, type ContentRow, type OutboxTables, toContent } from './tables.ts';

/**
 * Waiting content that may be sent: not while older content of the same key is being sent, nor while it must be checked
 * again.
 */
const READY = `FROM content AS own WHERE organization = ? AND state = 'waiting'
  AND NOT EXISTS (SELECT 1 FROM recheck WHERE recheck.content = own.id AND recheck.at IS NOT NULL)
  AND NOT EXISTS (
  SELECT 1 FROM content AS older
  WHERE older.organization = own.organization AND older.key = own.key AND older.state = 'sending')`;

/** Batches that are being sent to the platform. */
export class SendingTables {
  readonly #tables: OutboxTables;
  readonly #rechecks: RecheckTables;
  readonly #open: StatementSync;
  readonly #resting: StatementSync;
  readonly #stored: StatementSync;
  readonly #ready: StatementSync;
  readonly #readyAt: StatementSync;
  readonly #claim: StatementSync;
  readonly #items: StatementSync;
  readonly #rows: StatementSync;
  readonly #newest: StatementSync;
  readonly #move: StatementSync;
  readonly #doubt: StatementSync;
  readonly #setBack: StatementSync;
  readonly #rest: StatementSync;
  readonly #recover: StatementSync;
  readonly #back: StatementSync;
  readonly #bury: StatementSync;
  readonly #record: StatementSync;

  constructor(tables: OutboxTables, rechecks: RecheckTables) {
    const { database } = tables;
    const prepare = (sql: string) => database.prepare(sql);
    this.#tables = tables;
    this.#rechecks = rechecks;
    const open = "FROM content WHERE organization = ? AND state = 'sending'";
    const resting = 'batch NOT IN (SELECT value FROM json_each(?))';
    this.#open = prepare(`SELECT batch ${open} AND ${resting}
      GROUP BY batch HAVING MAX(at) <= ? ORDER BY MAX(at), batch LIMIT 1`);
    this.#resting = prepare(`SELECT MIN(at) AS at ${open} AND ${resting}`);
    this.#stored = prepare(`SELECT COUNT(DISTINCT batch) AS batches ${open}`);
    this.#ready = prepare(`SELECT id, bytes ${READY} AND at <= ? ORDER BY at, id LIMIT ?`);
    this.#readyAt = prepare(`SELECT at ${READY} ORDER BY at, id LIMIT 1`);
    this.#claim = prepare("UPDATE content SET state = 'sending', batch = ?, position = ?, doubts = 0 WHERE id = ?");
    const ofBatch = 'FROM content WHERE organization = ? AND batch = ? ORDER BY position';
    this.#items = prepare(`SELECT key, source, doubts, payload ${ofBatch}`);
    this.#rows = prepare(`SELECT ${CONTENT_COLUMNS} ${ofBatch}`);
    this.#newest = prepare('SELECT MAX(batch) AS batch FROM content WHERE organization = ? AND batch IS NOT NULL');
    this.#move = prepare('UPDATE content SET batch = ?, doubts = MIN(doubts, 1) WHERE id = ?');
    this.#doubt = prepare('UPDATE content SET doubts = doubts + 1, at = ? WHERE organization = ? AND batch = ?');
    this.#setBack = prepare(`UPDATE content SET at = MAX(at - ?, ?)
      WHERE organization = ? AND state IN ('waiting', 'sending') AND at > ?`);
    this.#rest = prepare('UPDATE content SET at = ? WHERE organization = ? AND batch = ?');
    this.#recover = prepare(`UPDATE content SET doubts = 1
      WHERE organization = ? AND state = 'sending' AND doubts = 0 RETURNING source, batch`);
    const settled = 'batch = NULL, position = NULL, doubts = 0 WHERE id = ?';
    this.#back = prepare(`UPDATE content SET state = 'waiting', ${settled}`);
    this.#bury = prepare(`UPDATE content SET state = 'dead', reason = ?, at = ?, ${settled}`);
    this.#record = prepare(`INSERT INTO conversation (organization, key, source, sent, sent_at, redactor)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET source = excluded.source, sent = excluded.sent,
      sent_at = excluded.sent_at, redactor = excluded.redactor, dismissed = NULL`);
  }

  recover(): Promise<number> {
    return this.#tables.write(() => {
      const rows = this.#recover.all(this.#tables.organization).map(({ source, batch }) => ({
        source: String(source),
        batch: Number(batch),
      }));
      this.#tables.countRows(rows, 'doubted');
      return new Set(rows.map(({ batch }) => batch)).size;
    });
  }

  next(limits: BatchLimits, now: number): Promise<OutgoingBatch | null> {
    return this.#tables.write(() => {
      const open = this.#open.get(this.#tables.organization, JSON.stringify(limits.inFlight ?? []), now);
      const batch = open === undefined ? this.#begin(limits, now) : Number(open.batch);
      return batch === null ? null : this.#read(batch);
    });
  }

  async dueAt({ open, inFlight = [] }: Pick<BatchLimits, 'open' | 'inFlight'>): Promise<number | null> {
    return this.#tables.read(() => {
      const resting = this.#resting.get(this.#tables.organization, JSON.stringify(inFlight));
      const ready = this.#mayBegin(open) ? this.#readyAt.get(this.#tables.organization)?.at : null;
      const times = [resting?.at, ready].filter((at) => at != null).map(Number);
      return times.length === 0 ? null : smallest(times);
    });
  }

  /** Starts a batch with the oldest content that is due, within the limits. */
  #begin(limits: BatchLimits, now: number): number | null {
    const { organization } = this.#tables;
    if (!this.#mayBegin(limits.open)) {
      return null;
    }
    const batch = this.#unused();
    let bytes = 0;
    let position = 0;
    for (const row of this.#ready.all(organization, now, limits.items)) {
      // Each payload is preceded by a comma or a bracket; the last bracket follows.
      bytes += Number(row.bytes) + 1;
      if (position > 0 && bytes + 1 > limits.bytes) {
        break;
      }
      this.#claim.run(batch, position, row.id as number);
      position += 1;
    }
    return position === 0 ? null : batch;
  }

  #mayBegin(open: number): boolean {
    return Number(this.#stored.get(this.#tables.organization)?.batches ?? 0) < open;
  }

  #unused(): number {
    return Number(this.#newest.get(this.#tables.organization)?.batch ?? 0) + 1;
  }

  #read(batch: number): OutgoingBatch {
    const rows = this.#items.all(this.#tables.organization, batch);
    return {
      id: batch,
      doubts: largest(rows.map(({ doubts }) => Number(doubts))),
      items: rows.map(({ key, source, payload }) => ({
        key: String(key),
        source: String(source),
        payload: String(payload),
      })),
    };
  }

  #rowsOf(batch: number): ContentRow[] {
    return this.#rows.all(this.#tables.organization, batch).map(toContent);
  }

  setBack(by: number, now: number): Promise<void> {
    return this.#tables.write(() => {
      this.#setBack.run(by, now, this.#tables.organization, now);
      this.#rechecks.setBack(by, now);
    });
  }

  sent(batch: number, at: number): Promise<void> {
    return this.#tables.write(() => {
      const rows = this.#rowsOf(batch);
      for (const row of rows) {
        this.#record.run(this.#tables.organization, row.key, row.source, row.hash, at, row.redactor);
        this.#tables.remove(row);
      }
      this.#tables.countRows(rows, 'sent');
    });
  }

  doubt(batch: number, until: number): Promise<void> {
    return this.#tables.write(() => {
      this.#doubt.run(until, this.#tables.organization, batch);
      this.#tables.countRows(this.#rowsOf(batch), 'doubted');
    });
  }

  rest(batch: number, until: number): Promise<void> {
    return this.#tables.write(() => {
      this.#rest.run(until, this.#tables.organization, batch);
    });
  }

  release(batch: number): Promise<void> {
    return this.#tables.write(() => {
      for (const row of this.#rowsOf(batch)) {
        if (row.replaced) {
          this.#tables.remove(row);
        } else {
          this.#back.run(row.id);
        }
      }
    });
  }

  split(batch: number): Promise<void> {
    return this.#tables.write(() => {
      const rows = this.#rowsOf(batch);
      const second = this.#unused();
      const half = Math.ceil(rows.length / 2);
      for (const [position, row] of rows.entries()) {
        this.#move.run(position < half ? batch : second, row.id);
      }
    });
  }

  bury(batch: number, reason: string, at: number): Promise<void> {
    return this.#tables.write(() => {
      const rows = this.#rowsOf(batch);
      for (const row of rows) {
        if (row.replaced) {
          this.#tables.remove(row);
        } else {
          this.#bury.run(reason, at, row.id);
        }
      }
      this.#tables.countRows(
        rows.filter(({ replaced }) => !replaced),
        'refused',
      );
    });
  }
}
