/** Notifications in SQL. */
import type { Json } from '../core/json.ts';
import { AttemptTables } from './notification-attempts.ts';
import { insertEvents } from './notification-events.ts';
import { PlanningTables } from './notification-planning.ts';
import { toCondition, toDeliveryRecord } from './notification-rows.ts';
import type { Notifications } from './notifications.ts';
import type { Sql, SqlDatabase } from './sql/database.ts';

/** Scope of what changes conditions or deliveries. Facts and events of different owners change at the same time. */
const SCOPE = 'notifications';

/** Opens the notifications of a database that has their tables. */
export function openNotifications(database: SqlDatabase): Notifications {
  const parse = (text: unknown) => database.parse(text);
  return { ...plannerPart(database, parse), ...attemptPart(database, parse), ...listPart(database, parse) };
}

type Parse = (text: unknown) => Json;

function plannerPart(
  database: SqlDatabase,
  parse: Parse,
): Pick<Notifications, 'report' | 'retainReporters' | 'addEvents' | 'advance' | 'facts'> {
  const planning = (sql: Sql) => new PlanningTables(sql, parse);
  return {
    report: (report) => database.write(`facts/${report.reporter}`, (sql) => planning(sql).report(report)),
    retainReporters: (reporters) => database.write(SCOPE, (sql) => planning(sql).retainReporters(reporters)),
    addEvents: (events) => database.write(SCOPE, (sql) => insertEvents(sql, events)),
    advance: (now, plan) =>
      database.write(SCOPE, async (sql) => {
        const tables = planning(sql);
        await tables.apply(plan(await tables.state(now)), now);
      }),
    facts: () => database.read((sql) => planning(sql).facts()),
  };
}

function attemptPart(
  database: SqlDatabase,
  parse: Parse,
): Pick<Notifications, 'begin' | 'end' | 'cancelAttempts' | 'dueAt' | 'recover' | 'retryEvents'> {
  const attempts = (sql: Sql) => new AttemptTables(sql, parse);
  return {
    begin: (channel, now) =>
      database.write(SCOPE, async (sql) => {
        const begun = await attempts(sql).begin(channel, now);
        return begun === null ? null : { ...begun, facts: await new PlanningTables(sql, parse).facts() };
      }),
    end: (id, result, report) =>
      database.write(SCOPE, async (sql) => {
        await attempts(sql).end(id, result);
        await new PlanningTables(sql, parse).report(report);
      }),
    dueAt: (channel) => database.read((sql) => attempts(sql).dueAt(channel)),
    cancelAttempts: (channel, now) => database.write(SCOPE, (sql) => attempts(sql).cancelAll(channel, now)),
    recover: (now) => database.write(SCOPE, (sql) => attempts(sql).recover(now)),
    retryEvents: (channel) => database.write(SCOPE, (sql) => attempts(sql).retryEvents(channel)),
  };
}

function listPart(database: SqlDatabase, parse: Parse): Pick<Notifications, 'conditions' | 'deliveries' | 'lastSent'> {
  return {
    conditions: (limit) =>
      database.read(async (sql) => {
        const rows = await sql.all(
          `SELECT * FROM condition ORDER BY CASE state WHEN 'firing' THEN 0 WHEN 'pending' THEN 1 ELSE 2 END,
            COALESCE(resolved_at, fired_at, since) DESC, id LIMIT ?`,
          limit,
        );
        return rows.map((row) => toCondition(row, parse));
      }),
    deliveries: ({ channel, isPending, limit }) =>
      database.read(async (sql) => {
        const isSelected = [
          ...(channel === undefined ? [] : ['channel = ?']),
          ...(isPending === true ? ["state IN ('queued', 'open', 'refused', 'failed')"] : []),
        ];
        const where = isSelected.length === 0 ? '' : `WHERE ${isSelected.join(' AND ')}`;
        const rows = await sql.all(
          `SELECT * FROM notification_delivery ${where} ORDER BY number DESC LIMIT ?`,
          ...(channel === undefined ? [] : [channel]),
          limit,
        );
        return rows.map((row) => toDeliveryRecord(row, parse));
      }),
    lastSent: () =>
      database.read(async (sql) => {
        const rows = await sql.all(
          "SELECT channel, MAX(ended_at) AS at FROM notification_delivery WHERE state = 'sent' GROUP BY channel ORDER BY channel",
        );
        return new Map(rows.map((row) => [String(row.channel), Number(row.at)]));
      }),
  };
}
