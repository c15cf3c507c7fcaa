import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Json } from '../../core/json.ts';
import { DepositTables } from './deposit.ts';
import type { DeadFilter, DeadLetter, Outbox, OutboxLimit, SourceStatus } from './outbox.ts';
import { RecheckTables } from './rechecks.ts';
import { SendingTables } from './sending.ts';
import { SourceTables } from './sources.ts';
import { CONTENT_COLUMNS, type ContentRow, OutboxTables, toContent } from './tables.ts';
import { ThreadTables } from './threads.ts';

/** Error handling of the file that holds the outbox; both members throw StoreError. */
export interface OutboxFile {
  run<T>(work: () => T): T;
  parse(text: unknown): Json;
}

/**
 * Outbox of one organization in a database that has its tables. Times are stored as whole milliseconds, because times
 * from a provider, a monotonic clock or random jitter may have fractions.
 */
export function openOutbox(database: DatabaseSync, file: OutboxFile, organization: string, limit: OutboxLimit): Outbox {
  const tables = new OutboxTables(database, organization, file.run);
  const sources = new SourceTables(tables, file.parse);
  const rechecks = new RecheckTables(tables);
  const threads = new ThreadTables(tables);
  const deposits = new DepositTables(tables, { sources, rechecks, threads, limit });
  const sending = new SendingTables(tables, rechecks);
  const dead = new DeadTables(tables, rechecks);
  const status = new StatusTables(tables, file.parse);
  return {
    put: (deposit) => deposits.put(deposit),
    position: (source) => tables.read(() => sources.position(source)),
    processed: (source) => tables.read(() => sources.processed(source)),
    polled: (source, at) => tables.write(() => sources.polled(source, at)),
    reset: (source, since) => tables.write(() => sources.reset(source, since)),
    hint: (source, delivery, ids, at) =>
      tables.write(() => {
        const isNew = delivery === null || sources.remember(source, delivery, at);
        sources.hint(source, isNew ? ids : []);
        tables.count(source, 'hinted', isNew ? ids.length : 0);
        return isNew;
      }),
    hints: (source, most) => tables.read(() => sources.hints(source, most)),
    rechecks: (source, now, most) => tables.read(() => rechecks.due(source, now, most)),
    recheckAt: (source) => tables.read(() => rechecks.at(source)),
    postponeRecheck: (source, key, until) => tables.write(() => rechecks.postpone(source, key, Math.ceil(until))),
    recover: () => sending.recover(),
    next: (limits, now) => sending.next(limits, now),
    dueAt: (limits) => sending.dueAt(limits),
    setBack: (by, now) => sending.setBack(Math.round(by), now),
    sent: (batch, at) => sending.sent(batch, at),
    doubt: (batch, until) => sending.doubt(batch, Math.ceil(until)),
    rest: (batch, until) => sending.rest(batch, Math.ceil(until)),
    release: (batch) => sending.release(batch),
    split: (batch) => sending.split(batch),
    bury: (batch, reason, at) => sending.bury(batch, reason, at),
    dead: (filter, most) => dead.list(filter, most),
    deadLetter: (key) => dead.show(key),
    retry: (filter, now) => dead.retry(filter, now),
    drop: (filter) => dead.drop(filter),
    status: () =>
      tables.read(() => ({ stored: tables.stored(), limit, isFull: deposits.isFull(), sources: status.sources() })),
    outdated: (redactor) => tables.read(() => status.outdated(redactor)),
  };
}

type Row = Record<string, unknown>;

/** Status of every source. */
class StatusTables {
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

const MATCHES = `organization = ? AND state = 'dead' AND (? IS NULL OR source = ?) AND (? IS NULL OR key = ?)`;

/** Dead letters: content that the platform refused. */
class DeadTables {
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
