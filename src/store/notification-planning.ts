/** State and changes of the notifier, in SQLite. */
import { CONDITION_RULES, EVENT_CODES } from '../core/condition-codes.ts';
import type { Json } from '../core/json.ts';
import type { NotificationEvent } from './notification-events.ts';
import { toCondition, toDelivery, toNotified, toSilence } from './notification-rows.ts';
import {
  type Condition,
  type Fact,
  type FactReport,
  factKey,
  NOTIFICATION_RETENTION,
  type NotificationDelivery,
  type Notified,
  type NotifierChange,
  type NotifierState,
} from './notifications.ts';
import type { Statements } from './sql/transaction.ts';

/** Milliseconds for which a resolved condition is part of the state: as long as its starts count as flapping. */
const RECENT = 3_600_000;

/** Statements of the notifier. */
export class PlanningTables {
  readonly #statements: Statements;
  readonly #parse: (text: unknown) => Json;

  constructor(statements: Statements, parse: (text: unknown) => Json) {
    this.#statements = statements;
    this.#parse = parse;
  }

  report({ reporter, facts }: FactReport): boolean {
    const before = new Map(
      this.#statements
        .all('SELECT key, fact FROM fact WHERE reporter = ?', reporter)
        .map((row) => [String(row.key), String(row.fact)]),
    );
    let isChanged = false;
    for (const fact of facts) {
      const key = factKey(fact);
      const earlier = before.get(key);
      const since = Math.min(fact.since, earlier === undefined ? fact.since : this.#toFact(earlier).since);
      const text = JSON.stringify({ ...fact, since });
      before.delete(key);
      if (text !== earlier) {
        isChanged = true;
        this.#statements.run('INSERT OR REPLACE INTO fact VALUES (?, ?, ?)', reporter, key, text);
      }
    }
    for (const key of before.keys()) {
      this.#statements.run('DELETE FROM fact WHERE reporter = ? AND key = ?', reporter, key);
    }
    return isChanged || before.size > 0;
  }

  retainReporters(reporters: readonly string[]): void {
    this.#statements.run(
      'DELETE FROM fact WHERE reporter NOT IN (SELECT value FROM json_each(?))',
      JSON.stringify(reporters),
    );
  }

  /** Returns what is true, once per key, with the earliest start. Codes of other versions are left out. */
  facts(): readonly Fact[] {
    const found = new Map<string, Fact>();
    for (const row of this.#statements.all('SELECT key, fact FROM fact ORDER BY key, reporter')) {
      const fact = this.#toFact(row.fact);
      const other = found.get(String(row.key));
      if (fact.code in CONDITION_RULES && (other === undefined || fact.since < other.since)) {
        found.set(String(row.key), fact);
      }
    }
    return [...found.values()];
  }

  #toFact(text: unknown): Fact {
    return this.#parse(text) as unknown as Fact;
  }

  state(now: number): NotifierState {
    const conditions = this.#statements.all(
      `SELECT * FROM condition WHERE state <> 'resolved' OR resolved_at > ?
        OR id IN (SELECT condition FROM notified) ORDER BY since, id`,
      Math.floor(now) - RECENT,
    );
    const deliveries = this.#statements.all(
      `SELECT * FROM notification_delivery WHERE ended_at IS NULL OR thread IN (SELECT thread FROM notified) ORDER BY number`,
    );
    const events = this.#statements.all(
      "SELECT event, channels FROM notification_event WHERE channels IS NULL OR channels <> '[]' ORDER BY at, id",
    );
    return {
      facts: this.facts(),
      conditions: conditions
        .map((row) => toCondition(row, this.#parse))
        .filter(({ fact }) => fact.code in CONDITION_RULES),
      deliveries: deliveries.map((row) => toDelivery(row, this.#parse)),
      notified: this.#statements.all('SELECT * FROM notified ORDER BY told_at, channel, condition').map(toNotified),
      events: events
        .map((row) => ({
          event: this.#parse(row.event) as unknown as NotificationEvent,
          channels: row.channels == null ? null : (this.#parse(row.channels) as readonly string[]),
        }))
        .filter(({ event }) => EVENT_CODES.includes(event.code)),
      silences: this.#statements
        .all('SELECT * FROM silence WHERE ended_at IS NULL AND until > ? ORDER BY number', Math.floor(now))
        .map(toSilence),
    };
  }

  apply(change: NotifierChange, now: number): void {
    for (const condition of change.conditions) {
      this.#putCondition(condition);
    }
    for (const id of change.removed) {
      this.#statements.run('DELETE FROM condition WHERE id = ?', id);
    }
    for (const delivery of change.created) {
      this.#addDelivery(delivery);
    }
    for (const id of change.cancelled) {
      this.#statements.run(
        "UPDATE notification_delivery SET state = 'cancelled', next_at = NULL, ended_at = ? WHERE id = ?",
        ...[Math.ceil(now), id],
      );
    }
    if (change.notified !== null) {
      this.#setNotified(change.notified);
    }
    for (const { id, channels } of change.events) {
      this.#statements.run('UPDATE notification_event SET channels = ? WHERE id = ?', JSON.stringify(channels), id);
    }
    if (change.created.length > 0 || change.conditions.length > 0) {
      this.#removeOld(now);
    }
  }

  #putCondition(condition: Condition): void {
    const { id, fact, state, since, firedAt, resolvedAt, clearSince, isInhibited, starts } = condition;
    this.#statements.run(
      'INSERT OR REPLACE INTO condition VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...[id, JSON.stringify(fact), state, Math.round(since), round(firedAt), round(resolvedAt), round(clearSince)],
      ...[isInhibited ? 1 : 0, JSON.stringify(starts)],
    );
  }

  #addDelivery({ id, channel, thread, kind, about, createdAt }: NotificationDelivery): void {
    const at = Math.floor(createdAt);
    this.#statements.run(
      `INSERT INTO notification_delivery (id, channel, thread, kind, about, created_at, state, may_have_arrived, attempts, next_at)
        VALUES (?, ?, ?, ?, ?, ?, 'queued', 0, 0, ?)`,
      ...[id, channel, thread, kind, JSON.stringify(about), at, at],
    );
  }

  #setNotified(notified: readonly Notified[]): void {
    this.#statements.run('DELETE FROM notified');
    for (const { channel, condition, thread, toldAt, resolved } of notified) {
      this.#statements.run(
        'INSERT INTO notified VALUES (?, ?, ?, ?, ?)',
        ...[channel, condition, thread, Math.round(toldAt), resolved],
      );
    }
  }

  /** Removes what exceeds the retention, except for what a resolve or a delivery that waits still needs. */
  #removeOld(now: number): void {
    const { count, age } = NOTIFICATION_RETENTION;
    const before = Math.floor(now) - age;
    const remove = (table: string, column: string, ended: string, unneeded: string) =>
      this.#statements.run(
        `DELETE FROM ${table} WHERE ${ended} AND ${unneeded} AND (${column} < ? OR ${column} <
          (SELECT ${column} FROM ${table} WHERE ${ended} ORDER BY ${column} DESC LIMIT 1 OFFSET ?))`,
        ...[before, count - 1],
      );
    const waiting = 'SELECT value FROM notification_delivery, json_each(about) WHERE ended_at IS NULL';
    const isUnneeded = `id NOT IN (SELECT condition FROM notified) AND id NOT IN (${waiting})`;
    remove('condition', 'resolved_at', "state = 'resolved'", isUnneeded);
    remove('notification_delivery', 'ended_at', 'ended_at IS NOT NULL', 'thread NOT IN (SELECT thread FROM notified)');
    remove('notification_event', 'at', "channels = '[]'", `id NOT IN (${waiting})`);
    remove('silence', 'until', `until <= ${Math.floor(now)}`, 'TRUE');
  }
}

function round(time: number | null): number | null {
  return time === null ? null : Math.round(time);
}
