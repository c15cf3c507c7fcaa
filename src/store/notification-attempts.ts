/** Attempts to send deliveries, in SQLite. */
import type { Json } from '../core/json.ts';
import type { NotificationEvent } from './notification-events.ts';
import { toCondition, toDelivery, toReceipt } from './notification-rows.ts';
import type { AttemptResult, DeliveryAttempt, Fact } from './notifications.ts';
import type { Statements } from './sql/transaction.ts';

/** Oldest deliveries of each thread that wait: a later one is not sent before it. */
const HEADS = `FROM notification_delivery AS own WHERE channel = ? AND next_at IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM notification_delivery AS older WHERE older.thread = own.thread AND older.channel = own.channel
    AND older.number < own.number AND older.ended_at IS NULL)`;

/** Sets a delivery that waits again. */
const WAIT = `UPDATE notification_delivery SET state = CASE may_have_arrived + ? WHEN 0 THEN 'refused' ELSE 'queued' END,
  may_have_arrived = may_have_arrived OR ?, next_at = ?, reason = ? WHERE id = ? AND state = 'open'`;

/** Statements on attempts. */
export class AttemptTables {
  readonly #statements: Statements;
  readonly #parse: (text: unknown) => Json;

  constructor(statements: Statements, parse: (text: unknown) => Json) {
    this.#statements = statements;
    this.#parse = parse;
  }

  begin(channel: string, now: number, facts: () => readonly Fact[]): DeliveryAttempt | null {
    const [due] = this.#statements.all(
      `SELECT * ${HEADS} AND next_at <= ? ORDER BY next_at, number LIMIT 1`,
      ...[channel, now],
    );
    if (due === undefined) {
      return null;
    }
    const id = String(due.id);
    this.#statements.run(
      `UPDATE notification_delivery SET state = 'open', next_at = NULL, attempts = attempts + 1,
        first_attempt_at = COALESCE(first_attempt_at, ?) WHERE id = ?`,
      ...[Math.floor(now), id],
    );
    const [announced] = this.#statements.all(
      'SELECT receipt FROM notification_delivery WHERE thread = ? AND receipt IS NOT NULL ORDER BY number LIMIT 1',
      String(due.thread),
    );
    const delivery = toDelivery({ ...due, state: 'open' }, this.#parse);
    const conditions = this.#statements.all(
      `SELECT * FROM condition WHERE id IN (SELECT value FROM notification_delivery, json_each(about) WHERE thread = ?)
        ORDER BY since, id`,
      delivery.thread,
    );
    const events = delivery.about.flatMap((each) =>
      this.#statements.all('SELECT * FROM notification_event WHERE id = ?', each),
    );
    return {
      delivery,
      attempts: Number(due.attempts) + 1,
      firstAttemptAt: Number(due.first_attempt_at ?? Math.floor(now)),
      conditions: conditions.map((row) => toCondition(row, this.#parse)),
      events: events.map((row) => this.#parse(row.event) as unknown as NotificationEvent),
      facts: facts(),
      receipt: toReceipt(announced, this.#parse),
    };
  }

  end(id: string, result: AttemptResult): void {
    if (result.result === 'sent') {
      this.#statements.run(
        `UPDATE notification_delivery SET state = 'sent', ended_at = ?, receipt = ? WHERE id = ? AND state = 'open'`,
        ...[Math.ceil(result.at), result.receipt === null ? null : JSON.stringify(result.receipt), id],
      );
    } else if (result.result === 'failed') {
      this.#statements.run(
        `UPDATE notification_delivery SET state = 'failed', ended_at = ?, may_have_arrived = may_have_arrived OR ?, reason = ?
          WHERE id = ? AND state = 'open'`,
        ...[Math.ceil(result.at), result.mayHaveArrived ? 1 : 0, result.reason, id],
      );
    } else {
      const mayHaveArrived = result.result === 'unknown' ? 1 : 0;
      this.#statements.run(WAIT, mayHaveArrived, mayHaveArrived, Math.ceil(result.nextAttemptAt), result.reason, id);
    }
  }

  dueAt(channel: string): number | null {
    const [row] = this.#statements.all(`SELECT MIN(next_at) AS at ${HEADS}`, channel);
    return row?.at == null ? null : Number(row.at);
  }

  recover(now: number): void {
    this.#statements.run(
      `UPDATE notification_delivery SET state = CASE state WHEN 'open' THEN 'queued' ELSE state END,
        may_have_arrived = may_have_arrived OR state = 'open', next_at = ? WHERE ended_at IS NULL`,
      Math.floor(now),
    );
  }
}
