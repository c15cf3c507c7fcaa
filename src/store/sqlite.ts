import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import { COMMIT_STATUS_LAYOUT, openCommitStatuses } from './commit-statuses.ts';
import type { Actor } from './history.ts';
import { AUDIT_INDEX, HISTORY_LAYOUTS } from './history-layout.ts';
import { insertEvents } from './notification-events.ts';
import { NOTIFICATION_LAYOUT } from './notification-layout.ts';
import { OUTBOX_LAYOUTS } from './outbox/layout.ts';
import { openOutbox } from './outbox/sqlite-outbox.ts';
import { openSessions, SESSION_LAYOUT } from './sessions.ts';
import { inTransaction, Statements } from './sql/transaction.ts';
import { openHistory } from './sqlite-history.ts';
import { openNotifications } from './sqlite-notifications.ts';
import type { Note, OrganizationRecord, PlanDecision, RecordEntry, Store } from './store.ts';
import {
  damagedFileError,
  foreignFileError,
  keepPrivate,
  newerFileError,
  requireWritable,
  withStoreErrors,
} from './store-errors.ts';

/** Layouts of the file, one migration each: an older file is migrated when it is opened. */
const LAYOUTS = [
  `CREATE TABLE head (
    organization TEXT PRIMARY KEY, commit_id TEXT, at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE entry (
    organization TEXT NOT NULL, address TEXT NOT NULL, kind TEXT NOT NULL, id TEXT,
    fields TEXT NOT NULL, protect INTEGER NOT NULL, marks TEXT NOT NULL,
    PRIMARY KEY (organization, address)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE approval (
    organization TEXT NOT NULL, checksum TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (organization, checksum)
  ) STRICT, WITHOUT ROWID;`,
  'CREATE TABLE note (topic TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;',
  ...OUTBOX_LAYOUTS,
  'ALTER TABLE entry RENAME COLUMN marks TO metadata;',
  ...HISTORY_LAYOUTS,
  `CREATE TABLE decision (
    organization TEXT NOT NULL, checksum TEXT NOT NULL, actor TEXT NOT NULL, method TEXT NOT NULL,
    verdict TEXT NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (organization, checksum, method, actor)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO decision SELECT organization, checksum, '', 'socket', 'approved', '', at FROM approval;
  DELETE FROM approval;`,
  SESSION_LAYOUT,
  AUDIT_INDEX,
  NOTIFICATION_LAYOUT,
  COMMIT_STATUS_LAYOUT,
];

/** SQLite's application id, which marks the file as Octavo's: "Octv". */
const APPLICATION = 0x4f637476;
const TABLES = ['head', 'entry', 'approval'];

/**
 * Opens the state file. Creates it and its folder if they do not exist. The file is locked by this process until
 * `close`, and only its owner can read it. Acknowledged writes survive a killed process. Throws StoreError if the file
 * is locked by another process, was written by a newer Octavo or another program, is damaged, or cannot be read or
 * written; such a file is not changed. `onOpen` receives the open database, for tests that make it fail.
 */
export function openSqliteStore(path: string, onOpen?: (database: DatabaseSync) => void): Store {
  const file = resolve(path);
  const database = withStoreErrors(file, () => {
    mkdirSync(dirname(file), { recursive: true });
    requireWritable(file);
    return new DatabaseSync(file, { timeout: 0 });
  });
  try {
    withStoreErrors(file, () => prepare(database, file));
    keepPrivate([file, `${file}-wal`]);
    onOpen?.(database);
  } catch (error) {
    database.close();
    throw error;
  }
  const access = {
    run: <T>(work: () => T) => withStoreErrors(file, work),
    parse: (text: unknown) => parse(text, file),
  };
  return {
    organization: (id) => withStoreErrors(file, () => openRecord(database, file, id)),
    note: (topic) => withStoreErrors(file, () => openNote(database, file, topic)),
    history: (organization) => openHistory(database, access, organization),
    commitStatuses: (organization) => access.run(() => openCommitStatuses(database, access, organization)),
    sessions: () => access.run(() => openSessions(database, access)),
    notifications: () => access.run(() => openNotifications(database, access)),
    outbox: (organization, limit) => access.run(() => openOutbox(database, access, organization, limit)),
    close: async () => {
      if (database.isOpen) {
        withStoreErrors(file, () => database.close());
      }
    },
  };
}

function prepare(database: DatabaseSync, file: string): void {
  // Exclusive before anything is read: then the lock is taken for good, and WAL needs no shared memory file. The
  // transaction takes it, as reading alone would let a second process in; nothing is written before the file is known
  // to be Octavo's.
  database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  const { version, isMarked } = recognize(database, file);
  const health = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {})[0];
  if (health !== 'ok') {
    throw damagedFileError(file);
  }
  database.exec('COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  if (version < LAYOUTS.length || !isMarked) {
    const mark = `PRAGMA application_id = ${APPLICATION}; PRAGMA user_version = ${LAYOUTS.length};`;
    database.exec(`BEGIN; ${LAYOUTS.slice(version).join('\n')} ${mark} COMMIT;`);
  }
}

/** Returns the layout of the file; 0 if it is empty. Throws StoreError if it is not Octavo's, or too new. */
function recognize(database: DatabaseSync, file: string): { readonly version: number; readonly isMarked: boolean } {
  const number = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  const version = number('user_version');
  const isMarked = number('application_id') === APPLICATION;
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const hasOurs = TABLES.every((table) => tables.some(({ name }) => name === table));
  const isNew = !isMarked && version === 0 && tables.length === 0;
  // The first layout was written without an application id.
  if (!isNew && !isMarked && !(hasOurs && version > 0 && version <= LAYOUTS.length)) {
    throw foreignFileError(file);
  }
  if (version > LAYOUTS.length) {
    throw newerFileError(file, version, LAYOUTS.length);
  }
  if (!isNew && !hasOurs) {
    throw damagedFileError(file);
  }
  return { version, isMarked };
}

function openRecord(database: DatabaseSync, file: string, organization: string): OrganizationRecord {
  const run = async <T>(work: () => T): Promise<T> => withStoreErrors(file, work);
  const all = (work: () => void) => run(() => inTransaction(database, work));
  return { ...appliedPart(database, file, organization, run, all), ...decisionPart(database, organization, run, all) };
}

function openNote(database: DatabaseSync, file: string, topic: string): Note {
  const read = database.prepare('SELECT value FROM note WHERE topic = ?');
  const write = database.prepare('INSERT OR REPLACE INTO note VALUES (?, ?)');
  return {
    read: async () => withStoreErrors(file, () => parse(read.get(topic)?.value ?? 'null', file)),
    write: async (value) => withStoreErrors(file, () => void write.run(topic, JSON.stringify(value))),
  };
}

type Run = <T>(work: () => T) => Promise<T>;

function appliedPart(
  database: DatabaseSync,
  file: string,
  organization: string,
  run: Run,
  all: (work: () => void) => Promise<void>,
): Pick<OrganizationRecord, 'read' | 'put' | 'remove' | 'moveHead'> {
  const head = database.prepare('SELECT commit_id, at FROM head WHERE organization = ?');
  const entries = database.prepare('SELECT * FROM entry WHERE organization = ? ORDER BY address');
  const put = database.prepare('INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM entry WHERE organization = ? AND address = ?');
  const move = database.prepare('INSERT OR REPLACE INTO head VALUES (?, ?, ?)');
  const serve = database.prepare('DELETE FROM decision WHERE organization = ? AND checksum = ?');
  return {
    read: () =>
      run(() => {
        const row = head.get(organization);
        const commit = row?.commit_id;
        return {
          head: row === undefined ? null : { commit: commit === null ? null : String(commit), at: Number(row.at) },
          entries: entries.all(organization).map((entry) => toEntry(entry, file)),
        };
      }),
    put: (items) =>
      all(() => {
        for (const { address, kind, id, fields, protect, metadata } of items) {
          put.run(organization, address, kind, id, JSON.stringify(fields), protect ? 1 : 0, JSON.stringify(metadata));
        }
      }),
    remove: (addresses) =>
      all(() => {
        for (const address of addresses) {
          remove.run(organization, address);
        }
      }),
    moveHead: ({ commit, at }, served) =>
      all(() => {
        move.run(organization, commit, at);
        for (const checksum of served) {
          serve.run(organization, checksum);
        }
      }),
  };
}

function decisionPart(
  database: DatabaseSync,
  organization: string,
  run: Run,
  all: (work: () => void) => Promise<void>,
): Pick<OrganizationRecord, 'decisions' | 'decide'> {
  const list = database.prepare('SELECT * FROM decision WHERE organization = ? ORDER BY at, checksum, method, actor');
  const revoke = database.prepare('DELETE FROM decision WHERE organization = ? AND checksum = ? AND verdict <> ?');
  const statements = new Statements(database);
  const insert = database.prepare('INSERT OR IGNORE INTO decision VALUES (?, ?, ?, ?, ?, ?, ?)');
  return {
    decisions: () => run(() => list.all(organization).map(toDecision)),
    decide: ({ checksum, verdict, by, reason, at }, events) =>
      all(() => {
        revoke.run(organization, checksum, verdict);
        insert.run(organization, checksum, by.name, by.method, verdict, reason, at);
        insertEvents(statements, events ?? []);
      }),
  };
}

function toDecision(row: Record<string, unknown>): PlanDecision {
  return {
    checksum: String(row.checksum),
    verdict: row.verdict === 'rejected' ? 'rejected' : 'approved',
    by: { name: String(row.actor), method: row.method as Actor['method'] },
    reason: String(row.reason),
    at: Number(row.at),
  };
}

function toEntry(row: Record<string, unknown>, file: string): RecordEntry {
  return {
    address: String(row.address),
    kind: String(row.kind),
    id: row.id === null ? null : String(row.id),
    fields: toObject(row.fields, file),
    protect: row.protect === 1,
    metadata: toObject(row.metadata, file),
  };
}

function toObject(text: unknown, file: string): JsonObject {
  const value = parse(text, file);
  if (!isObject(value)) {
    throw damagedFileError(file);
  }
  return value as JsonObject;
}

function parse(text: unknown, file: string): Json {
  try {
    return JSON.parse(String(text)) as Json;
  } catch (error) {
    throw damagedFileError(file, error);
  }
}
