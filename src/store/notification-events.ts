/** Events: what happened, for notifications. */
import type { EventCode } from '../core/condition-codes.ts';
import type { Sql } from './sql/database.ts';
import { insertNewRows } from './sql/inserts.ts';

/** Something that happened. */
export interface NotificationEvent {
  /** The same for the same occurrence, such as `applied/acme/4f5e6d7`: an event whose id is known is ignored. */
  readonly id: string;
  readonly code: EventCode;
  readonly organization: string;
  readonly at: number;
  /** One sentence, without secrets. */
  readonly summary: string;
  readonly details: readonly string[];
  /** Path of the page that shows it; null if there is none. */
  readonly path: string | null;
}

/** Adds events; those whose id is known are ignored. Part of the transaction of the caller. */
export async function insertEvents(sql: Sql, events: readonly NotificationEvent[]): Promise<void> {
  await insertNewRows(sql, {
    table: 'notification_event',
    key: ['id'],
    columns: ['at', 'event'],
    rows: events.map((event) => [event.id, Math.round(event.at), JSON.stringify(event)]),
  });
}
