/** Statements of this process that the server is running, by their tags. */
import { Socket } from 'node:net';
import type { ClientConfig } from 'pg';

/** Longest wait for each step, in milliseconds. */
const LIMIT = 1500;

/** Returns a comment for the beginning of statements. It identifies them at the server, also behind PgBouncer. */
export function createTag(id: string): string {
  return `/*octavo ${id}*/`;
}

/**
 * Statements with a tag that the server works on now. One that waits for its client (to send something, or to receive the
 * answer) is not running.
 */
const RUNNING = `SELECT substr(query, 1, strpos(query, '*/') + 1) AS tag FROM pg_stat_activity
  WHERE state = 'active' AND wait_event_type IS DISTINCT FROM 'Client' AND query LIKE '/*octavo %'`;

/**
 * Returns the tags of the statements that the server is running, on a new connection. Null: it does not answer, or does not
 * show statements. Never rejects.
 */
export async function readRunningTags(config: ClientConfig, ownTag: string): Promise<ReadonlySet<string> | null> {
  const { Client } = await import('pg');
  const socket = new Socket();
  const limit = Math.min(config.connectionTimeoutMillis ?? LIMIT, LIMIT);
  const client = new Client({
    ...config,
    stream: () => socket,
    connectionTimeoutMillis: limit,
    query_timeout: limit,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ tag: string }>(`${ownTag}${RUNNING}`);
    const tags = new Set(rows.map(({ tag }) => tag));
    // The question itself is running. If it is not shown, others are not either.
    return tags.has(ownTag) ? tags : null;
  } catch {
    return null;
  } finally {
    void client.end().catch(() => undefined);
    setTimeout(() => socket.destroy(), limit).unref();
  }
}
