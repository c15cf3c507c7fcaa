import type { StatementSync } from 'node:sqlite';
import type { Json } from '../../core/json.ts';
import type { Hint, ProcessedChange, SourcePosition } from './outbox.ts';
import type { OutboxTables } from './tables.ts';

/** Milliseconds for which the ids of webhook requests are remembered: senders repeat them for up to three days. */
const DELIVERIES_KEPT = 4 * 24 * 3_600_000;

/** Progress of each source: cursors, hints, deliveries. */
export class SourceTables {
  readonly #tables: OutboxTables;
  readonly #parse: (text: unknown) => Json;
  readonly #position: StatementSync;
  readonly #move: StatementSync;
  readonly #polled: StatementSync;
  readonly #reset: StatementSync;
  readonly #remember: StatementSync;
  readonly #purge: StatementSync;
  readonly #hint: StatementSync;
  readonly #hints: StatementSync;
  readonly #answer: StatementSync;
  readonly #processed: StatementSync;
  readonly #process: StatementSync;
  readonly #forget: StatementSync;
  readonly #forgetAll: StatementSync;

  /** `parse` throws StoreError if a text is not JSON. */
  constructor(tables: OutboxTables, parse: (text: unknown) => Json) {
    const { database } = tables;
    this.#tables = tables;
    this.#parse = parse;
    this.#position = database.prepare('SELECT cursor, since, round FROM source WHERE organization = ? AND name = ?');
    const upsert = (column: string) => `INSERT INTO source (organization, name, ${column}) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET ${column} = excluded.${column}`;
    this.#move = database.prepare(upsert('cursor'));
    this.#polled = database.prepare(upsert('polled_at'));
    this.#reset = database.prepare(`INSERT INTO source (organization, name, since, round) VALUES (?, ?, ?, 1)
      ON CONFLICT DO UPDATE SET since = excluded.since, cursor = 'null', round = round + 1`);
    this.#remember = database.prepare('INSERT OR IGNORE INTO delivery VALUES (?, ?, ?, ?)');
    this.#purge = database.prepare('DELETE FROM delivery WHERE at < ?');
    this.#hint = database.prepare('INSERT OR REPLACE INTO hint (organization, source, id) VALUES (?, ?, ?)');
    this.#hints = database.prepare(
      'SELECT id, mark FROM hint WHERE organization = ? AND source = ? ORDER BY mark LIMIT ?',
    );
    this.#answer = database.prepare('DELETE FROM hint WHERE organization = ? AND source = ? AND id = ? AND mark = ?');
    this.#processed = database.prepare('SELECT item FROM processed WHERE organization = ? AND source = ?');
    this.#process = database.prepare('INSERT OR IGNORE INTO processed VALUES (?, ?, ?)');
    this.#forget = database.prepare('DELETE FROM processed WHERE organization = ? AND source = ? AND item = ?');
    this.#forgetAll = database.prepare('DELETE FROM processed WHERE organization = ? AND source = ?');
  }

  position(source: string): SourcePosition {
    const row = this.#position.get(this.#tables.organization, source);
    return {
      cursor: this.#parse(row?.cursor ?? 'null'),
      since: row?.since == null ? null : Number(row.since),
      round: Number(row?.round ?? 0),
    };
  }

  moveCursor(source: string, cursor: Json): void {
    this.#move.run(this.#tables.organization, source, JSON.stringify(cursor));
  }

  processed(source: string): Set<string> {
    const rows = this.#processed.all(this.#tables.organization, source);
    return new Set(rows.map(({ item }) => String(item)));
  }

  changeProcessed(source: string, { add, remove }: ProcessedChange = { add: [], remove: [] }): void {
    for (const item of remove) {
      this.#forget.run(this.#tables.organization, source, item);
    }
    for (const item of add) {
      this.#process.run(this.#tables.organization, source, item);
    }
  }

  polled(source: string, at: number): void {
    this.#polled.run(this.#tables.organization, source, at);
  }

  /** Starts a new round, so that a poll that is running does not restore the old cursor. */
  reset(source: string, since: number): void {
    this.#reset.run(this.#tables.organization, source, since);
    this.#forgetAll.run(this.#tables.organization, source);
  }

  /** Returns false if it was already remembered. */
  remember(source: string, delivery: string, at: number): boolean {
    this.#purge.run(at - DELIVERIES_KEPT);
    return Number(this.#remember.run(this.#tables.organization, source, delivery, at).changes) > 0;
  }

  hint(source: string, ids: readonly string[]): void {
    for (const id of ids) {
      this.#hint.run(this.#tables.organization, source, id);
    }
  }

  hints(source: string, most: number): Hint[] {
    const rows = this.#hints.all(this.#tables.organization, source, most);
    return rows.map(({ id, mark }) => ({ id: String(id), mark: Number(mark) }));
  }

  /** A hint that arrived again in the meantime has another mark and is kept. */
  answer(source: string, hints: readonly Hint[]): void {
    for (const { id, mark } of hints) {
      this.#answer.run(this.#tables.organization, source, id, mark);
    }
  }
}
