/** Requests for an organization that its owner carries out. See docs/fleet.md#commands. */
import { isObject, type JsonObject } from '../core/json.ts';
import type { SqlDatabase } from './sql/database.ts';

/** `push`: fetch the repository; `hints`: poll sources that a webhook was received for. The others are requests of people. */
export const COMMAND_KINDS = ['act', 'conversations', 'clusters', 'push', 'hints'] as const;
export type CommandKind = (typeof COMMAND_KINDS)[number];

export interface NewCommand {
  readonly organization: string;
  readonly kind: CommandKind;
  readonly request: JsonObject;
  /** Person, and how they signed in. */
  readonly by: { readonly name: string; readonly method: string };
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A command that was not answered yet. */
export interface OpenCommand extends Omit<NewCommand, 'kind' | 'request'> {
  /** Counts up for each organization. */
  readonly number: number;
  /** One of `COMMAND_KINDS`, unless a newer version has added the command. */
  readonly kind: string;
  /** Null: it is not a JSON object. */
  readonly request: JsonObject | null;
  /** Epoch of the owner that began it last; null if none has. */
  readonly epoch: number | null;
}

/** Commands of all organizations. Every method throws StoreError if the state cannot be used. */
export type CommandTable = ReturnType<typeof openCommands>;

/** Opens the commands of a database. */
export function openCommands(database: SqlDatabase) {
  return {
    /**
     * Adds a command, and returns its number. `isShared`: returns that of an equal command which nobody has begun, if there
     * is one.
     */
    add: ({ organization, kind, request, by, at }: NewCommand, isShared: boolean): Promise<number> =>
      database.write(scopeOf(organization), async (sql) => {
        const text = JSON.stringify(request);
        const same = isShared
          ? await sql.get<{ number: number }>(
              `SELECT number FROM command
              WHERE organization = ? AND kind = ? AND request = ? AND epoch IS NULL AND done_at IS NULL
              ORDER BY number LIMIT 1`,
              ...[organization, kind, text],
            )
          : undefined;
        if (same !== undefined) {
          return same.number;
        }
        const last = await sql.get('SELECT MAX(number) AS number FROM command WHERE organization = ?', organization);
        const number = Number(last?.number ?? 0) + 1;
        await sql.run(
          'INSERT INTO command (organization, number, kind, request, actor, method, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
          ...[organization, number, kind, text, by.name, by.method, at],
        );
        return number;
      }),
    /** Returns the oldest command of each kind that was not answered, of each organization. */
    open: (): Promise<readonly OpenCommand[]> =>
      database.read(async (sql) => {
        const rows = await sql.all<
          Omit<OpenCommand, 'request' | 'by'> & Record<'request' | 'actor' | 'method', string>
        >(
          `SELECT organization, number, kind, request, actor, method, at, epoch FROM command
            WHERE (organization, number) IN
              (SELECT organization, MIN(number) FROM command WHERE done_at IS NULL GROUP BY organization, kind)
            ORDER BY organization, number`,
        );
        return rows.map(({ request, actor, method, ...rest }) => {
          return { ...rest, request: toRequest(request), by: { name: actor, method } };
        });
      }),
    /** Records that the owner begins a command. Returns false if it was answered, or removed. */
    begin: (organization: string, number: number, epoch: number): Promise<boolean> =>
      database.write(scopeOf(organization), async (sql) => {
        const statement = 'UPDATE command SET epoch = ? WHERE organization = ? AND number = ? AND done_at IS NULL';
        return (await sql.run(statement, epoch, organization, number)) > 0;
      }),
    answer: (organization: string, number: number, answer: JsonObject, now: number): Promise<void> =>
      database.write(scopeOf(organization), async (sql) => {
        await sql.run(
          'UPDATE command SET done_at = ?, answer = ? WHERE organization = ? AND number = ?',
          ...[now, JSON.stringify(answer), organization, number],
        );
      }),
    /** Returns the answer; null if there is none yet. */
    findAnswer: (organization: string, number: number): Promise<JsonObject | null> =>
      database.read(async (sql) => {
        const row = await sql.get(
          'SELECT answer FROM command WHERE organization = ? AND number = ? AND done_at IS NOT NULL',
          ...[organization, number],
        );
        return row === undefined ? null : (sql.parse(row.answer) as JsonObject);
      }),
    /** Removes the commands that were added before this time, answered or not. Returns their number. */
    removeBefore: (time: number): Promise<number> =>
      database.write('command', (sql) => sql.run('DELETE FROM command WHERE at < ?', time)),
  };
}

function scopeOf(organization: string): string {
  return `command/${organization}`;
}

/** A request that another program wrote must not keep others from being carried out. */
function toRequest(text: string): JsonObject | null {
  try {
    const request: unknown = JSON.parse(text);
    return isObject(request) ? (request as JsonObject) : null;
  } catch {
    return null;
  }
}
