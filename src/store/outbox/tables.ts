import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { OutboxLimit } from './outbox.ts';

export type ContentState = 'waiting' | 'sending' | 'dead';

/** Stored content without its payload. */
export interface ContentRow {
  readonly id: number;
  readonly key: string;
  readonly state: ContentState;
  readonly source: string;
  readonly hash: string;
  readonly redactor: string;
  readonly bytes: number;
  readonly since: number;
  readonly at: number;
  readonly replaced: boolean;
}

export const CONTENT_COLUMNS = 'id, key, state, source, hash, redactor, bytes, since, at, replaced';

export function toContent(row: Record<string, unknown>): ContentRow {
  return {
    id: Number(row.id),
    key: String(row.key),
    state: String(row.state) as ContentState,
    source: String(row.source),
    hash: String(row.hash),
    redactor: String(row.redactor),
    bytes: Number(row.bytes),
    since: Number(row.since),
    at: Number(row.at),
    replaced: row.replaced === 1,
  };
}

/** Shared parts of the outbox: transactions, the amount of stored content, and the counters. */
export class OutboxTables {
  readonly database: DatabaseSync;
  readonly organization: string;
  readonly #run: <T>(work: () => T) => T;
  readonly #stored: StatementSync;
  readonly #hold: StatementSync;
  readonly #count: StatementSync;
  readonly #remove: StatementSync;
  readonly #unmark: StatementSync;

  /** `run` turns failures into a StoreError. */
  constructor(database: DatabaseSync, organization: string, run: <T>(work: () => T) => T) {
    this.database = database;
    this.organization = organization;
    this.#run = run;
    this.#stored = database.prepare('SELECT items, bytes FROM outbox WHERE organization = ?');
    this.#hold = database.prepare(`INSERT INTO outbox VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET items = items + excluded.items, bytes = bytes + excluded.bytes`);
    this.#count = database.prepare(`INSERT INTO source_count VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET value = value + excluded.value`);
    this.#remove = database.prepare('DELETE FROM content WHERE id = ?');
    this.#unmark = database.prepare('DELETE FROM recheck WHERE content = ?');
  }

  async read<T>(work: () => T): Promise<T> {
    return this.#run(work);
  }

  /** Runs one transaction; it is rolled back if `keeps` returns false. */
  async write<T>(work: () => T, keeps: (result: T) => boolean = () => true): Promise<T> {
    return this.#run(() => {
      this.database.exec('BEGIN');
      try {
        const result = work();
        this.database.exec(keeps(result) ? 'COMMIT' : 'ROLLBACK');
        return result;
      } catch (error) {
        if (this.database.isTransaction) {
          this.database.exec('ROLLBACK');
        }
        throw error;
      }
    });
  }

  stored(): OutboxLimit {
    const row = this.#stored.get(this.organization);
    return { items: Number(row?.items ?? 0), bytes: Number(row?.bytes ?? 0) };
  }

  hold(items: number, bytes: number): void {
    this.#hold.run(this.organization, items, bytes);
  }

  count(source: string, name: string, by = 1): void {
    if (by !== 0) {
      this.#count.run(this.organization, source, name, by);
    }
  }

  /** Returns the counts of rows by source. */
  countRows(rows: readonly { readonly source: string }[], name: string): void {
    for (const [source, of] of Map.groupBy(rows, (row) => row.source)) {
      this.count(source, name, of.length);
    }
  }

  /** Deletes content and its payload. */
  remove(row: ContentRow): void {
    this.#remove.run(row.id);
    this.#unmark.run(row.id);
    this.hold(-1, -row.bytes);
  }
}
