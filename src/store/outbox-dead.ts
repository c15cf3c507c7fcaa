import type { StatementSync } from 'node:sqlite';
import type { DeadFilter, DeadLetter } from './outbox.ts';
import type { RecheckTables } from './outbox-rechecks.ts';
import { CONTENT_COLUMNS, type ContentRow, type OutboxTables, toContent } from './outbox-tables.ts';

const MATCHES = `organization = ? AND state = 'dead' AND (? IS NULL OR source = ?) AND (? IS NULL OR key = ?)`;

/** Dead letters: content that the platform refused. */
export class DeadTables {
  readonly #tables: OutboxTables;
  readonly #rechecks: RecheckTables;
  readonly #list: StatementSync;
  readonly #show: StatementSync;
  readonly #rows: StatementSync;
  readonly #retry: StatementSync;
  readonly #dismiss: StatementSync;

  constructor(tables: OutboxTables, rechecks: RecheckTables) {
    const { database } = tables;
    this.#tables = tables;
    this.#rechecks = rechecks;
    const letter = 'key, source, reason, at, bytes';
    this.#list = database.prepare(`SELECT ${letter} FROM content WHERE ${MATCHES} ORDER BY at, id LIMIT ?`);
    this.#show = database.prepare(
      `SELECT ${letter}, payload FROM content WHERE organization = ? AND key = ? AND state = 'dead'`,
    );
    this.#rows = database.prepare(`SELECT ${CONTENT_COLUMNS} FROM content WHERE ${MATCHES}`);
    this.#retry = database.prepare(
      "UPDATE content SET state = 'waiting', reason = NULL, at = ?, since = ? WHERE id = ?",
    );
    this.#dismiss =
      database.prepare(`INSERT INTO conversation (organization, key, source, dismissed) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET dismissed = excluded.dismissed`);
  }

  list(filter: DeadFilter, most: number): Promise<DeadLetter[]> {
    return this.#tables.read(() => this.#list.all(...this.#matching(filter), most).map(toLetter));
  }

  show(key: string): Promise<(DeadLetter & { readonly payload: string }) | null> {
    return this.#tables.read(() => {
      const row = this.#show.get(this.#tables.organization, key);
      return row === undefined ? null : { ...toLetter(row), payload: String(row.payload) };
    });
  }

  retry(filter: DeadFilter, now: number): Promise<number> {
    return this.#each(filter, (row) => {
      this.#retry.run(now, now, row.id);
      // The conversation may have changed since its content was refused.
      this.#rechecks.again(row.id, now);
    });
  }

  drop(filter: DeadFilter): Promise<number> {
    return this.#each(filter, (row) => {
      this.#dismiss.run(this.#tables.organization, row.key, row.source, row.hash);
      this.#tables.remove(row);
    });
  }

  #each(filter: DeadFilter, work: (row: ContentRow) => void): Promise<number> {
    return this.#tables.write(() => {
      const rows = this.#rows.all(...this.#matching(filter)).map(toContent);
      for (const row of rows) {
        work(row);
      }
      return rows.length;
    });
  }

  #matching(filter: DeadFilter) {
    const source = filter.source ?? null;
    const key = filter.key ?? null;
    return [this.#tables.organization, source, source, key, key] as const;
  }
}

function toLetter(row: Record<string, unknown>): DeadLetter {
  return {
    key: String(row.key),
    source: String(row.source),
    reason: String(row.reason),
    at: Number(row.at),
    bytes: Number(row.bytes),
  };
}
