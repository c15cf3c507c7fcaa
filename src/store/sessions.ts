/** Sessions of people who signed in to the web page. */

import { z } from 'zod';
import { isObject, type JsonObject } from '../core/json.ts';
import { type Sql, type SqlDatabase, upsertRows } from './sql/database.ts';

/** A session. The secret in the cookie of the browser is not stored. */
export interface SessionRecord {
  /** Hash of the secret. */
  readonly id: string;
  readonly data: JsonObject;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Sessions, which survive a restart. Every method throws StoreError if the state cannot be used. */
export type Sessions = ReturnType<typeof openSessions>;

/** Opens the sessions of a database. */
export function openSessions(database: SqlDatabase) {
  return {
    /** Returns null if the session does not exist, or has expired at this time. */
    get: (id: string, now: number): Promise<SessionRecord | null> =>
      database.read(async (sql) => {
        const query = `SELECT ${SESSION} FROM session WHERE id = ? AND expires_at > ?`;
        return (await sql.all<SessionRow>(query, id, now)).flatMap((row) => toSession(sql, row))[0] ?? null;
      }),
    /** Returns the sessions that have not expired at this time; those that expire last come first. */
    list: (now: number): Promise<readonly SessionRecord[]> =>
      database.read(async (sql) => {
        const query = `SELECT ${SESSION} FROM session WHERE expires_at > ? ORDER BY expires_at DESC, id`;
        return (await sql.all<SessionRow>(query, now)).flatMap((row) => toSession(sql, row));
      }),
    /** Adds or replaces a session, and removes those that have expired at this time. */
    put: ({ id, data, expiresAt }: SessionRecord, now: number): Promise<void> =>
      database.write(`session/${id}`, async (sql) => {
        await sql.run('DELETE FROM session WHERE expires_at <= ?', now);
        const rows = [[id, JSON.stringify(data), expiresAt]];
        await upsertRows(sql, { table: 'session', key: ['id'], columns: ['data', 'expires_at'], rows });
      }),
    /** Replaces the data of a session; does nothing if it has ended. */
    update: (id: string, data: JsonObject): Promise<void> =>
      database.write(`session/${id}`, async (sql) => {
        await sql.run('UPDATE session SET data = ? WHERE id = ?', JSON.stringify(data), id);
      }),
    /** Returns true if there was a session. */
    remove: (id: string): Promise<boolean> =>
      database.write(`session/${id}`, async (sql) => (await sql.run('DELETE FROM session WHERE id = ?', id)) > 0),
  };
}

const SESSION = 'id, data, expires_at AS "expiresAt"';

interface SessionRow extends Omit<SessionRecord, 'data'> {
  readonly data: string;
}

/** Returns none if another program wrote the data. */
function toSession(sql: Sql, row: SessionRow): readonly SessionRecord[] {
  const data = sql.parse(row.data);
  return isObject(data) ? [{ ...row, data: data as JsonObject }] : [];
}

/** Schema of a request. `user`: name of a person; null: everybody. */
export const sessionRequest = z.discriminatedUnion('subcommand', [
  z.strictObject({ subcommand: z.literal('list') }),
  z.strictObject({
    subcommand: z.literal('end'),
    user: z.string().min(1).max(1000).nullable(),
    reason: z.string().trim().max(500).default(''),
  }),
]);
export type SessionRequest = z.input<typeof sessionRequest>;
