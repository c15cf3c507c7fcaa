/** History of passes, audit and pauses in SQL. */
import type { Json } from '../core/json.ts';
import {
  type AuditEntry,
  type AuditQuery,
  type History,
  type ManualPause,
  type NewAuditEntry,
  type NewPass,
  type PassRecord,
  RETENTION,
} from './history.ts';
import { textOrNull, toActor, toChange, toPass } from './history-rows.ts';
import { insertEvents } from './notification-events.ts';
import type { Sql, SqlDatabase } from './sql/database.ts';
import { upsertRows } from './sql/inserts.ts';

const MAX = Number.MAX_SAFE_INTEGER;

/** Opens the history of an organization. */
export function openHistory(database: SqlDatabase, organization: string): History {
  const parse = (text: unknown) => database.parse(text);
  const read = <T>(work: (tables: HistoryTables) => Promise<T>): Promise<T> =>
    database.read((sql) => work(new HistoryTables(sql, organization, parse)));
  const write = <T>(work: (tables: HistoryTables, sql: Sql) => Promise<T>): Promise<T> =>
    database.write(organization, (sql) => work(new HistoryTables(sql, organization, parse), sql));
  return {
    addPass: (pass, events, isRepeated = false) =>
      write(async (tables, sql) => {
        const number = (isRepeated ? await tables.findLast(pass) : null) ?? (await tables.addPass(pass));
        await insertEvents(sql, events?.(number) ?? []);
        return number;
      }),
    passes: ({ before, limit }) => read((tables) => tables.passes(before ?? MAX, limit)),
    pass: (number) => read((tables) => tables.pass(number)),
    passOfPlan: (checksum) => read((tables) => tables.passOfPlan(checksum)),
    changesOf: (address, limit) => read((tables) => tables.changesOf(address, limit)),
    addAudit: (entry, events, isRepeated = false) =>
      write(async (tables, sql) => {
        if (!isRepeated || !(await tables.hasAudit(entry))) {
          await tables.addAudit(entry);
          await insertEvents(sql, events ?? []);
        }
      }),
    audit: (query) => read((tables) => tables.audit(query)),
    pauses: (now) => read((tables) => tables.pauses(now)),
    pause: (pause) => write((tables) => tables.pause(pause)),
    resume: (address) => write((tables) => tables.resume(address)),
  };
}

const LIST = `number, cause, commit_id, subject, author, outcome, checksum, counts, reads, writes, refused, milliseconds,
  error, first_at, at, times, CASE WHEN octet_length(plan) > 4 THEN 1 ELSE 0 END AS has_plan`;

/** Finds a plan by the checksum of its held changes, which only the plan itself has. Reads few plans, as they are large. */
const ofHeld = (sql: Sql) => `SELECT number FROM
  (SELECT number, plan FROM pass WHERE organization = ? AND outcome = 'held' ORDER BY number DESC LIMIT ?) AS held
  WHERE ${sql.jsonMember('plan', 'heldChecksum')} = ? ORDER BY number DESC LIMIT 1`;
const SEARCHED_PLANS = 100;

/** Finds the newest pass whose plan, with those of later passes, exceeds a number of bytes. `octet_length` loads no plan. */
const LAST_EXCESS_PLAN = `SELECT MAX(number) AS number FROM (
    SELECT number, SUM(octet_length(plan)) OVER (ORDER BY number DESC) AS bytes FROM pass WHERE organization = ?
  ) AS plans WHERE bytes > ?`;

/** Statements of one transaction on the tables of an organization. */
class HistoryTables {
  readonly #organization: string;
  readonly #parse: (text: unknown) => Json;
  readonly #sql: Sql;

  constructor(sql: Sql, organization: string, parse: (text: unknown) => Json) {
    this.#sql = sql;
    this.#organization = organization;
    this.#parse = parse;
  }

  /** Returns the number of the last record if this pass is in it; null otherwise. */
  async findLast({ trigger, endedAt, milliseconds }: NewPass): Promise<number | null> {
    const [last] = await this.passes(MAX, 1);
    const isLast = last?.endedAt === endedAt && last.trigger === trigger && last.milliseconds === milliseconds;
    return isLast ? last.number : null;
  }

  async addPass(pass: NewPass): Promise<number> {
    const [last] = await this.passes(MAX, 1);
    if (last !== undefined && isSame(last, pass)) {
      await this.#sql.run(
        `UPDATE pass SET times = times + 1, at = ?, cause = ?, milliseconds = ?, reads = ?, refused = refused + ?
          WHERE organization = ? AND number = ?`,
        ...[pass.endedAt, pass.trigger, pass.milliseconds, pass.reads, pass.refused, this.#organization, last.number],
      );
      return last.number;
    }
    const number = (last?.number ?? 0) + 1;
    await this.#sql.run(
      `INSERT INTO pass (organization, number, cause, commit_id, subject, author, outcome, checksum, counts, reads, writes,
        refused, milliseconds, error, first_at, at, times, plan) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)`,
      ...[this.#organization, number, pass.trigger, pass.commit, pass.subject, pass.author, pass.outcome],
      ...[pass.checksum, JSON.stringify(pass.counts), pass.reads, pass.writes, pass.refused, pass.milliseconds],
      ...[pass.error, pass.endedAt, pass.endedAt, JSON.stringify(pass.plan)],
    );
    await upsertRows(this.#sql, {
      table: 'pass_change',
      key: ['organization', 'address', 'pass', 'action'],
      columns: ['status', 'error'],
      rows: pass.changes.map(({ address, action, status, error }) => {
        return [this.#organization, address, number, action, status, error];
      }),
    });
    await this.#removeOld(number - RETENTION.passes, pass.endedAt - RETENTION.age);
    if (pass.plan !== null) {
      await this.#removePlans();
    }
    return number;
  }

  /** Removes passes up to a number, and those that ended before a time. The last pass stays. */
  async #removeOld(number: number, time: number): Promise<void> {
    const old = await this.#sql.all(
      `SELECT number FROM pass WHERE organization = ? AND (number <= ? OR at < ?)
        AND number < (SELECT MAX(number) FROM pass WHERE organization = ?)`,
      ...[this.#organization, number, time, this.#organization],
    );
    for (const row of old) {
      for (const [table, column] of [
        ['pass', 'number'],
        ['pass_change', 'pass'],
      ]) {
        await this.#sql.run(
          `DELETE FROM ${table} WHERE organization = ? AND ${column} = ?`,
          ...[this.#organization, Number(row.number)],
        );
      }
    }
  }

  /** Removes the plans and changes of the oldest passes that exceed the retention. The last plan stays. */
  async #removePlans(): Promise<void> {
    const row = await this.#sql.get(LAST_EXCESS_PLAN, this.#organization, RETENTION.plans);
    if (row?.number == null) {
      return;
    }
    for (const statement of [
      "UPDATE pass SET plan = 'null' WHERE organization = ? AND number <= ? AND octet_length(plan) > 4",
      'DELETE FROM pass_change WHERE organization = ? AND pass <= ?',
    ]) {
      await this.#sql.run(statement, this.#organization, Number(row.number));
    }
  }

  async passes(before: number, limit: number): Promise<readonly PassRecord[]> {
    const rows = await this.#sql.all(
      `SELECT ${LIST} FROM pass WHERE organization = ? AND number < ? ORDER BY number DESC LIMIT ?`,
      ...[this.#organization, before, limit],
    );
    return rows.map((row) => toPass(row, this.#parse));
  }

  async pass(number: number) {
    const row = await this.#sql.get(
      `SELECT ${LIST}, plan FROM pass WHERE organization = ? AND number = ?`,
      ...[this.#organization, number],
    );
    if (row === undefined) {
      return null;
    }
    const changes = await this.#sql.all(
      'SELECT * FROM pass_change WHERE organization = ? AND pass = ? ORDER BY address, action',
      ...[this.#organization, number],
    );
    return { pass: toPass(row, this.#parse), changes: changes.map(toChange), plan: this.#parse(row.plan) };
  }

  async passOfPlan(checksum: string) {
    const row =
      (await this.#sql.get(
        'SELECT number FROM pass WHERE organization = ? AND checksum = ? ORDER BY number DESC LIMIT 1',
        ...[this.#organization, checksum],
      )) ?? (await this.#sql.get(ofHeld(this.#sql), this.#organization, SEARCHED_PLANS, checksum));
    return row === undefined ? null : this.pass(Number(row.number));
  }

  async changesOf(address: string, limit: number) {
    const rows = await this.#sql.all(
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

  async hasAudit({ at, actor, action, subject, outcome }: NewAuditEntry): Promise<boolean> {
    const row = await this.#sql.get(
      `SELECT number FROM audit
        WHERE organization = ? AND at = ? AND actor = ? AND action = ? AND subject = ? AND outcome = ? LIMIT 1`,
      ...[this.#organization, at, actor.name, action, subject, outcome],
    );
    return row !== undefined;
  }

  async addAudit({ at, actor, action, subject, reason, outcome, detail }: NewAuditEntry): Promise<void> {
    const last = await this.#sql.get('SELECT MAX(number) AS n FROM audit WHERE organization = ?', this.#organization);
    const number = Number(last?.n ?? 0) + 1;
    await this.#sql.run(
      `INSERT INTO audit (organization, number, at, actor, method, action, subject, reason, outcome, detail)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[this.#organization, number, at, actor.name, actor.method, action, subject, reason, outcome, detail],
    );
    await this.#sql.run(
      'DELETE FROM audit WHERE organization = ? AND number <= ?',
      ...[this.#organization, number - RETENTION.audit],
    );
  }

  async audit({ before = { at: MAX, number: MAX }, limit }: AuditQuery): Promise<readonly AuditEntry[]> {
    const rows = await this.#sql.all(
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

  async pauses(now: number): Promise<readonly ManualPause[]> {
    const rows = await this.#sql.all(
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

  async pause({ address, reason, by, since, until }: ManualPause): Promise<void> {
    await upsertRows(this.#sql, {
      table: 'manual_pause',
      key: ['organization', 'address'],
      columns: ['reason', 'actor', 'method', 'since', 'until'],
      rows: [[this.#organization, address, reason, by.name, by.method, since, until]],
    });
  }

  async resume(address: string): Promise<boolean> {
    const statement = 'DELETE FROM manual_pause WHERE organization = ? AND address = ?';
    return (await this.#sql.run(statement, this.#organization, address)) > 0;
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
