/** Conditions, events and deliveries that survive a restart. See docs/notifications.md. */
import { CONDITION_RULES, type ConditionCode, EVENT_CODES, type EventCode } from '../core/condition-codes.ts';
import { firstLines } from '../core/lists.ts';
import { insertNewRows, inTexts, type Sql, type SqlDatabase, upsertRows } from './sql/database.ts';

/** Something that happened. */
export interface NotificationEvent {
  /** The same for the same occurrence, such as `applied/acme/4f5e6d7`: an event whose id is known is ignored. */
  readonly id: string;
  readonly code: EventCode;
  readonly organization: string;
  readonly at: number;
  /** One sentence, without secrets. */
  readonly summary: string;
  readonly details: readonly string[];
  /** Path of the page that shows it; null if there is none. */
  readonly path: string | null;
}

/** Adds events; those whose id is known are ignored. Part of the transaction of the caller. */
export async function insertEvents(sql: Sql, events: readonly NotificationEvent[]): Promise<void> {
  await insertNewRows(sql, {
    table: 'notification_event',
    key: ['id'],
    columns: ['at', 'event'],
    rows: events.map((event) => [event.id, Math.round(event.at), JSON.stringify(event)]),
  });
}

/** Subject of a condition. A null field means all of them. */
export interface Scope {
  readonly organization: string | null;
  /** Name of the connection; organizations with the same token share it. */
  readonly token: string | null;
  /** Origin of the platform. */
  readonly platform: string | null;
}

/** Something that is true now and somebody may want to know. */
export interface Fact {
  readonly code: ConditionCode;
  readonly scope: Scope;
  /** Tells conditions with the same code and scope apart, such as the name of a source; otherwise empty. */
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** One sentence, without secrets. */
  readonly summary: string;
  /** Further lines. */
  readonly details: readonly string[];
  /** Path of the page that shows it; null if there is none. */
  readonly path: string | null;
}

/** Most details of a fact; the last one counts the rest. */
export const MAX_DETAILS = 10;

/** Returns the identity of a condition over all its episodes. */
export function factKey({ code, scope, subject }: Pick<Fact, 'code' | 'scope' | 'subject'>): string {
  return JSON.stringify([code, scope.organization, scope.token, scope.platform, subject]);
}

export type ConditionState = 'pending' | 'firing' | 'resolved';

/** One episode of a condition. */
export interface Condition {
  /** Unique for each episode. */
  readonly id: string;
  readonly fact: Fact;
  readonly state: ConditionState;
  /** Time from which `for` counts: the start, or the end of what inhibited it. */
  readonly since: number;
  readonly firedAt: number | null;
  readonly resolvedAt: number | null;
  /** Time since when it is not true any more, while it still fires; null if it is true. */
  readonly clearSince: number | null;
  /** True while it is pending and another condition explains it. */
  readonly isInhibited: boolean;
  /** Starts of this condition within the last hour, oldest first, in all episodes. */
  readonly starts: readonly number[];
}

export type DeliveryKind = 'firing' | 'resolved' | 'reminder' | 'event' | 'digest' | 'test';

/**
 * `open`: an attempt has begun, and its answer is not known. `refused`: the channel has taken none of the attempts.
 * `sent`: the channel has it. `failed`: given up. `cancelled`: not needed any more.
 */
export type DeliveryState = 'queued' | 'open' | 'refused' | 'sent' | 'failed' | 'cancelled';

/** A message to one channel. Its content is rendered when it is sent. */
export interface NotificationDelivery {
  /** Stays the same for all attempts: receivers that know it drop repeated ones. */
  readonly id: string;
  readonly channel: string;
  /** First delivery about the same conditions: further ones follow in its thread. */
  readonly thread: string;
  readonly kind: DeliveryKind;
  /** Ids of conditions or events. */
  readonly about: readonly string[];
  readonly createdAt: number;
  readonly state: DeliveryState;
  /** True if an attempt got no answer: the channel may have it. */
  readonly mayHaveArrived: boolean;
}

/** Record that a channel was notified of a condition. */
export interface Notified {
  readonly channel: string;
  /** Id of the episode. */
  readonly condition: string;
  /** The delivery that announced it. */
  readonly thread: string;
  /** Time of the last delivery that reports that it fires. */
  readonly notifiedAt: number;
  /** Delivery that reports that it is resolved; null if there is none yet. */
  readonly resolved: string | null;
}

/** Reference to a message at its channel. */
export type StoredReceipt = Readonly<Record<string, string>>;

/** A delivery as the pages show it. */
export interface DeliveryRecord extends NotificationDelivery {
  readonly attempts: number;
  /** Time of the next attempt; null once it has ended. */
  readonly nextAttemptAt: number | null;
  readonly endedAt: number | null;
  /** Reason of the last failure; null if there was none. */
  readonly reason: string | null;
}

/** An event, with the channels that have no delivery of it yet; null: not routed yet. */
export interface WaitingEvent {
  readonly event: NotificationEvent;
  readonly channels: readonly string[] | null;
}

/** State that the notifier plans with. */
export interface NotifierState {
  /** Everything that is true now, once per key. */
  readonly facts: readonly Fact[];
  /** Those that are not resolved, that were resolved lately, or whose end is not announced yet. */
  readonly conditions: readonly Condition[];
  /** Those that wait, and all of the threads in `notified`. */
  readonly deliveries: readonly NotificationDelivery[];
  readonly notified: readonly Notified[];
  /** Oldest first. */
  readonly events: readonly WaitingEvent[];
}

/** Changes of the notifier. Conditions and events that are not named stay as they are. */
export interface NotifierChange {
  readonly conditions: readonly Condition[];
  /** Ids of conditions that never fired and are not true any more. */
  readonly removed: readonly string[];
  readonly created: readonly NotificationDelivery[];
  readonly cancelled: readonly string[];
  /** Complete; null: no change. */
  readonly notified: readonly Notified[] | null;
  readonly events: readonly { readonly id: string; readonly channels: readonly string[] }[];
}

/** A delivery whose attempt has begun, with everything that its message needs. */
export interface DeliveryAttempt {
  readonly delivery: NotificationDelivery;
  readonly attempts: number;
  readonly firstAttemptAt: number;
  /** All conditions of its thread, as they are now. */
  readonly conditions: readonly Condition[];
  readonly events: readonly NotificationEvent[];
  /** Everything that is true now, once per key. */
  readonly facts: readonly Fact[];
  /** Of the first message of its thread that has one; null if there is none. */
  readonly receipt: StoredReceipt | null;
}

/**
 * Result of an attempt. `not-taken`: the channel does not have the message. `unknown`: it may have it. `failed`: no
 * further attempt.
 */
export type AttemptResult =
  | { readonly result: 'sent'; readonly receipt: StoredReceipt | null; readonly at: number }
  | { readonly result: 'not-taken' | 'unknown'; readonly reason: string; readonly nextAttemptAt: number }
  | { readonly result: 'failed'; readonly mayHaveArrived: boolean; readonly reason: string; readonly at: number };

/** Facts of one reporter: an organization, a connection, a channel or the daemon. */
export interface FactReport {
  readonly reporter: string;
  /** Everything that it knows to be true now. */
  readonly facts: readonly Fact[];
}

/** Selects deliveries, newest first. */
interface DeliveryQuery {
  readonly channel?: string | undefined;
  /** True: only those that wait or have failed. */
  readonly isPending?: boolean | undefined;
  readonly limit: number;
}

/** Notifications of all organizations. Every method throws StoreError if the state cannot be used. */
export type Notifications = ReturnType<typeof openNotifications>;

/** Number and age in milliseconds of the conditions, events and deliveries that are kept after their end. */
export const NOTIFICATION_RETENTION = { count: 10_000, age: 90 * 24 * 3_600_000 } as const;

/** Scope of what changes conditions or deliveries. Facts and events of different owners change at the same time. */
const SCOPE = 'notifications';

/** Opens the notifications of a database that has their tables. */
export function openNotifications(database: SqlDatabase) {
  const write = <T>(work: (sql: Sql) => Promise<T>) => database.write(SCOPE, work);
  /** Runs one statement that writes. */
  const run = (statement: string, ...values: readonly (string | number)[]) =>
    write(async (sql) => {
      await sql.run(statement, ...values);
    });
  return {
    /** Replaces the facts of a reporter. Returns true if that changed something. */
    report: (report: FactReport): Promise<boolean> =>
      database.write(`facts/${report.reporter}`, (sql) => replaceFacts(sql, report)),
    /** Forgets the facts of all other reporters. */
    retainReporters: (reporters: readonly string[]): Promise<void> =>
      write(async (sql) => {
        await sql.run(`DELETE FROM fact WHERE NOT (${inTexts(sql, 'reporter')})`, JSON.stringify(reporters));
      }),
    /** Adds events. `History.addPass`, `History.addAudit` and `OrganizationRecord.decide` add theirs themselves. */
    addEvents: (events: readonly NotificationEvent[]): Promise<void> => write((sql) => insertEvents(sql, events)),
    /** Reads the state, and writes what `plan` returns for it, in one transaction. Then removes what exceeds the retention. */
    advance: (now: number, plan: (state: NotifierState) => NotifierChange): Promise<void> =>
      write(async (sql) => applyChange(sql, plan(await readState(sql, now)), now)),

    /**
     * Begins an attempt of the delivery of a channel that is due next, and returns it; null if none is due. Deliveries of
     * one thread are sent in their order.
     */
    begin: (channel: string, now: number): Promise<DeliveryAttempt | null> =>
      write((sql) => beginAttempt(sql, channel, now)),
    /** Ends an attempt, and replaces the facts of a reporter, in one transaction. */
    end: (id: string, result: AttemptResult, report: FactReport): Promise<void> =>
      write(async (sql) => {
        await endAttempt(sql, id, result);
        await replaceFacts(sql, report);
      }),
    /**
     * Lets the deliveries of a channel be sent again whose attempt has begun, as if nothing was sent: the answer to `begin`
     * was lost. No attempt of the channel may be under way.
     */
    cancelAttempts: (channel: string, now: number): Promise<void> =>
      run(
        "UPDATE notification_delivery SET state = 'queued', next_at = ? WHERE channel = ? AND state = 'open'",
        ...[Math.floor(now), channel],
      ),
    /** Returns when the next delivery of a channel is due; null if none waits. */
    dueAt: (channel: string): Promise<number | null> =>
      database.read(async (sql) => {
        const row = await sql.get<{ at: number | null }>(`SELECT MIN(next_at) AS at ${HEADS}`, channel);
        return row?.at ?? null;
      }),
    /** Makes all deliveries due that wait. Those whose attempt has not ended may have arrived. */
    recover: (now: number): Promise<void> =>
      run(
        `UPDATE notification_delivery SET state = CASE state WHEN 'open' THEN 'queued' ELSE state END,
          may_have_arrived = CASE state WHEN 'open' THEN 1 ELSE may_have_arrived END, next_at = ? WHERE ended_at IS NULL`,
        Math.floor(now),
      ),
    /**
     * Lets events be delivered again whose delivery was given up, to one channel or to all (null). Returns the number of
     * events. Conditions need none of it: they are announced again by themselves.
     */
    retryEvents: (channel: string | null): Promise<number> => write((sql) => retryEvents(sql, channel)),

    /** Returns conditions, firing ones first, then pending ones, then resolved ones, newest first. */
    conditions: (limit: number): Promise<readonly Condition[]> =>
      database.read((sql) =>
        readConditions(
          sql,
          `ORDER BY CASE state WHEN 'firing' THEN 0 WHEN 'pending' THEN 1 ELSE 2 END,
            COALESCE(resolved_at, fired_at, since) DESC, id LIMIT ?`,
          limit,
        ),
      ),
    /** Returns what is true now, once per key. */
    facts: (): Promise<readonly Fact[]> => database.read(readFacts),
    deliveries: ({ channel, isPending = false, limit }: DeliveryQuery): Promise<readonly DeliveryRecord[]> =>
      database.read(async (sql) => {
        const conditions = [
          ...(channel === undefined ? [] : ['channel = ?']),
          ...(isPending ? ["state IN ('queued', 'open', 'refused', 'failed')"] : []),
        ];
        const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
        const rows = await sql.all<DeliveryRow & Omit<DeliveryRecord, keyof NotificationDelivery>>(
          `SELECT ${DELIVERY}, attempts, next_at AS "nextAttemptAt", ended_at AS "endedAt", reason
            FROM notification_delivery ${where} ORDER BY number DESC LIMIT ?`,
          ...(channel === undefined ? [] : [channel]),
          limit,
        );
        return rows.map((row) => ({ ...row, ...parseDelivery(sql, row) }));
      }),
    /** Returns the time of the last delivery that each channel took, by channel. */
    lastSent: (): Promise<ReadonlyMap<string, number>> =>
      database.read(async (sql) => {
        const rows = await sql.all<{ channel: string; at: number }>(
          "SELECT channel, MAX(ended_at) AS at FROM notification_delivery WHERE state = 'sent' GROUP BY channel ORDER BY channel",
        );
        return new Map(rows.map(({ channel, at }) => [channel, at]));
      }),
  };
}

async function replaceFacts(sql: Sql, { reporter, facts }: FactReport): Promise<boolean> {
  const stored = await sql.all<{ key: string; fact: string }>(
    'SELECT key, fact FROM fact WHERE reporter = ?',
    reporter,
  );
  const before = new Map(stored.map(({ key, fact }) => [key, fact]));
  const changed: [string, string, string][] = [];
  for (const fact of facts) {
    const key = factKey(fact);
    const earlier = before.get(key);
    const since = earlier === undefined ? fact.since : Math.min(fact.since, parseFact(sql, earlier).since);
    const text = JSON.stringify({ ...fact, since });
    before.delete(key);
    if (text !== earlier) {
      changed.push([reporter, key, text]);
    }
  }
  await upsertRows(sql, { table: 'fact', key: ['reporter', 'key'], columns: ['fact'], rows: changed });
  if (before.size > 0) {
    await sql.run(
      `DELETE FROM fact WHERE reporter = ? AND ${inTexts(sql, 'key')}`,
      ...[reporter, JSON.stringify([...before.keys()])],
    );
  }
  return changed.length > 0 || before.size > 0;
}

function parseFact(sql: Sql, text: string): Fact {
  return sql.parse(text) as unknown as Fact;
}

/**
 * Returns what is true, once per key: as it was reported first, with the details of all reporters. Codes of other versions
 * are left out.
 */
async function readFacts(sql: Sql): Promise<readonly Fact[]> {
  const rows = await sql.all<{ key: string; fact: string }>('SELECT key, fact FROM fact ORDER BY key, reporter');
  const known = rows
    .map(({ key, fact }) => ({ key, fact: parseFact(sql, fact) }))
    .filter(({ fact }) => Object.hasOwn(CONDITION_RULES, fact.code));
  return [...Map.groupBy(known, ({ key }) => key).values()].map((same) => joinFacts(same.map(({ fact }) => fact)));
}

/** Joins the reports of one fact. */
function joinFacts(facts: readonly Fact[]): Fact {
  const first = facts.reduce((earliest, fact) => (fact.since < earliest.since ? fact : earliest));
  if (facts.length === 1) {
    return first;
  }
  return { ...first, details: firstLines([...new Set(facts.flatMap(({ details }) => details))], MAX_DETAILS) };
}

/** Milliseconds for which a resolved condition is part of the state: as long as its starts count as flapping. */
const RECENT = 3_600_000;

async function readState(sql: Sql, now: number): Promise<NotifierState> {
  const conditions = await readConditions(
    sql,
    `WHERE state <> 'resolved' OR resolved_at > ? OR id IN (SELECT condition FROM notified) ORDER BY since, id`,
    Math.floor(now) - RECENT,
  );
  const deliveries = await sql.all<DeliveryRow>(
    `SELECT ${DELIVERY} FROM notification_delivery
      WHERE ended_at IS NULL OR thread IN (SELECT thread FROM notified) ORDER BY number`,
  );
  const events = await sql.all<{ event: string; channels: string | null }>(
    "SELECT event, channels FROM notification_event WHERE channels IS NULL OR channels <> '[]' ORDER BY at, id",
  );
  const notified = await sql.all<Notified>(
    `SELECT channel, condition, thread, told_at AS "notifiedAt", resolved FROM notified
      ORDER BY told_at, channel, condition`,
  );
  return {
    facts: await readFacts(sql),
    conditions: conditions.filter(({ fact }) => Object.hasOwn(CONDITION_RULES, fact.code)),
    deliveries: deliveries.map((row) => parseDelivery(sql, row)),
    notified,
    events: events
      .map(({ event, channels }) => ({
        event: parseEvent(sql, event),
        channels: channels === null ? null : (sql.parse(channels) as readonly string[]),
      }))
      .filter(({ event }) => EVENT_CODES.includes(event.code)),
  };
}

function parseEvent(sql: Sql, text: string): NotificationEvent {
  return sql.parse(text) as unknown as NotificationEvent;
}

async function applyChange(sql: Sql, change: NotifierChange, now: number): Promise<void> {
  await upsertRows(sql, {
    table: 'condition',
    key: ['id'],
    columns: ['fact', 'state', 'since', 'fired_at', 'resolved_at', 'clear_since', 'inhibited', 'starts'],
    rows: change.conditions.map(({ id, fact, state, since, firedAt, resolvedAt, clearSince, isInhibited, starts }) => [
      ...[id, JSON.stringify(fact), state, Math.round(since), round(firedAt), round(resolvedAt), round(clearSince)],
      ...[isInhibited ? 1 : 0, JSON.stringify(starts)],
    ]),
  });
  if (change.removed.length > 0) {
    await sql.run(`DELETE FROM condition WHERE ${inTexts(sql, 'id')}`, JSON.stringify(change.removed));
  }
  for (const { id, channel, thread, kind, about, createdAt } of change.created) {
    const at = Math.floor(createdAt);
    await sql.run(
      `INSERT INTO notification_delivery (id, channel, thread, kind, about, created_at, state, may_have_arrived, attempts, next_at)
        VALUES (?, ?, ?, ?, ?, ?, 'queued', 0, 0, ?)`,
      ...[id, channel, thread, kind, JSON.stringify(about), at, at],
    );
  }
  for (const id of change.cancelled) {
    await sql.run(
      "UPDATE notification_delivery SET state = 'cancelled', next_at = NULL, ended_at = ? WHERE id = ?",
      ...[Math.ceil(now), id],
    );
  }
  if (change.notified !== null) {
    await sql.run('DELETE FROM notified');
    await upsertRows(sql, {
      table: 'notified',
      key: ['channel', 'condition'],
      columns: ['thread', 'told_at', 'resolved'],
      rows: change.notified.map(({ channel, condition, thread, notifiedAt, resolved }) => {
        return [channel, condition, thread, Math.round(notifiedAt), resolved];
      }),
    });
  }
  for (const { id, channels } of change.events) {
    await sql.run('UPDATE notification_event SET channels = ? WHERE id = ?', JSON.stringify(channels), id);
  }
  if (change.created.length > 0 || change.conditions.length > 0) {
    await removeOld(sql, now);
  }
}

function round(time: number | null): number | null {
  return time === null ? null : Math.round(time);
}

/** Removes what exceeds the retention, except for what a resolve or a delivery that waits still needs. */
async function removeOld(sql: Sql, now: number): Promise<void> {
  const { count, age } = NOTIFICATION_RETENTION;
  const remove = (table: string, column: string, ended: string, unneeded: string) =>
    sql.run(
      `DELETE FROM ${table} WHERE ${ended} AND ${unneeded} AND (${column} < ? OR ${column} <
        (SELECT ${column} FROM ${table} WHERE ${ended} ORDER BY ${column} DESC LIMIT 1 OFFSET ?))`,
      ...[Math.floor(now) - age, count - 1],
    );
  const waiting = `SELECT each.value FROM notification_delivery, ${sql.jsonItems('about')} WHERE ended_at IS NULL`;
  const isUnneeded = `id NOT IN (SELECT condition FROM notified) AND id NOT IN (${waiting})`;
  await remove('condition', 'resolved_at', "state = 'resolved'", isUnneeded);
  const isNoThread = 'thread NOT IN (SELECT thread FROM notified)';
  await remove('notification_delivery', 'ended_at', 'ended_at IS NOT NULL', isNoThread);
  await remove('notification_event', 'at', "channels = '[]'", `id NOT IN (${waiting})`);
}

/** Oldest deliveries of each thread that wait: a later one is not sent before it. */
const HEADS = `FROM notification_delivery AS own WHERE channel = ? AND next_at IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM notification_delivery AS older WHERE older.thread = own.thread AND older.channel = own.channel
    AND older.number < own.number AND older.ended_at IS NULL)`;

async function beginAttempt(sql: Sql, channel: string, now: number): Promise<DeliveryAttempt | null> {
  const due = await sql.get<DeliveryRow & { attempts: number; first: number | null }>(
    `SELECT ${DELIVERY}, attempts, first_attempt_at AS first ${HEADS} AND next_at <= ? ORDER BY next_at, number LIMIT 1`,
    ...[channel, now],
  );
  if (due === undefined) {
    return null;
  }
  const { attempts, first, ...row } = due;
  await sql.run(
    `UPDATE notification_delivery SET state = 'open', next_at = NULL, attempts = attempts + 1,
      first_attempt_at = COALESCE(first_attempt_at, ?) WHERE id = ?`,
    ...[Math.floor(now), row.id],
  );
  const delivery = parseDelivery(sql, { ...row, state: 'open' });
  const events = await sql.all<{ id: string; event: string }>(
    `SELECT id, event FROM notification_event WHERE ${inTexts(sql, 'id')}`,
    row.about,
  );
  const byId = new Map(events.map(({ id, event }) => [id, parseEvent(sql, event)]));
  const announced = await sql.get(
    'SELECT receipt FROM notification_delivery WHERE thread = ? AND receipt IS NOT NULL ORDER BY number LIMIT 1',
    row.thread,
  );
  return {
    delivery,
    attempts: attempts + 1,
    firstAttemptAt: first ?? Math.floor(now),
    conditions: await readConditions(
      sql,
      `WHERE id IN (SELECT each.value FROM notification_delivery, ${sql.jsonItems('about')} WHERE thread = ?)
        ORDER BY since, id`,
      row.thread,
    ),
    events: delivery.about.flatMap((id) => byId.get(id) ?? []),
    facts: await readFacts(sql),
    receipt: announced === undefined ? null : (sql.parse(announced.receipt) as StoredReceipt | null),
  };
}

/** Sets what the result of an attempt changes of a delivery. */
async function endAttempt(sql: Sql, id: string, result: AttemptResult): Promise<void> {
  const update = (changes: string, ...values: readonly (string | number | null)[]) =>
    sql.run(`UPDATE notification_delivery SET ${changes} WHERE id = ? AND state = 'open'`, ...values, id);
  switch (result.result) {
    case 'sent': {
      const receipt = result.receipt === null ? null : JSON.stringify(result.receipt);
      await update("state = 'sent', ended_at = ?, receipt = ?", Math.ceil(result.at), receipt);
      break;
    }
    case 'failed': {
      const arrived = result.mayHaveArrived ? ', may_have_arrived = 1' : '';
      await update(`state = 'failed', ended_at = ?, reason = ?${arrived}`, Math.ceil(result.at), result.reason);
      break;
    }
    default: {
      const state =
        result.result === 'unknown'
          ? "state = 'queued', may_have_arrived = 1"
          : "state = CASE may_have_arrived WHEN 0 THEN 'refused' ELSE 'queued' END";
      await update(`${state}, next_at = ?, reason = ?`, Math.ceil(result.nextAttemptAt), result.reason);
    }
  }
}

/** Lets events be delivered again whose delivery was given up, to one channel or to all. Returns their number. */
async function retryEvents(sql: Sql, channel: string | null): Promise<number> {
  const failed = await sql.all<{ id: string; channel: string; about: string }>(
    `SELECT id, channel, about FROM notification_delivery WHERE state = 'failed' AND kind IN ('event', 'digest')
      AND (channel = ? OR ? = 1) ORDER BY number`,
    ...[channel ?? '', channel === null ? 1 : 0],
  );
  let count = 0;
  for (const delivery of failed) {
    const events = await sql.all<{ id: string; channels: string }>(
      `SELECT id, channels FROM notification_event WHERE ${inTexts(sql, 'id')}`,
      delivery.about,
    );
    for (const { id, channels } of events) {
      const waiting = new Set([...(sql.parse(channels) as readonly string[]), delivery.channel]);
      await sql.run('UPDATE notification_event SET channels = ? WHERE id = ?', JSON.stringify([...waiting]), id);
    }
    await sql.run("UPDATE notification_delivery SET state = 'cancelled' WHERE id = ?", delivery.id);
    count += events.length;
  }
  return count;
}

interface ConditionRow extends Omit<Condition, 'fact' | 'isInhibited' | 'starts'> {
  readonly fact: string;
  readonly isInhibited: number;
  readonly starts: string;
}

/** Reads conditions; `selection` follows FROM. */
async function readConditions(sql: Sql, selection: string, value: string | number): Promise<readonly Condition[]> {
  const rows = await sql.all<ConditionRow>(
    `SELECT id, fact, state, since, fired_at AS "firedAt", resolved_at AS "resolvedAt", clear_since AS "clearSince",
      inhibited AS "isInhibited", starts FROM condition ${selection}`,
    value,
  );
  return rows.map((row) => ({
    ...row,
    fact: parseFact(sql, row.fact),
    isInhibited: row.isInhibited === 1,
    starts: sql.parse(row.starts) as readonly number[],
  }));
}

/** Members of a delivery. */
const DELIVERY = `id, channel, thread, kind, about, created_at AS "createdAt", state, may_have_arrived AS "mayHaveArrived"`;

interface DeliveryRow extends Omit<NotificationDelivery, 'about' | 'mayHaveArrived'> {
  readonly about: string;
  readonly mayHaveArrived: number;
}

function parseDelivery(sql: Sql, row: DeliveryRow): NotificationDelivery {
  return { ...row, about: sql.parse(row.about) as readonly string[], mayHaveArrived: row.mayHaveArrived === 1 };
}
