/** Converts rows of the tables of notifications. */
import type { Json } from '../core/json.ts';
import { textOrNull } from './history-rows.ts';
import type {
  Condition,
  DeliveryRecord,
  Fact,
  NotificationDelivery,
  Notified,
  StoredReceipt,
} from './notifications.ts';
import type { SqlRow } from './sql/database.ts';

type Parse = (text: unknown) => Json;

export function toCondition(row: SqlRow, parse: Parse): Condition {
  return {
    id: String(row.id),
    fact: parse(row.fact) as unknown as Fact,
    state: row.state as Condition['state'],
    since: Number(row.since),
    firedAt: numberOrNull(row.fired_at),
    resolvedAt: numberOrNull(row.resolved_at),
    clearSince: numberOrNull(row.clear_since),
    isInhibited: row.inhibited === 1,
    starts: parse(row.starts) as readonly number[],
  };
}

export function toDelivery(row: SqlRow, parse: Parse): NotificationDelivery {
  return {
    id: String(row.id),
    channel: String(row.channel),
    thread: String(row.thread),
    kind: row.kind as NotificationDelivery['kind'],
    about: parse(row.about) as readonly string[],
    createdAt: Number(row.created_at),
    state: row.state as NotificationDelivery['state'],
    mayHaveArrived: row.may_have_arrived === 1,
  };
}

export function toDeliveryRecord(row: SqlRow, parse: Parse): DeliveryRecord {
  return {
    ...toDelivery(row, parse),
    attempts: Number(row.attempts),
    nextAttemptAt: numberOrNull(row.next_at),
    endedAt: numberOrNull(row.ended_at),
    reason: textOrNull(row.reason),
  };
}

export function toReceipt(row: SqlRow | undefined, parse: Parse): StoredReceipt | null {
  return row === undefined ? null : (parse(row.receipt) as StoredReceipt | null);
}

export function toNotified(row: SqlRow): Notified {
  return {
    channel: String(row.channel),
    condition: String(row.condition),
    thread: String(row.thread),
    notifiedAt: Number(row.told_at),
    resolved: textOrNull(row.resolved),
  };
}

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}
