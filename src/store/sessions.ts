/** Sessions of people who signed in to the web page. */
import type { DatabaseSync } from 'node:sqlite';
import { isObject, type JsonObject } from '../core/json.ts';
import type { HistoryAccess } from './sqlite-history.ts';

/** A session. The secret in the cookie of the browser is not stored. */
export interface SessionRecord {
  /** Hash of the secret. */
  readonly id: string;
  readonly data: JsonObject;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Sessions, which survive a restart. Every method throws StoreError if the state cannot be used. */
export interface Sessions {
  /** Returns null if the session does not exist, or has expired at this time. */
  get(id: string, now: number): Promise<SessionRecord | null>;
  /** Adds or replaces a session, and removes those that have expired at this time. */
  put(session: SessionRecord, now: number): Promise<void>;
  /** Replaces the data of a session; does nothing if it has ended. */
  update(id: string, data: JsonObject): Promise<void>;
  /** Returns true if there was a session. */
  remove(id: string): Promise<boolean>;
}

/** Table of the sessions in the state file. */
export const SESSION_LAYOUT = `CREATE TABLE session (
  id TEXT PRIMARY KEY, data TEXT NOT NULL, expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_expiry ON session (expires_at);`;

/** Opens the sessions of a database. */
export function openSessions(database: DatabaseSync, access: HistoryAccess): Sessions {
  const get = database.prepare('SELECT data, expires_at FROM session WHERE id = ? AND expires_at > ?');
  const put = database.prepare('INSERT OR REPLACE INTO session VALUES (?, ?, ?)');
  const expire = database.prepare('DELETE FROM session WHERE expires_at <= ?');
  const update = database.prepare('UPDATE session SET data = ? WHERE id = ?');
  const remove = database.prepare('DELETE FROM session WHERE id = ?');
  const run = async <T>(work: () => T): Promise<T> => access.run(work);
  return {
    get: (id, now) =>
      run(() => {
        const row = get.get(id, now);
        const data = row === undefined ? null : access.parse(row.data);
        return isObject(data) ? { id, data: data as JsonObject, expiresAt: Number(row?.expires_at) } : null;
      }),
    put: ({ id, data, expiresAt }, now) =>
      run(() => {
        expire.run(now);
        put.run(id, JSON.stringify(data), expiresAt);
      }),
    update: (id, data) => run(() => void update.run(JSON.stringify(data), id)),
    remove: (id) => run(() => remove.run(id).changes > 0),
  };
}
