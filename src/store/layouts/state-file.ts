/** Layouts of the state file. */
import { COMMAND_LAYOUT } from '../fleet/commands.ts';
import { ORGANIZATION_STATE_LAYOUT } from '../fleet/organization-states.ts';
import { OUTBOX_LAYOUTS } from '../outbox/layout.ts';
import { COMMIT_STATUS_LAYOUT } from './commit-status.ts';
import { AUDIT_INDEX, HISTORY_LAYOUTS } from './history.ts';
import { NOTIFICATION_LAYOUT } from './notification.ts';
import { SESSION_LAYOUT } from './session.ts';

/** Layouts of the file, one migration each: an older file is migrated when it is opened. */
export const SQLITE_LAYOUTS = [
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
  COMMAND_LAYOUT,
  ORGANIZATION_STATE_LAYOUT,
];
