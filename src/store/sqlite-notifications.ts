/** Notifications in SQLite. */
import type { DatabaseSync } from 'node:sqlite';
import { AttemptTables } from './notification-attempts.ts';
import { insertEvents } from './notification-events.ts';
import { PlanningTables } from './notification-planning.ts';
import { toCondition, toDeliveryRecord, toSilence } from './notification-rows.ts';
import type { DeliveryQuery, Notifications } from './notifications.ts';
import { inTransaction, Statements } from './sql/transaction.ts';
import type { HistoryAccess } from './sqlite-history.ts';

/** Opens the notifications of a database that has their tables. */
export function openNotifications(database: DatabaseSync, access: HistoryAccess): Notifications {
  const statements = new Statements(database);
  const planning = new PlanningTables(statements, access.parse);
  const attempts = new AttemptTables(statements, access.parse);
  const read = async <T>(work: () => T): Promise<T> => access.run(work);
  const write = async <T>(work: () => T): Promise<T> => access.run(() => inTransaction(database, work));
  return {
    report: (report) => write(() => planning.report(report)),
    retainReporters: (reporters) => write(() => planning.retainReporters(reporters)),
    addEvents: (events) => write(() => insertEvents(statements, events)),
    advance: (now, plan) => write(() => planning.apply(plan(planning.state(now)), now)),
    begin: (channel, now) => write(() => attempts.begin(channel, now, () => planning.facts())),
    end: (id, result, report) =>
      write(() => {
        attempts.end(id, result);
        planning.report(report);
      }),
    dueAt: (channel) => read(() => attempts.dueAt(channel)),
    recover: (now) => write(() => attempts.recover(now)),
    facts: () => read(() => planning.facts()),
    ...lists(statements, access, read),
    silence: (id, { code, organization, reason, by, since, until }) =>
      write(() => {
        statements.run(
          `INSERT INTO silence (id, code, organization, reason, actor, method, since, until) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[id, code, organization, reason, by.name, by.method, Math.round(since), Math.round(until)],
        );
      }),
    endSilence: (id, at) =>
      write(() => {
        const time = Math.round(at);
        return (
          statements.run(
            'UPDATE silence SET ended_at = ? WHERE id = ? AND ended_at IS NULL AND until > ?',
            time,
            id,
            time,
          ) > 0
        );
      }),
  };
}

function lists(
  statements: Statements,
  { parse }: HistoryAccess,
  read: <T>(work: () => T) => Promise<T>,
): Pick<Notifications, 'conditions' | 'deliveries' | 'lastSent' | 'silences'> {
  return {
    conditions: (limit) =>
      read(() =>
        statements
          .all(
            `SELECT * FROM condition ORDER BY CASE state WHEN 'firing' THEN 0 WHEN 'pending' THEN 1 ELSE 2 END,
              COALESCE(resolved_at, fired_at, since) DESC, id LIMIT ?`,
            limit,
          )
          .map((row) => toCondition(row, parse)),
      ),
    deliveries: ({ channel, isPending, limit }: DeliveryQuery) =>
      read(() =>
        statements
          .all(
            `SELECT * FROM notification_delivery WHERE (?1 IS NULL OR channel = ?1)
              AND (?2 = 0 OR state IN ('queued', 'open', 'refused', 'failed')) ORDER BY number DESC LIMIT ?3`,
            ...[channel ?? null, isPending === true ? 1 : 0, limit],
          )
          .map((row) => toDeliveryRecord(row, parse)),
      ),
    lastSent: () =>
      read(() => {
        const rows = statements.all(
          "SELECT channel, MAX(ended_at) AS at FROM notification_delivery WHERE state = 'sent' GROUP BY channel",
        );
        return new Map(rows.map((row) => [String(row.channel), Number(row.at)]));
      }),
    silences: (limit) =>
      read(() => statements.all('SELECT * FROM silence ORDER BY number DESC LIMIT ?', limit).map(toSilence)),
  };
}
