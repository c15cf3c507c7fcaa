import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, StoreError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Note, OrganizationRecord, RecordEntry, Store } from './store.ts';

/** The layouts of the file, one step each: an older file is brought up to date on opening. */
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
];

/** SQLite's primary result codes that need words of their own. */
const BUSY = 5;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/**
 * Opens the state file, and makes it, with its folder, where there is none. The file belongs to this process until
 * `close`; nothing acknowledged is lost when the process is killed. Throws StoreError when another process has it, a
 * newer Octavo wrote it, it is damaged, or it cannot be reached.
 */
export function openSqliteStore(path: string): Store {
  const file = resolve(path);
  const database = guard(file, () => {
    mkdirSync(dirname(file), { recursive: true });
    return new DatabaseSync(file, { timeout: 0 });
  });
  try {
    guard(file, () => prepare(database, file));
  } catch (error) {
    database.close();
    throw error;
  }
  return {
    organization: (id) => guard(file, () => openRecord(database, file, id)),
    note: (topic) => guard(file, () => openNote(database, file, topic)),
    close: async () => {
      if (database.isOpen) {
        guard(file, () => database.close());
      }
    },
  };
}

function prepare(database: DatabaseSync, file: string): void {
  // Exclusive before WAL: then the lock is taken for good, and no shared memory file is needed.
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  // The first write takes the lock; reading alone would let a second process in.
  database.exec('BEGIN EXCLUSIVE');
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (version > LAYOUTS.length) {
    throw new StoreError(
      `${file} was written by a newer Octavo (layout ${version}, this one knows ${LAYOUTS.length}); ` +
        'run that version, or a newer one',
    );
  }
  const health = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {})[0];
  if (health !== 'ok') {
    throw damaged(file, undefined);
  }
  if (version < LAYOUTS.length) {
    database.exec(`${LAYOUTS.slice(version).join('\n')} PRAGMA user_version = ${LAYOUTS.length};`);
  }
  database.exec('COMMIT');
}

function damaged(file: string, cause: unknown): StoreError {
  return new StoreError(
    `${file} is damaged; move it away and start again: what is owned is still declared in git, the next pass adopts ` +
      'it by its natural keys, and nothing is deleted without a record of owning it',
    { cause },
  );
}

/** Runs database work; what SQLite says becomes a StoreError with the file's name and a way out. */
function guard<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof StoreError) {
      throw error;
    }
    // Extended codes carry the primary one in their low byte.
    const code = Number((error as { errcode?: number }).errcode) & 0xff;
    if (code === BUSY) {
      throw new StoreError(`${file} is in use by another process; only one Octavo may use a state file`, {
        cause: error,
      });
    }
    if (code === CORRUPT || code === NOT_A_DATABASE) {
      throw damaged(file, error);
    }
    throw new StoreError(`${file} cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

function openRecord(database: DatabaseSync, file: string, organization: string): OrganizationRecord {
  const run = async <T>(work: () => T): Promise<T> => guard(file, work);
  const all = (work: () => void) =>
    run(() => {
      database.exec('BEGIN');
      try {
        work();
        database.exec('COMMIT');
      } catch (error) {
        if (database.isTransaction) {
          database.exec('ROLLBACK');
        }
        throw error;
      }
    });
  return { ...appliedPart(database, organization, run, all), ...approvalPart(database, organization, run) };
}

function openNote(database: DatabaseSync, file: string, topic: string): Note {
  const read = database.prepare('SELECT value FROM note WHERE topic = ?');
  const write = database.prepare('INSERT OR REPLACE INTO note VALUES (?, ?)');
  return {
    read: async () => guard(file, () => JSON.parse(String(read.get(topic)?.value ?? 'null')) as Json),
    write: async (value) => guard(file, () => void write.run(topic, JSON.stringify(value))),
  };
}

type Run = <T>(work: () => T) => Promise<T>;

function appliedPart(
  database: DatabaseSync,
  organization: string,
  run: Run,
  all: (work: () => void) => Promise<void>,
): Pick<OrganizationRecord, 'read' | 'put' | 'remove' | 'moveHead'> {
  const head = database.prepare('SELECT commit_id, at FROM head WHERE organization = ?');
  const entries = database.prepare('SELECT * FROM entry WHERE organization = ? ORDER BY address');
  const put = database.prepare('INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM entry WHERE organization = ? AND address = ?');
  const move = database.prepare('INSERT OR REPLACE INTO head VALUES (?, ?, ?)');
  return {
    read: () =>
      run(() => {
        const row = head.get(organization);
        const commit = row?.commit_id;
        return {
          head: row === undefined ? null : { commit: commit === null ? null : String(commit), at: Number(row.at) },
          entries: entries.all(organization).map(toEntry),
        };
      }),
    put: (items) =>
      all(() => {
        for (const { address, kind, id, fields, protect, marks } of items) {
          put.run(organization, address, kind, id, JSON.stringify(fields), protect ? 1 : 0, JSON.stringify(marks));
        }
      }),
    remove: (addresses) =>
      all(() => {
        for (const address of addresses) {
          remove.run(organization, address);
        }
      }),
    moveHead: ({ commit, at }) => run(() => void move.run(organization, commit, at)),
  };
}

function approvalPart(
  database: DatabaseSync,
  organization: string,
  run: Run,
): Pick<OrganizationRecord, 'approvals' | 'approve' | 'consume'> {
  const list = database.prepare('SELECT checksum FROM approval WHERE organization = ? ORDER BY at, checksum');
  const approve = database.prepare('INSERT OR IGNORE INTO approval VALUES (?, ?, ?)');
  const consume = database.prepare('DELETE FROM approval WHERE organization = ? AND checksum = ?');
  return {
    approvals: () => run(() => list.all(organization).map((row) => String(row.checksum))),
    approve: (checksum, at) => run(() => void approve.run(organization, checksum, at)),
    consume: (checksum) => run(() => void consume.run(organization, checksum)),
  };
}

function toEntry(row: Record<string, unknown>): RecordEntry {
  return {
    address: String(row.address),
    kind: String(row.kind),
    id: row.id === null ? null : String(row.id),
    fields: JSON.parse(String(row.fields)) as JsonObject,
    protect: row.protect === 1,
    marks: JSON.parse(String(row.marks)) as JsonObject,
  };
}
