import type { StatementSync } from 'node:sqlite';
import type { Recheck } from './outbox.ts';
import type { OutboxTables } from './tables.ts';

/** Content that must be checked again at its source, and when. */
export class RecheckTables {
  readonly #tables: OutboxTables;
  readonly #require: StatementSync;
  readonly #due: StatementSync;
  readonly #at: StatementSync;
  readonly #postpone: StatementSync;
  readonly #again: StatementSync;
  readonly #settle: StatementSync;
  readonly #setBack: StatementSync;

  constructor(tables: OutboxTables) {
    const { database } = tables;
    this.#tables = tables;
    this.#require = database.prepare(`INSERT INTO recheck (content, organization, source, key, id, at)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET id = excluded.id, at = excluded.at`);
    const due = 'FROM recheck WHERE organization = ? AND source = ? AND at IS NOT NULL';
    this.#due = database.prepare(`SELECT key, id ${due} AND at <= ? ORDER BY at, content LIMIT ?`);
    this.#at = database.prepare(`SELECT MIN(at) AS at ${due}`);
    this.#postpone = database.prepare(
      'UPDATE recheck SET at = ? WHERE organization = ? AND source = ? AND key = ? AND at IS NOT NULL',
    );
    this.#again = database.prepare('UPDATE recheck SET at = ? WHERE content = ?');
    this.#settle = database.prepare(
      'UPDATE recheck SET at = NULL WHERE organization = ? AND source = ? AND key = ? AND at <= ?',
    );
    this.#setBack = database.prepare('UPDATE recheck SET at = MAX(at - ?, ?) WHERE organization = ? AND at > ?');
  }

  /** Sets the time at which content is checked again; null: it was checked. */
  require(content: number | bigint, source: string, recheck: Recheck, at: number | null): void {
    this.#require.run(content, this.#tables.organization, source, recheck.key, recheck.id, at);
  }

  /** Schedules another check of content that was checked before; other content is not affected. */
  again(content: number, at: number): void {
    this.#again.run(at, content);
  }

  due(source: string, now: number, most: number): Recheck[] {
    const rows = this.#due.all(this.#tables.organization, source, now, most);
    return rows.map(({ key, id }) => ({ key: String(key), id: String(id) }));
  }

  at(source: string): number | null {
    const at = this.#at.get(this.#tables.organization, source)?.at;
    return at == null ? null : Number(at);
  }

  postpone(source: string, key: string, until: number): void {
    this.#postpone.run(until, this.#tables.organization, source, key);
  }

  /**
   * Records that the content due at `lookedAt` was checked, even if the source asks for more checks. Returns its
   * number.
   */
  settle(source: string, key: string, lookedAt: number): number {
    return Number(this.#settle.run(this.#tables.organization, source, key, lookedAt).changes);
  }

  setBack(by: number, now: number): void {
    this.#setBack.run(by, now, this.#tables.organization, now);
  }
}
