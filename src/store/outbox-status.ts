import type { StatementSync } from 'node:sqlite';
import type { Json } from '../core/json.ts';
import type { SourceStatus } from './outbox.ts';
import type { OutboxTables } from './outbox-tables.ts';

type Row = Record<string, unknown>;

/** Status of every source. */
export class StatusTables {
  readonly #tables: OutboxTables;
  readonly #parse: (text: unknown) => Json;
  readonly #sources: StatementSync;
  readonly #contents: StatementSync;
  readonly #doubts: StatementSync;
  readonly #hints: StatementSync;
  readonly #counts: StatementSync;
  readonly #outdated: StatementSync;

  constructor(tables: OutboxTables, parse: (text: unknown) => Json) {
    const { database } = tables;
    this.#tables = tables;
    this.#parse = parse;
    this.#sources = database.prepare('SELECT name, cursor, polled_at FROM source WHERE organization = ?');
    this.#contents = database.prepare(`SELECT source, state, COUNT(*) AS items, MIN(since) AS since FROM content
      WHERE organization = ? GROUP BY source, state`);
    this.#doubts = database.prepare(`SELECT source, COUNT(*) AS items FROM content
      WHERE organization = ? AND state = 'sending' AND doubts > 0 GROUP BY source`);
    this.#hints = database.prepare('SELECT source, COUNT(*) AS items FROM hint WHERE organization = ? GROUP BY source');
    this.#counts = database.prepare('SELECT source, name, value FROM source_count WHERE organization = ?');
    this.#outdated = database.prepare(`SELECT source, COUNT(*) AS items FROM content
      WHERE organization = ? AND state = 'waiting' AND redactor <> ? GROUP BY source`);
  }

  outdated(redactor: string): ReadonlyMap<string, number> {
    const rows = this.#outdated.all(this.#tables.organization, redactor);
    return new Map(rows.map(({ source, items }) => [String(source), Number(items)]));
  }

  sources(): SourceStatus[] {
    const { organization } = this.#tables;
    const positions = new Map(this.#sources.all(organization).map((row) => [String(row.name), row]));
    const contents = this.#contents.all(organization);
    const doubts = this.#doubts.all(organization);
    const hints = this.#hints.all(organization);
    const counts = Map.groupBy(this.#counts.all(organization), (row) => String(row.source));
    const names = [...contents, ...hints].map((row) => String(row.source));
    return [...new Set([...positions.keys(), ...counts.keys(), ...names])].sort().map((source) => {
      const of = (rows: readonly Row[], state?: string) =>
        rows.find((row) => row.source === source && (state === undefined || row.state === state));
      const items = (row: Row | undefined) => Number(row?.items ?? 0);
      const position = positions.get(source);
      const waiting = of(contents, 'waiting');
      return {
        source,
        cursor: this.#parse(position?.cursor ?? 'null'),
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
}
