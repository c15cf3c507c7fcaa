/** State and changes of the notifier, in SQL. */
import { CONDITION_RULES, EVENT_CODES } from '../core/condition-codes.ts';
import type { Json } from '../core/json.ts';
import { firstLines } from '../core/lists.ts';
import type { NotificationEvent } from './notification-events.ts';
import { toCondition, toDelivery, toNotified } from './notification-rows.ts';
import {
  type Condition,
  type Fact,
  type FactReport,
  factKey,
  MAX_DETAILS,
  NOTIFICATION_RETENTION,
  type NotificationDelivery,
  type Notified,
  type NotifierChange,
  type NotifierState,
} from './notifications.ts';
import type { Sql } from './sql/database.ts';
import { upsertRows } from './sql/inserts.ts';

/** Milliseconds for which a resolved condition is part of the state: as long as its starts count as flapping. */
const RECENT = 3_600_000;

/** Statements of one transaction of the notifier. */
export class PlanningTables {
  readonly #sql: Sql;
  readonly #parse: (text: unknown) => Json;

  constructor(sql: Sql, parse: (text: unknown) => Json) {
    this.#sql = sql;
    this.#parse = parse;
  }

  async report({ reporter, facts }: FactReport): Promise<boolean> {
    const stored = await this.#sql.all('SELECT key, fact FROM fact WHERE reporter = ?', reporter);
    const before = new Map(stored.map((row) => [String(row.key), String(row.fact)]));
    const changed: [string, string, string][] = [];
    for (const fact of facts) {
      const key = factKey(fact);
      const earlier = before.get(key);
      const since = Math.min(fact.since, earlier === undefined ? fact.since : this.#toFact(earlier).since);
      const text = JSON.stringify({ ...fact, since });
      before.delete(key);
      if (text !== earlier) {
        changed.push([reporter, key, text]);
      }
    }
    await upsertRows(this.#sql, { table: 'fact', key: ['reporter', 'key'], columns: ['fact'], rows: changed });
    if (before.size > 0) {
      await this.#sql.run(
        `DELETE FROM fact WHERE reporter = ? AND key IN (SELECT each.value FROM ${this.#sql.jsonItems('?')})`,
        ...[reporter, JSON.stringify([...before.keys()])],
      );
    }
    return changed.length > 0 || before.size > 0;
  }

  async retainReporters(reporters: readonly string[]): Promise<void> {
    await this.#sql.run(
      `DELETE FROM fact WHERE reporter NOT IN (SELECT each.value FROM ${this.#sql.jsonItems('?')})`,
      JSON.stringify(reporters),
    );
  }

  /**
   * Returns what is true, once per key: as it was reported first, with the details of all reporters. Codes of other versions
   * are left out.
   */
  async facts(): Promise<readonly Fact[]> {
    const found = new Map<string, Fact[]>();
    for (const row of await this.#sql.all('SELECT key, fact FROM fact ORDER BY key, reporter')) {
      const fact = this.#toFact(row.fact);
      if (Object.hasOwn(CONDITION_RULES, fact.code)) {
        const same = found.get(String(row.key));
        same?.push(fact);
        found.set(String(row.key), same ?? [fact]);
      }
    }
    return [...found.values()].map(joinFacts);
  }

  #toFact(text: unknown): Fact {
    return this.#parse(text) as unknown as Fact;
  }

  async state(now: number): Promise<NotifierState> {
    const conditions = await this.#sql.all(
      `SELECT * FROM condition WHERE state <> 'resolved' OR resolved_at > ?
        OR id IN (SELECT condition FROM notified) ORDER BY since, id`,
      Math.floor(now) - RECENT,
    );
    const deliveries = await this.#sql.all(
      `SELECT * FROM notification_delivery WHERE ended_at IS NULL OR thread IN (SELECT thread FROM notified) ORDER BY number`,
    );
    const events = await this.#sql.all(
      "SELECT event, channels FROM notification_event WHERE channels IS NULL OR channels <> '[]' ORDER BY at, id",
    );
    const notified = await this.#sql.all('SELECT * FROM notified ORDER BY told_at, channel, condition');
    return {
      facts: await this.facts(),
      conditions: conditions
        .map((row) => toCondition(row, this.#parse))
        .filter(({ fact }) => Object.hasOwn(CONDITION_RULES, fact.code)),
      deliveries: deliveries.map((row) => toDelivery(row, this.#parse)),
      notified: notified.map(toNotified),
      events: events
        .map((row) => ({
          event: this.#parse(row.event) as unknown as NotificationEvent,
          channels: row.channels == null ? null : (this.#parse(row.channels) as readonly string[]),
        }))
        .filter(({ event }) => EVENT_CODES.includes(event.code)),
    };
  }

  async apply(change: NotifierChange, now: number): Promise<void> {
    await this.#putConditions(change.conditions);
    await this.#removeConditions(change.removed);
    for (const delivery of change.created) {
      await this.#addDelivery(delivery);
    }
    for (const id of change.cancelled) {
      await this.#sql.run(
        "UPDATE notification_delivery SET state = 'cancelled', next_at = NULL, ended_at = ? WHERE id = ?",
        ...[Math.ceil(now), id],
      );
    }
    if (change.notified !== null) {
      await this.#setNotified(change.notified);
    }
    for (const { id, channels } of change.events) {
      await this.#sql.run('UPDATE notification_event SET channels = ? WHERE id = ?', JSON.stringify(channels), id);
    }
    if (change.created.length > 0 || change.conditions.length > 0) {
      await this.#removeOld(now);
    }
  }

  #putConditions(conditions: readonly Condition[]): Promise<void> {
    return upsertRows(this.#sql, {
      table: 'condition',
      key: ['id'],
      columns: ['fact', 'state', 'since', 'fired_at', 'resolved_at', 'clear_since', 'inhibited', 'starts'],
      rows: conditions.map(({ id, fact, state, since, firedAt, resolvedAt, clearSince, isInhibited, starts }) => [
        ...[id, JSON.stringify(fact), state, Math.round(since), round(firedAt), round(resolvedAt), round(clearSince)],
        ...[isInhibited ? 1 : 0, JSON.stringify(starts)],
      ]),
    });
  }

  async #removeConditions(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) {
      await this.#sql.run(
        `DELETE FROM condition WHERE id IN (SELECT each.value FROM ${this.#sql.jsonItems('?')})`,
        JSON.stringify(ids),
      );
    }
  }

  async #addDelivery({ id, channel, thread, kind, about, createdAt }: NotificationDelivery): Promise<void> {
    const at = Math.floor(createdAt);
    await this.#sql.run(
      `INSERT INTO notification_delivery (id, channel, thread, kind, about, created_at, state, may_have_arrived, attempts, next_at)
        VALUES (?, ?, ?, ?, ?, ?, 'queued', 0, 0, ?)`,
      ...[id, channel, thread, kind, JSON.stringify(about), at, at],
    );
  }

  async #setNotified(notified: readonly Notified[]): Promise<void> {
    await this.#sql.run('DELETE FROM notified');
    await upsertRows(this.#sql, {
      table: 'notified',
      key: ['channel', 'condition'],
      columns: ['thread', 'told_at', 'resolved'],
      rows: notified.map(({ channel, condition, thread, notifiedAt, resolved }) => {
        return [channel, condition, thread, Math.round(notifiedAt), resolved];
      }),
    });
  }

  /** Removes what exceeds the retention, except for what a resolve or a delivery that waits still needs. */
  async #removeOld(now: number): Promise<void> {
    const { count, age } = NOTIFICATION_RETENTION;
    const time = Math.floor(now);
    const remove = (table: string, column: string, ended: string, unneeded: string) =>
      this.#sql.run(
        `DELETE FROM ${table} WHERE ${ended} AND ${unneeded} AND (${column} < ? OR ${column} <
          (SELECT ${column} FROM ${table} WHERE ${ended} ORDER BY ${column} DESC LIMIT 1 OFFSET ?))`,
        ...[time - age, count - 1],
      );
    const waiting = `SELECT each.value FROM notification_delivery, ${this.#sql.jsonItems('about')} WHERE ended_at IS NULL`;
    const isUnneeded = `id NOT IN (SELECT condition FROM notified) AND id NOT IN (${waiting})`;
    await remove('condition', 'resolved_at', "state = 'resolved'", isUnneeded);
    const isNoThread = 'thread NOT IN (SELECT thread FROM notified)';
    await remove('notification_delivery', 'ended_at', 'ended_at IS NOT NULL', isNoThread);
    await remove('notification_event', 'at', "channels = '[]'", `id NOT IN (${waiting})`);
  }
}

/** Joins the reports of one fact. */
function joinFacts(facts: readonly Fact[]): Fact {
  const first = facts.reduce((earliest, fact) => (fact.since < earliest.since ? fact : earliest));
  if (facts.length === 1) {
    return first;
  }
  return { ...first, details: firstLines([...new Set(facts.flatMap(({ details }) => details))], MAX_DETAILS) };
}

function round(time: number | null): number | null {
  return time === null ? null : Math.round(time);
}
