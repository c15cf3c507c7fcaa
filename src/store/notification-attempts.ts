/** Attempts to send deliveries, in SQL. */
import type { Json } from '../core/json.ts';
import type { NotificationEvent } from './notification-events.ts';
import { toCondition, toDelivery, toReceipt } from './notification-rows.ts';
import type { AttemptResult, DeliveryAttempt } from './notifications.ts';
import type { Sql, SqlRow } from './sql/database.ts';

/** Oldest deliveries of each thread that wait: a later one is not sent before it. */
const HEADS = `FROM notification_delivery AS own WHERE channel = ? AND next_at IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM notification_delivery AS older WHERE older.thread = own.thread AND older.channel = own.channel
    AND older.number < own.number AND older.ended_at IS NULL)`;

/** Sets a delivery that waits again. */
const WAIT = {
  unknown: "UPDATE notification_delivery SET state = 'queued', may_have_arrived = 1, next_at = ?, reason = ?",
  'not-taken': `UPDATE notification_delivery SET state = CASE may_have_arrived WHEN 0 THEN 'refused' ELSE 'queued' END,
    next_at = ?, reason = ?`,
};

/** Statements of one transaction on attempts. */
export class AttemptTables {
  readonly #sql: Sql;
  readonly #parse: (text: unknown) => Json;

  constructor(sql: Sql, parse: (text: unknown) => Json) {
    this.#sql = sql;
    this.#parse = parse;
  }

  /** Begins an attempt, and returns it without the facts. */
  async begin(channel: string, now: number): Promise<Omit<DeliveryAttempt, 'facts'> | null> {
    const due = await this.#sql.get(
      `SELECT * ${HEADS} AND next_at <= ? ORDER BY next_at, number LIMIT 1`,
      ...[channel, now],
    );
    if (due === undefined) {
      return null;
    }
    const id = String(due.id);
    await this.#sql.run(
      `UPDATE notification_delivery SET state = 'open', next_at = NULL, attempts = attempts + 1,
        first_attempt_at = COALESCE(first_attempt_at, ?) WHERE id = ?`,
      ...[Math.floor(now), id],
    );
    return {
      delivery: toDelivery({ ...due, state: 'open' }, this.#parse),
      attempts: Number(due.attempts) + 1,
      firstAttemptAt: Number(due.first_attempt_at ?? Math.floor(now)),
      ...(await this.#contents(due)),
    };
  }

  /** Reads what the message of a delivery needs. */
  async #contents(due: SqlRow): Promise<Pick<DeliveryAttempt, 'conditions' | 'events' | 'receipt'>> {
    const thread = String(due.thread);
    const conditions = await this.#sql.all(
      `SELECT * FROM condition WHERE id IN
        (SELECT each.value FROM notification_delivery, ${this.#sql.jsonItems('about')} WHERE thread = ?)
        ORDER BY since, id`,
      thread,
    );
    const rows = await this.#sql.all(
      `SELECT id, event FROM notification_event WHERE id IN (SELECT each.value FROM ${this.#sql.jsonItems('?')})`,
      String(due.about),
    );
    const events = new Map(rows.map((row) => [row.id, this.#parse(row.event) as unknown as NotificationEvent]));
    const announced = await this.#sql.get(
      'SELECT receipt FROM notification_delivery WHERE thread = ? AND receipt IS NOT NULL ORDER BY number LIMIT 1',
      thread,
    );
    const about = this.#parse(due.about) as readonly string[];
    return {
      conditions: conditions.map((row) => toCondition(row, this.#parse)),
      events: about.flatMap((each) => events.get(each) ?? []),
      receipt: toReceipt(announced, this.#parse),
    };
  }

  async end(id: string, result: AttemptResult): Promise<void> {
    if (result.result === 'sent') {
      await this.#sql.run(
        `UPDATE notification_delivery SET state = 'sent', ended_at = ?, receipt = ? WHERE id = ? AND state = 'open'`,
        ...[Math.ceil(result.at), result.receipt === null ? null : JSON.stringify(result.receipt), id],
      );
    } else if (result.result === 'failed') {
      const arrived = result.mayHaveArrived ? ', may_have_arrived = 1' : '';
      await this.#sql.run(
        `UPDATE notification_delivery SET state = 'failed', ended_at = ?, reason = ?${arrived} WHERE id = ? AND state = 'open'`,
        ...[Math.ceil(result.at), result.reason, id],
      );
    } else {
      await this.#sql.run(
        `${WAIT[result.result]} WHERE id = ? AND state = 'open'`,
        ...[Math.ceil(result.nextAttemptAt), result.reason, id],
      );
    }
  }

  async cancelAll(channel: string, now: number): Promise<void> {
    await this.#sql.run(
      "UPDATE notification_delivery SET state = 'queued', next_at = ? WHERE channel = ? AND state = 'open'",
      ...[Math.floor(now), channel],
    );
  }

  async dueAt(channel: string): Promise<number | null> {
    const row = await this.#sql.get(`SELECT MIN(next_at) AS at ${HEADS}`, channel);
    return row?.at == null ? null : Number(row.at);
  }

  /** Lets events be delivered again whose delivery was given up, to one channel or to all. Returns their number. */
  async retryEvents(channel: string | null): Promise<number> {
    const failed = await this.#sql.all(
      `SELECT id, channel, about FROM notification_delivery WHERE state = 'failed' AND kind IN ('event', 'digest')
        AND (channel = ? OR ? = 1)`,
      ...[channel ?? '', channel === null ? 1 : 0],
    );
    let count = 0;
    for (const delivery of failed) {
      const events = await this.#sql.all(
        `SELECT id, channels FROM notification_event WHERE id IN (SELECT each.value FROM ${this.#sql.jsonItems('?')})`,
        String(delivery.about),
      );
      for (const { id, channels } of events) {
        const waiting = new Set([...(this.#parse(channels) as readonly string[]), String(delivery.channel)]);
        await this.#sql.run(
          'UPDATE notification_event SET channels = ? WHERE id = ?',
          ...[JSON.stringify([...waiting]), String(id)],
        );
      }
      await this.#sql.run("UPDATE notification_delivery SET state = 'cancelled' WHERE id = ?", String(delivery.id));
      count += events.length;
    }
    return count;
  }

  async recover(now: number): Promise<void> {
    await this.#sql.run(
      `UPDATE notification_delivery SET state = CASE state WHEN 'open' THEN 'queued' ELSE state END,
        may_have_arrived = CASE state WHEN 'open' THEN 1 ELSE may_have_arrived END, next_at = ? WHERE ended_at IS NULL`,
      Math.floor(now),
    );
  }
}
