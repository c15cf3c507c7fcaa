/** Events in the state file. */
import type { EventCode } from '../core/condition-codes.ts';
import type { Statements } from './sql/transaction.ts';

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
export function insertEvents(statements: Statements, events: readonly NotificationEvent[]): void {
  for (const event of events) {
    statements.run(
      'INSERT OR IGNORE INTO notification_event VALUES (?, ?, ?, NULL)',
      ...[event.id, Math.round(event.at), JSON.stringify(event)],
    );
  }
}
