/** History of one organization: passes, changes of resources, pauses, and what people did. See docs/web-page.md#history. */
import type { Json } from '../core/json.ts';
import { insertEvents, type NotificationEvent } from './notifications.ts';
import { type Sql, type SqlDatabase, type SqlRow, textOrNull, upsertRows } from './sql/database.ts';

/** Number of changes by status or action; only those above 0. */
export type PassCounts = Readonly<Record<string, number>>;

/** Result of a pass, as it is recorded. Times are milliseconds since the epoch. */
export interface NewPass {
  readonly trigger: string;
  /** Null if the manifests have no commit, or could never be read. */
  readonly commit: string | null;
  /** First line of the commit's message. */
  readonly subject: string;
  /** Email of the commit's author; null if it is not known. */
  readonly author: string | null;
  readonly outcome: 'done' | 'held' | 'failed';
  /** Checksum of the plan; null if the pass ended before it. */
  readonly checksum: string | null;
  readonly counts: PassCounts;
  readonly reads: number;
  readonly writes: number;
  /** Requests that the platform refused because of its rate limit (429) during the pass. */
  readonly refused: number;
  readonly milliseconds: number;
  readonly error: string | null;
  readonly endedAt: number;
  /** Changes of resources that the pass tried to apply, and those that wait. */
  readonly changes: readonly NewResourceChange[];
  /** The plan as JSON; null if it had no changes. */
  readonly plan: Json;
}

export interface NewResourceChange {
  readonly address: string;
  readonly action: string;
  readonly status: string;
  readonly error: string | null;
}

/** A recorded pass. Consecutive passes without writes that ended the same way are one record. */
export interface PassRecord extends Omit<NewPass, 'changes' | 'plan'> {
  /** Counts from 1 for each organization. */
  readonly number: number;
  /** End of the first of the passes, in milliseconds since the epoch. `endedAt` is the end of the last one. */
  readonly firstEndedAt: number;
  readonly times: number;
  /** False if the plan had no changes, or is not kept any more. */
  readonly hasPlan: boolean;
}

/** A change of a resource, with the pass that made it. */
interface ResourceChange extends NewResourceChange {
  readonly pass: number;
  readonly commit: string | null;
  readonly subject: string;
  readonly at: number;
}

export interface PassDetails {
  readonly pass: PassRecord;
  readonly changes: readonly NewResourceChange[];
  readonly plan: Json;
}

/** Name of the history of what concerns no single organization; no organization has this id. */
export const DAEMON_HISTORY = '';

/** A person, and how Octavo knows who it is. */
export interface Actor {
  readonly name: string;
  /** `socket`: a user of the machine who can open the control socket; the others: see docs/web-page.md#sign-in. */
  readonly method: 'socket' | 'none' | 'token' | 'proxy' | 'oidc';
}

/** Action of a person, carried out or refused. */
export interface NewAuditEntry {
  readonly at: number;
  readonly actor: Actor;
  /** Such as `approve`, `pause` or `reconcile`. */
  readonly action: string;
  /** Address, checksum, cluster or dead letter; empty for the whole organization. */
  readonly subject: string;
  readonly reason: string;
  readonly outcome: 'done' | 'refused';
  /** Result, or why it was refused. */
  readonly detail: string;
}

export interface AuditEntry extends NewAuditEntry {
  readonly number: number;
}

/** A pause that a person set. Nothing is applied to its subject until it ends. */
export interface ManualPause {
  /** Address of a resource; empty for the whole organization. */
  readonly address: string;
  readonly reason: string;
  readonly by: Actor;
  readonly since: number;
  /** Null: until it is resumed. */
  readonly until: number | null;
}

/** Selects records before a number, newest first. */
interface HistoryQuery {
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Selects entries of the audit before a position, by time and then by number, newest first. */
export interface AuditQuery {
  readonly before?: { readonly at: number; readonly number: number } | undefined;
  readonly limit: number;
}

/** History of one organization. Every method throws StoreError if the state cannot be used. */
export interface History {
  /**
   * Records a pass; merges it into the last one if both wrote nothing and ended the same way. Removes what is older than
   * the retention, and the plans and changes of the oldest passes while all plans take more bytes than `RETENTION.plans`.
   * Adds the events of the pass in the same transaction; they may depend on its number. Returns the number of the record.
   * `isRepeated`: an earlier call with this pass, the last one, may have stored it although it failed.
   */
  addPass(
    pass: NewPass,
    events?: (number: number) => readonly NotificationEvent[],
    isRepeated?: boolean,
  ): Promise<number>;
  passes(query: HistoryQuery): Promise<readonly PassRecord[]>;
  /** Returns null if it does not exist any more. */
  pass(number: number): Promise<PassDetails | null>;
  /** Returns the last pass with this plan, by its checksum or that of its held changes; null if there is none any more. */
  passOfPlan(checksum: string): Promise<PassDetails | null>;
  /** Returns the changes of a resource, newest first. */
  changesOf(address: string, limit: number): Promise<readonly ResourceChange[]>;
  /**
   * Adds an entry, with its events in the same transaction. `isRepeated`: an earlier call with this entry may have stored
   * it although it failed.
   */
  addAudit(entry: NewAuditEntry, events?: readonly NotificationEvent[], isRepeated?: boolean): Promise<void>;
  audit(query: AuditQuery): Promise<readonly AuditEntry[]>;
  /** Returns the pauses that have not ended at this time. */
  pauses(now: number): Promise<readonly ManualPause[]>;
  /** Adds a pause, or replaces the one with the same address. */
  pause(pause: ManualPause): Promise<void>;
  /** Ends a pause. Returns false if there is none. */
  resume(address: string): Promise<boolean>;
}

/**
 * Number of passes and audit entries that are kept, the age of passes in milliseconds, and the bytes of all plans of an
 * organization.
 */
export const RETENTION = { passes: 1000, audit: 10_000, age: 90 * 24 * 3_600_000, plans: 16_000_000 } as const;

function toPass(row: SqlRow, parse: (text: unknown) => Json): PassRecord {
  return {
    number: Number(row.number),
    trigger: String(row.cause),
    commit: textOrNull(row.commit_id),
    subject: String(row.subject),
    author: textOrNull(row.author),
    outcome: row.outcome as PassRecord['outcome'],
    checksum: textOrNull(row.checksum),
    counts: parse(row.counts) as PassCounts,
    reads: Number(row.reads),
    writes: Number(row.writes),
    refused: Number(row.refused),
    milliseconds: Number(row.milliseconds),
    error: textOrNull(row.error),
    firstEndedAt: Number(row.first_at),
    endedAt: Number(row.at),
    times: Number(row.times),
    hasPlan: row.has_plan === 1,
  };
}

function toChange(row: SqlRow): NewResourceChange {
  return {
    address: String(row.address),
    action: String(row.action),
    status: String(row.status),
    error: textOrNull(row.error),
  };
}

export function toActor(row: SqlRow): Actor {
  return { name: String(row.actor), method: row.method as Actor['method'] };
}

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
