/** History of one organization: passes, changes of resources, pauses, and what people did. See docs/web-page.md#history. */
import type { Json } from '../core/json.ts';
import { insertEvents, type NotificationEvent } from './notifications.ts';
import { type Sql, type SqlDatabase, upsertRows } from './sql/database.ts';

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
  /**
   * `socket`: a user of the machine who can open the control socket; `comment`: an account that commented at a forge; the
   * others: see docs/web-page.md#sign-in.
   */
  readonly method: 'socket' | 'none' | 'token' | 'proxy' | 'oidc' | 'comment';
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

/** Selects entries of the audit before a position, by time and then by number, newest first. */
export interface AuditQuery {
  readonly before?: { readonly at: number; readonly number: number } | undefined;
  readonly limit: number;
}

/** History of one organization. Every method throws StoreError if the state cannot be used. */
export type History = ReturnType<typeof openHistory>;

/** Number of entries of the audit that are searched. */
const SEARCHED = 100;

/** Returns what a person has done since a time; null if they have not. Its subject may be gone, such as a plan that was applied. */
export async function findDone(
  history: Pick<History, 'audit'>,
  action: string,
  isSubject: (subject: string) => boolean,
  by: { readonly name: string; readonly method: string },
  since = 0,
): Promise<AuditEntry | null> {
  const entries = await history.audit({ limit: SEARCHED });
  const done = entries.find(
    (entry) =>
      entry.outcome === 'done' &&
      entry.at >= since &&
      entry.action === action &&
      isSubject(entry.subject) &&
      entry.actor.name === by.name &&
      entry.actor.method === by.method,
  );
  return done ?? null;
}

/**
 * Number of passes and audit entries that are kept, the age of passes in milliseconds, and the bytes of all plans of an
 * organization.
 */
export const RETENTION = { passes: 1000, audit: 10_000, age: 90 * 24 * 3_600_000, plans: 16_000_000 } as const;

const MAX = Number.MAX_SAFE_INTEGER;

/** Opens the history of an organization. */
export function openHistory(database: SqlDatabase, organization: string) {
  return {
    /**
     * Records a pass; merges it into the last one if both wrote nothing and ended the same way. Removes what is older than
     * the retention, and the plans and changes of the oldest passes while all plans take more bytes than `RETENTION.plans`.
     * Adds the events of the pass in the same transaction; they may depend on its number. Returns the number of the record.
     * `isRepeated`: an earlier call with this pass, the last one, may have stored it although it failed.
     */
    addPass: (
      pass: NewPass,
      events?: (number: number) => readonly NotificationEvent[],
      isRepeated: boolean = false,
    ): Promise<number> =>
      database.write(organization, async (sql) => {
        const [last] = await readPasses(sql, organization, MAX, 1);
        const { trigger, endedAt, milliseconds } = pass;
        const isStored =
          isRepeated && last?.endedAt === endedAt && last.trigger === trigger && last.milliseconds === milliseconds;
        const number = isStored ? last.number : await addPass(sql, organization, pass, last);
        await insertEvents(sql, events?.(number) ?? []);
        return number;
      }),
    /** Returns records, newest first, before a number if there is one. */
    passes: ({ before = MAX, limit }: { before?: number | undefined; limit: number }): Promise<readonly PassRecord[]> =>
      database.read((sql) => readPasses(sql, organization, before, limit)),
    /** Returns null if it does not exist any more. */
    pass: (number: number): Promise<PassDetails | null> => database.read((sql) => readPass(sql, organization, number)),
    /** Returns the last pass with this plan, by its checksum or that of its held changes; null if there is none any more. */
    passOfPlan: (checksum: string): Promise<PassDetails | null> =>
      database.read(async (sql) => {
        const row =
          (await sql.get<{ number: number }>(
            'SELECT number FROM pass WHERE organization = ? AND checksum = ? ORDER BY number DESC LIMIT 1',
            ...[organization, checksum],
          )) ?? (await sql.get<{ number: number }>(ofHeld(sql), organization, SEARCHED_PLANS, checksum));
        return row === undefined ? null : readPass(sql, organization, row.number);
      }),
    /** Returns the changes of a resource, newest first. */
    changesOf: (address: string, limit: number): Promise<readonly ResourceChange[]> =>
      database.read((sql) =>
        sql.all(
          `SELECT c.address, c.action, c.status, c.error, c.pass, p.commit_id AS "commit", p.subject, p.first_at AS at
            FROM pass_change c JOIN pass p ON p.organization = c.organization AND p.number = c.pass
            WHERE c.organization = ? AND c.address = ? ORDER BY c.pass DESC, c.action DESC LIMIT ?`,
          ...[organization, address, limit],
        ),
      ),
    /**
     * Adds an entry, with its events in the same transaction. `isRepeated`: an earlier call with this entry may have stored
     * it although it failed.
     */
    addAudit: (
      entry: NewAuditEntry,
      events?: readonly NotificationEvent[],
      isRepeated: boolean = false,
    ): Promise<void> =>
      database.write(organization, async (sql) => {
        if (!isRepeated || !(await hasAudit(sql, organization, entry))) {
          await addAudit(sql, organization, entry);
          await insertEvents(sql, events ?? []);
        }
      }),
    audit: ({ before = { at: MAX, number: MAX }, limit }: AuditQuery): Promise<readonly AuditEntry[]> =>
      database.read(async (sql) => {
        const rows = await sql.all<Omit<AuditEntry, 'actor'> & ActorColumns>(
          `SELECT number, at, actor, method, action, subject, reason, outcome, detail FROM audit
            WHERE organization = ? AND (at, number) < (?, ?) ORDER BY at DESC, number DESC LIMIT ?`,
          ...[organization, before.at, before.number, limit],
        );
        return rows.map(({ number, at, actor, method, ...rest }) => {
          return { number, at, actor: { name: actor, method }, ...rest };
        });
      }),
    /** Returns the pauses that have not ended at this time. */
    pauses: (now: number): Promise<readonly ManualPause[]> =>
      database.read(async (sql) => {
        const rows = await sql.all<Omit<ManualPause, 'by'> & ActorColumns>(
          `SELECT address, reason, actor, method, since, until FROM manual_pause
            WHERE organization = ? AND (until IS NULL OR until > ?) ORDER BY address`,
          ...[organization, now],
        );
        return rows.map(({ address, reason, actor, method, ...rest }) => {
          return { address, reason, by: { name: actor, method }, ...rest };
        });
      }),
    /** Adds a pause, or replaces the one with the same address. */
    pause: ({ address, reason, by, since, until }: ManualPause): Promise<void> =>
      database.write(organization, (sql) =>
        upsertRows(sql, {
          table: 'manual_pause',
          key: ['organization', 'address'],
          columns: ['reason', 'actor', 'method', 'since', 'until'],
          rows: [[organization, address, reason, by.name, by.method, since, until]],
        }),
      ),
    /** Ends a pause. Returns false if there is none. */
    resume: (address: string): Promise<boolean> =>
      database.write(organization, async (sql) => {
        const statement = 'DELETE FROM manual_pause WHERE organization = ? AND address = ?';
        return (await sql.run(statement, organization, address)) > 0;
      }),
  };
}

/** Columns of an actor in each table that has one. */
export interface ActorColumns {
  readonly actor: string;
  readonly method: Actor['method'];
}

/** Members of a record. Only `pass` reads the plan itself, as it is large. */
const PASS = `number, cause AS "trigger", commit_id AS "commit", subject, author, outcome, checksum, counts, reads, writes,
  refused, milliseconds, error, first_at AS "firstEndedAt", at AS "endedAt", times, octet_length(plan) > 4 AS "hasPlan"`;

interface PassRow extends Omit<PassRecord, 'counts' | 'hasPlan'> {
  readonly counts: string;
  readonly hasPlan: number;
}

function toPass(sql: Sql, row: PassRow): PassRecord {
  return { ...row, counts: sql.parse(row.counts) as PassCounts, hasPlan: row.hasPlan === 1 };
}

async function readPasses(sql: Sql, organization: string, before: number, limit: number) {
  const rows = await sql.all<PassRow>(
    `SELECT ${PASS} FROM pass WHERE organization = ? AND number < ? ORDER BY number DESC LIMIT ?`,
    ...[organization, before, limit],
  );
  return rows.map((row) => toPass(sql, row));
}

async function readPass(sql: Sql, organization: string, number: number): Promise<PassDetails | null> {
  const row = await sql.get<PassRow & { readonly plan: string }>(
    `SELECT ${PASS}, plan FROM pass WHERE organization = ? AND number = ?`,
    ...[organization, number],
  );
  if (row === undefined) {
    return null;
  }
  const { plan, ...pass } = row;
  const changes = await sql.all<NewResourceChange>(
    `SELECT address, action, status, error FROM pass_change WHERE organization = ? AND pass = ? ORDER BY address, action`,
    ...[organization, number],
  );
  return { pass: toPass(sql, pass), changes, plan: sql.parse(plan) };
}

/** Finds a plan by the checksum of its held changes, which only the plan itself has. Reads few plans, as they are large. */
const ofHeld = (sql: Sql) => `SELECT number FROM
  (SELECT number, plan FROM pass WHERE organization = ? AND outcome = 'held' ORDER BY number DESC LIMIT ?) AS held
  WHERE ${sql.jsonMember('plan', 'heldChecksum')} = ? ORDER BY number DESC LIMIT 1`;
const SEARCHED_PLANS = 100;

/** Adds a pass after the last one, or merges it into that. Returns the number of the record. */
async function addPass(sql: Sql, organization: string, pass: NewPass, last: PassRecord | undefined): Promise<number> {
  if (last !== undefined && isSame(last, pass)) {
    await sql.run(
      `UPDATE pass SET times = times + 1, at = ?, cause = ?, milliseconds = ?, reads = ?, refused = refused + ?
        WHERE organization = ? AND number = ?`,
      ...[pass.endedAt, pass.trigger, pass.milliseconds, pass.reads, pass.refused, organization, last.number],
    );
    return last.number;
  }
  const number = (last?.number ?? 0) + 1;
  await sql.run(
    `INSERT INTO pass (organization, number, cause, commit_id, subject, author, outcome, checksum, counts, reads, writes,
      refused, milliseconds, error, first_at, at, times, plan) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)`,
    ...[organization, number, pass.trigger, pass.commit, pass.subject, pass.author, pass.outcome],
    ...[pass.checksum, JSON.stringify(pass.counts), pass.reads, pass.writes, pass.refused, pass.milliseconds],
    ...[pass.error, pass.endedAt, pass.endedAt, JSON.stringify(pass.plan)],
  );
  await upsertRows(sql, {
    table: 'pass_change',
    key: ['organization', 'address', 'pass', 'action'],
    columns: ['status', 'error'],
    rows: pass.changes.map(({ address, action, status, error }) => {
      return [organization, address, number, action, status, error];
    }),
  });
  await removeOld(sql, organization, number - RETENTION.passes, pass.endedAt - RETENTION.age);
  if (pass.plan !== null) {
    await removePlans(sql, organization);
  }
  return number;
}

/** Removes passes up to a number, and those that ended before a time. The last pass stays. */
async function removeOld(sql: Sql, organization: string, number: number, time: number): Promise<void> {
  const old = await sql.all<{ number: number }>(
    `SELECT number FROM pass WHERE organization = ? AND (number <= ? OR at < ?)
      AND number < (SELECT MAX(number) FROM pass WHERE organization = ?)`,
    ...[organization, number, time, organization],
  );
  for (const row of old) {
    await sql.run('DELETE FROM pass WHERE organization = ? AND number = ?', organization, row.number);
    await sql.run('DELETE FROM pass_change WHERE organization = ? AND pass = ?', organization, row.number);
  }
}

/** Finds the newest pass whose plan, with those of later passes, exceeds a number of bytes. `octet_length` loads no plan. */
const LAST_EXCESS_PLAN = `SELECT MAX(number) AS number FROM (
    SELECT number, SUM(octet_length(plan)) OVER (ORDER BY number DESC) AS bytes FROM pass WHERE organization = ?
  ) AS plans WHERE bytes > ?`;

/** Removes the plans and changes of the oldest passes that exceed the retention. The last plan stays. */
async function removePlans(sql: Sql, organization: string): Promise<void> {
  const row = await sql.get<{ number: number | null }>(LAST_EXCESS_PLAN, organization, RETENTION.plans);
  if (row?.number != null) {
    await sql.run(
      "UPDATE pass SET plan = 'null' WHERE organization = ? AND number <= ? AND octet_length(plan) > 4",
      ...[organization, row.number],
    );
    await sql.run('DELETE FROM pass_change WHERE organization = ? AND pass <= ?', organization, row.number);
  }
}

async function hasAudit(sql: Sql, organization: string, { at, actor, action, subject, outcome }: NewAuditEntry) {
  const row = await sql.get(
    `SELECT number FROM audit
      WHERE organization = ? AND at = ? AND actor = ? AND action = ? AND subject = ? AND outcome = ? LIMIT 1`,
    ...[organization, at, actor.name, action, subject, outcome],
  );
  return row !== undefined;
}

async function addAudit(sql: Sql, organization: string, entry: NewAuditEntry): Promise<void> {
  const { at, actor, action, subject, reason, outcome, detail } = entry;
  const last = await sql.get<{ n: number | null }>(
    'SELECT MAX(number) AS n FROM audit WHERE organization = ?',
    organization,
  );
  const number = (last?.n ?? 0) + 1;
  await sql.run(
    `INSERT INTO audit (organization, number, at, actor, method, action, subject, reason, outcome, detail)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[organization, number, at, actor.name, actor.method, action, subject, reason, outcome, detail],
  );
  await sql.run(
    'DELETE FROM audit WHERE organization = ? AND number <= ?',
    ...[organization, number - RETENTION.audit],
  );
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
