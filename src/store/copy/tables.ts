/** Tables that a state file and a PostgreSQL database share, and that are worth keeping. */

/** Table with a primary key. */
export interface StoredTable {
  readonly name: string;
  readonly key: readonly string[];
  /** Columns that contain JSON. */
  readonly json?: readonly string[];
  /** The key is a number that the database assigns. */
  readonly isNumbered?: boolean;
}

/** Tables that are not copied: requests and states of running replicas, which would be wrong elsewhere. */
export const TRANSIENT_TABLES = ['command', 'organization_state'];

const of = (...key: readonly string[]) => ['organization', ...key];

/** All other tables. */
export const STORED_TABLES: readonly StoredTable[] = [
  { name: 'head', key: of() },
  { name: 'entry', key: of('address'), json: ['fields', 'metadata'] },
  { name: 'decision', key: of('checksum', 'method', 'actor') },
  { name: 'note', key: ['topic'], json: ['value'] },
  { name: 'session', key: ['id'], json: ['data'] },
  { name: 'commit_status', key: of('commit_id', 'context'), json: ['record'] },
  { name: 'pass', key: of('number'), json: ['counts', 'plan'] },
  { name: 'pass_change', key: of('address', 'pass', 'action') },
  { name: 'audit', key: of('number') },
  { name: 'manual_pause', key: of('address') },
  { name: 'fact', key: ['reporter', 'key'], json: ['fact'] },
  { name: 'condition', key: ['id'], json: ['fact', 'starts'] },
  { name: 'notification_event', key: ['id'], json: ['event', 'channels'] },
  { name: 'notification_delivery', key: ['number'], json: ['about'], isNumbered: true },
  { name: 'notified', key: ['channel', 'condition'] },
  { name: 'content', key: ['id'], isNumbered: true },
  { name: 'conversation', key: of('key') },
  { name: 'outbox', key: of() },
  { name: 'source', key: of('name'), json: ['cursor'] },
  { name: 'source_count', key: of('source', 'name') },
  { name: 'hint', key: ['mark'], isNumbered: true },
  { name: 'delivery', key: of('source', 'id') },
  { name: 'recheck', key: ['content'] },
  { name: 'processed', key: of('source', 'item') },
  { name: 'mail_link', key: of('id') },
  { name: 'mail', key: of('thread', 'id') },
];
