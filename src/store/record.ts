/** Last applied state of an organization, decisions on its plans, and notes. */
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import { textOrNull, toActor } from './history-rows.ts';
import { insertEvents } from './notification-events.ts';
import type { Sql, SqlDatabase, SqlRow } from './sql/database.ts';
import { insertNewRows, upsertRows } from './sql/inserts.ts';
import type { Note, OrganizationRecord, PlanDecision, RecordEntry } from './store.ts';

/** Opens the note of a topic. */
export function openNote(database: SqlDatabase, topic: string): Note {
  return {
    read: () => database.read((sql) => readNote(database, sql, topic)),
    write: (value) => database.write(`note/${topic}`, (sql) => writeNote(sql, topic, value)),
  };
}

/** Replaces a note with the result of `change`, in one transaction. `change` gets null if nothing was written. */
export function updateNote(database: SqlDatabase, topic: string, change: (value: Json) => Json): Promise<void> {
  return database.write(`note/${topic}`, async (sql) =>
    writeNote(sql, topic, change(await readNote(database, sql, topic))),
  );
}

async function readNote(database: SqlDatabase, sql: Sql, topic: string): Promise<Json> {
  const row = await sql.get('SELECT value FROM note WHERE topic = ?', topic);
  return row === undefined ? null : database.parse(row.value);
}

async function writeNote(sql: Sql, topic: string, value: Json): Promise<void> {
  const rows = [[topic, JSON.stringify(value)]];
  await upsertRows(sql, { table: 'note', key: ['topic'], columns: ['value'], rows });
}

/** Opens the record of an organization. */
export function openRecord(database: SqlDatabase, organization: string): OrganizationRecord {
  return { ...appliedPart(database, organization), ...decisionPart(database, organization) };
}

function appliedPart(
  database: SqlDatabase,
  organization: string,
): Pick<OrganizationRecord, 'read' | 'put' | 'remove' | 'moveHead'> {
  return {
    read: () =>
      database.read(async (sql) => {
        const head = await sql.get('SELECT commit_id, at FROM head WHERE organization = ?', organization);
        const entries = await sql.all('SELECT * FROM entry WHERE organization = ? ORDER BY address', organization);
        return {
          head: head === undefined ? null : { commit: textOrNull(head.commit_id), at: Number(head.at) },
          entries: entries.map((entry) => toEntry(entry, database)),
        };
      }),
    put: (entries) =>
      database.write(organization, (sql) =>
        upsertRows(sql, {
          table: 'entry',
          key: ['organization', 'address'],
          columns: ['kind', 'id', 'fields', 'protect', 'metadata'],
          rows: entries.map((entry) => toRow(organization, entry)),
        }),
      ),
    remove: (addresses) =>
      database.write(organization, async (sql) => {
        const removed = `SELECT each.value FROM ${sql.jsonItems('?')}`;
        await sql.run(
          `DELETE FROM entry WHERE organization = ? AND address IN (${removed})`,
          ...[organization, JSON.stringify(addresses)],
        );
      }),
    moveHead: ({ commit, at }, served) =>
      database.write(organization, async (sql) => {
        const rows = [[organization, commit, Math.round(at)]];
        await upsertRows(sql, { table: 'head', key: ['organization'], columns: ['commit_id', 'at'], rows });
        const removed = `SELECT each.value FROM ${sql.jsonItems('?')}`;
        await sql.run(
          `DELETE FROM decision WHERE organization = ? AND checksum IN (${removed})`,
          ...[organization, JSON.stringify(served)],
        );
      }),
  };
}

function decisionPart(database: SqlDatabase, organization: string): Pick<OrganizationRecord, 'decisions' | 'decide'> {
  const list = 'SELECT * FROM decision WHERE organization = ? ORDER BY at, checksum, method, actor';
  return {
    decisions: () => database.read(async (sql) => (await sql.all(list, organization)).map(toDecision)),
    decide: ({ checksum, verdict, by, reason, at }, events) =>
      database.write(organization, async (sql) => {
        await sql.run(
          'DELETE FROM decision WHERE organization = ? AND checksum = ? AND verdict <> ?',
          ...[organization, checksum, verdict],
        );
        await insertNewRows(sql, {
          table: 'decision',
          key: ['organization', 'checksum', 'method', 'actor'],
          columns: ['verdict', 'reason', 'at'],
          rows: [[organization, checksum, by.method, by.name, verdict, reason, Math.round(at)]],
        });
        await insertEvents(sql, events ?? []);
      }),
  };
}

function toDecision(row: SqlRow): PlanDecision {
  return {
    checksum: String(row.checksum),
    verdict: row.verdict === 'rejected' ? 'rejected' : 'approved',
    by: toActor(row),
    reason: String(row.reason),
    at: Number(row.at),
  };
}

function toRow(organization: string, { address, kind, id, fields, protect, metadata }: RecordEntry) {
  return [organization, address, kind, id, JSON.stringify(fields), protect ? 1 : 0, JSON.stringify(metadata)];
}

function toEntry(row: SqlRow, database: SqlDatabase): RecordEntry {
  return {
    address: String(row.address),
    kind: String(row.kind),
    id: textOrNull(row.id),
    fields: toObject(row.fields, database),
    protect: row.protect === 1,
    metadata: toObject(row.metadata, database),
  };
}

function toObject(text: unknown, database: SqlDatabase): JsonObject {
  const value = database.parse(text);
  if (!isObject(value)) {
    throw database.damagedError();
  }
  return value as JsonObject;
}
