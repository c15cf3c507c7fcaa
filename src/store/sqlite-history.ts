/** History of passes, audit and pauses in SQLite. */
import type { DatabaseSync } from 'node:sqlite';
import type { Json } from '../core/json.ts';
import {
  type AuditEntry,
  type AuditQuery,
  type History,
  type ManualPause,
  type NewPass,
  type PassRecord,
  RETENTION,
} from './history.ts';
import { type HistoryRow, textOrNull, toActor, toChange, toPass } from './history-rows.ts';
import { insertEvents } from './notification-events.ts';
import { inTransaction, Statements } from './sql/transaction.ts';

const MAX = Number.MAX_SAFE_INTEGER;

/** Access to the database: converts its errors to StoreError, and parses stored JSON. */
export interface HistoryAccess {
  run<T>(work: () => T): T;
  parse(text: unknown): Json;
}

/** Opens the history of an organization. */
export function openHistory(database: DatabaseSync, access: HistoryAccess, organization: string): History {
  const statements = new Statements(database);
  const tables = new HistoryTables(statements, organization, access.parse);
  const run = async <T>(work: () => T): Promise<T> => access.run(work);
  const all = <T>(work: () => T): Promise<T> => run(() => inTransaction(database, work));
  return {
    addPass: (pass, events) =>
      all(() => {
        const number = tables.addPass(pass);
        insertEvents(statements, events?.(number) ?? []);
        return number;
      }),
    passes: ({ before, limit }) => run(() => tables.passes(before ?? MAX, limit)),
    pass: (number) => run(() => tables.pass(number)),
    passOfPlan: (checksum) => run(() => tables.passOfPlan(checksum)),
    changesOf: (address, limit) => run(() => tables.changesOf(address, limit)),
    addAudit: (entry, events) =>
      all(() => {
        tables.addAudit(entry);
        insertEvents(statements, events ?? []);
      }),
    audit: (query) => run(() => tables.audit(query)),
    pauses: (now) => run(() => tables.pauses(now)),
    pause: (pause) => run(() => tables.pause(pause)),
    resume: (address) => run(() => tables.resume(address)),
  };
}

const LIST = `number, cause, commit_id, subject, author, outcome, checksum, counts, reads, writes, refused, milliseconds,
  error, first_at, at, times, octet_length(plan) > 4 AS has_plan`;

/** Finds a plan by the checksum of its held changes, which only the plan itself has. Reads few plans, as they are large. */
const OF_HELD = `SELECT number FROM
  (SELECT number, plan FROM pass WHERE organization = ? AND outcome = 'held' ORDER BY number DESC LIMIT ?)
  WHERE plan ->> 'heldChecksum' = ? ORDER BY number DESC LIMIT 1`;
const SEARCHED_PLANS = 100;

/** Finds the newest pass whose plan, with those of later passes, exceeds a number of bytes. `octet_length` loads no plan. */
const LAST_EXCESS_PLAN = `SELECT MAX(number) AS number FROM (
    SELECT number, SUM(octet_length(plan)) OVER (ORDER BY number DESC) AS bytes FROM pass WHERE organization = ?
  ) WHERE bytes > ?`;

/** Statements on the tables of one organization. */
class HistoryTables {
  readonly #organization: string;
  readonly #parse: (text: unknown) => Json;
  readonly #statements: Statements;

  constructor(statements: Statements, organization: string, parse: (text: unknown) => Json) {
    this.#statements = statements;
    this.#organization = organization;
    this.#parse = parse;
  }

  addPass(pass: NewPass): number {
    const [last] = this.passes(MAX, 1);
    if (last !== undefined && isSame(last, pass)) {
      this.#run(
        `UPDATE pass SET times = times + 1, at = ?, cause = ?, milliseconds = ?, reads = ?, refused = refused + ?
          WHERE organization = ? AND number = ?`,
        ...[pass.endedAt, pass.trigger, pass.milliseconds, pass.reads, pass.refused, this.#organization, last.number],
      );
      return last.number;
    }
    const number = (last?.number ?? 0) + 1;
    this.#run(
      'INSERT INTO pass VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)',
      ...[this.#organization, number, pass.trigger, pass.commit, pass.subject, pass.author, pass.outcome],
      ...[pass.checksum, JSON.stringify(pass.counts), pass.reads, pass.writes, pass.refused, pass.milliseconds],
      ...[pass.error, pass.endedAt, pass.endedAt, JSON.stringify(pass.plan)],
    );
    for (const { address, action, status, error } of pass.changes) {
      this.#run(
        'INSERT OR REPLACE INTO pass_change VALUES (?, ?, ?, ?, ?, ?)',
        ...[this.#organization, address, number, action, status, error],
      );
    }
    this.#removeOld(number - RETENTION.passes, pass.endedAt - RETENTION.age);
    if (pass.plan !== null) {
      this.#removePlans();
    }
    return number;
  }

  /** Removes passes up to a number, and those that ended before a time. The last pass stays. */
  #removeOld(number: number, time: number): void {
    const old = this.#all(
      `SELECT number FROM pass WHERE organization = ? AND (number <= ? OR at < ?)
        AND number < (SELECT MAX(number) FROM pass WHERE organization = ?)`,
      ...[this.#organization, number, time, this.#organization],
    );
    for (const row of old) {
      for (const [table, column] of [
        ['pass', 'number'],
        ['pass_change', 'pass'],
      ]) {
        this.#run(
          `DELETE FROM ${table} WHERE organization = ? AND ${column} = ?`,
          this.#organization,
          Number(row.number),
        );
      }
    }
  }

  /** Removes the plans and changes of the oldest passes that exceed the retention. The last plan stays. */
  #removePlans(): void {
    const [row] = this.#all(LAST_EXCESS_PLAN, this.#organization, RETENTION.plans);
    if (row?.number == null) {
      return;
    }
    for (const sql of [
      "UPDATE pass SET plan = 'null' WHERE organization = ? AND number <= ? AND octet_length(plan) > 4",
      'DELETE FROM pass_change WHERE organization = ? AND pass <= ?',
    ]) {
      this.#run(sql, this.#organization, Number(row.number));
    }
  }

  passes(before: number, limit: number): readonly PassRecord[] {
    const rows = this.#all(
      `SELECT ${LIST} FROM pass WHERE organization = ? AND number < ? ORDER BY number DESC LIMIT ?`,
      ...[this.#organization, before, limit],
    );
    return rows.map((row) => toPass(row, this.#parse));
  }

  pass(number: number) {
    const [row] = this.#all(
      `SELECT ${LIST}, plan FROM pass WHERE organization = ? AND number = ?`,
      this.#organization,
      number,
    );
    if (row === undefined) {
      return null;
    }
    const changes = this.#all(
      'SELECT * FROM pass_change WHERE organization = ? AND pass = ? ORDER BY address, action',
      ...[this.#organization, number],
    );
    return { pass: toPass(row, this.#parse), changes: changes.map(toChange), plan: this.#parse(row.plan) };
  }

  passOfPlan(checksum: string) {
    const [row] = this.#all(
      'SELECT number FROM pass WHERE organization = ? AND checksum = ? ORDER BY number DESC LIMIT 1',
      ...[this.#organization, checksum],
    );
    const [held] = row === undefined ? this.#all(OF_HELD, this.#organization, SEARCHED_PLANS, checksum) : [row];
    return held === undefined ? null : this.pass(Number(held.number));
  }

  changesOf(address: string, limit: number) {
    const rows = this.#all(
      `SELECT c.*, p.commit_id, p.subject, p.first_at FROM pass_change c JOIN pass p
        ON p.organization = c.organization AND p.number = c.pass
        WHERE c.organization = ? AND c.address = ? ORDER BY c.pass DESC, c.action DESC LIMIT ?`,
      ...[this.#organization, address, limit],
    );
    return rows.map((row) => ({
      ...toChange(row),
      pass: Number(row.pass),
      commit: textOrNull(row.commit_id),
      subject: String(row.subject),
      at: Number(row.first_at),
    }));
  }

  addAudit({ at, actor, action, subject, reason, outcome, detail }: Omit<AuditEntry, 'number'>): void {
    const [last] = this.#all('SELECT MAX(number) AS n FROM audit WHERE organization = ?', this.#organization);
    const number = Number(last?.n ?? 0) + 1;
    this.#run(
      'INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...[this.#organization, number, at, actor.name, actor.method, action, subject, reason, outcome, detail],
    );
    this.#run('DELETE FROM audit WHERE organization = ? AND number <= ?', this.#organization, number - RETENTION.audit);
  }

  audit({ before = { at: MAX, number: MAX }, limit }: AuditQuery): readonly AuditEntry[] {
    const rows = this.#all(
      'SELECT * FROM audit WHERE organization = ? AND (at, number) < (?, ?) ORDER BY at DESC, number DESC LIMIT ?',
      ...[this.#organization, before.at, before.number, limit],
    );
    return rows.map((row) => ({
      number: Number(row.number),
      at: Number(row.at),
      actor: toActor(row),
      action: String(row.action),
      subject: String(row.subject),
      reason: String(row.reason),
      outcome: row.outcome === 'refused' ? 'refused' : 'done',
      detail: String(row.detail),
    }));
  }

  pauses(now: number): readonly ManualPause[] {
    const rows = this.#all(
      'SELECT * FROM manual_pause WHERE organization = ? AND (until IS NULL OR until > ?) ORDER BY address',
      ...[this.#organization, now],
    );
    return rows.map((row) => ({
      address: String(row.address),
      reason: String(row.reason),
      by: toActor(row),
      since: Number(row.since),
      until: row.until === null ? null : Number(row.until),
    }));
  }

  pause({ address, reason, by, since, until }: ManualPause): void {
    this.#run(
      'INSERT OR REPLACE INTO manual_pause VALUES (?, ?, ?, ?, ?, ?, ?)',
      ...[this.#organization, address, reason, by.name, by.method, since, until],
    );
  }

  resume(address: string): boolean {
    return (
      this.#run('DELETE FROM manual_pause WHERE organization = ? AND address = ?', this.#organization, address) > 0
    );
  }

  #run(sql: string, ...values: (string | number | null)[]): number {
    return this.#statements.run(sql, ...values);
  }

  #all(sql: string, ...values: (string | number | null)[]): readonly HistoryRow[] {
    return this.#statements.all(sql, ...values);
  }
}

/** Returns true if a pass that wrote nothing ended like the last one, which wrote nothing either. */
function isSame(last: PassRecord, pass: NewPass): boolean {
  return (
    last.writes === 0 &&
    pass.writes === 0 &&
    last.outcome === pass.outcome &&
    last.commit === pass.commit &&
    last.checksum === pass.checksum &&
    last.error === pass.error
  );
}
