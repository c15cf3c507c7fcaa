/** Schema migrations of the state file and of PostgreSQL: all tables. */

/** Tables of the history in the state file. `plan` is the last column: lists do not load it. */
const HISTORY_LAYOUT = `CREATE TABLE pass (
    organization TEXT NOT NULL, number INTEGER NOT NULL, cause TEXT NOT NULL, commit_id TEXT, subject TEXT NOT NULL,
    author TEXT, outcome TEXT NOT NULL, checksum TEXT, counts TEXT NOT NULL, reads INTEGER NOT NULL,
    writes INTEGER NOT NULL, refused INTEGER NOT NULL, milliseconds REAL NOT NULL, error TEXT,
    first_at INTEGER NOT NULL, at INTEGER NOT NULL, times INTEGER NOT NULL, plan TEXT NOT NULL,
    PRIMARY KEY (organization, number)
  ) STRICT;
  CREATE TABLE pass_change (
    organization TEXT NOT NULL, address TEXT NOT NULL, pass INTEGER NOT NULL, action TEXT NOT NULL,
    status TEXT NOT NULL, error TEXT,
    PRIMARY KEY (organization, address, pass, action)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX pass_change_pass ON pass_change (organization, pass);
  CREATE TABLE audit (
    organization TEXT NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL, method TEXT NOT NULL,
    action TEXT NOT NULL, subject TEXT NOT NULL, reason TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL,
    PRIMARY KEY (organization, number)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE manual_pause (
    organization TEXT NOT NULL, address TEXT NOT NULL, reason TEXT NOT NULL, actor TEXT NOT NULL, method TEXT NOT NULL,
    since INTEGER NOT NULL, until INTEGER,
    PRIMARY KEY (organization, address)
  ) STRICT, WITHOUT ROWID;`;

/** Index for entries of the audit by time. */
const AUDIT_INDEX = 'CREATE INDEX audit_time ON audit (organization, at, number);';

/** Table of the sessions of the web page. */
const SESSION_LAYOUT = `CREATE TABLE session (
  id TEXT PRIMARY KEY, data TEXT NOT NULL, expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_expiry ON session (expires_at);`;

/** Tables of notifications in the state file. */
const NOTIFICATION_LAYOUT = `CREATE TABLE fact (
  reporter TEXT NOT NULL, key TEXT NOT NULL, fact TEXT NOT NULL,
  PRIMARY KEY (reporter, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE condition (
  id TEXT PRIMARY KEY, fact TEXT NOT NULL, state TEXT NOT NULL, since INTEGER NOT NULL, fired_at INTEGER,
  resolved_at INTEGER, clear_since INTEGER, inhibited INTEGER NOT NULL, starts TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX condition_state ON condition (state, resolved_at);
CREATE TABLE notification_event (
  id TEXT PRIMARY KEY, at INTEGER NOT NULL, event TEXT NOT NULL, channels TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_event_time ON notification_event (at);
CREATE INDEX notification_event_waiting ON notification_event (at) WHERE channels IS NULL OR channels <> '[]';
CREATE TABLE notification_delivery (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, channel TEXT NOT NULL, thread TEXT NOT NULL, kind TEXT NOT NULL,
  about TEXT NOT NULL, created_at INTEGER NOT NULL, state TEXT NOT NULL, may_have_arrived INTEGER NOT NULL,
  attempts INTEGER NOT NULL, first_attempt_at INTEGER, next_at INTEGER, ended_at INTEGER, reason TEXT, receipt TEXT
) STRICT;
CREATE INDEX notification_delivery_queue ON notification_delivery (channel, next_at, number) WHERE next_at IS NOT NULL;
CREATE INDEX notification_delivery_thread ON notification_delivery (thread, number);
CREATE INDEX notification_delivery_end ON notification_delivery (ended_at) WHERE ended_at IS NOT NULL;
CREATE TABLE notified (
  channel TEXT NOT NULL, condition TEXT NOT NULL, thread TEXT NOT NULL, told_at INTEGER NOT NULL, resolved TEXT,
  PRIMARY KEY (channel, condition)
) STRICT, WITHOUT ROWID;`;

/** Table of the commit statuses. */
const COMMIT_STATUS_LAYOUT = `CREATE TABLE commit_status (
  organization TEXT NOT NULL, commit_id TEXT NOT NULL, context TEXT NOT NULL, changed_at INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (organization, commit_id, context)
) STRICT, WITHOUT ROWID;`;

/** Table of the commands. */
export const COMMAND_LAYOUT = `CREATE TABLE command (
  organization TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, request TEXT NOT NULL, actor TEXT NOT NULL,
  method TEXT NOT NULL, at INTEGER NOT NULL, epoch INTEGER, done_at INTEGER, answer TEXT,
  PRIMARY KEY (organization, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX command_open ON command (organization, number) WHERE done_at IS NULL;`;

/** Table of the states. `content` is the last column: lists do not load it. */
const ORGANIZATION_STATE_LAYOUT = `CREATE TABLE organization_state (
  organization TEXT NOT NULL, part TEXT NOT NULL, hash TEXT NOT NULL, epoch INTEGER NOT NULL, at INTEGER NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (organization, part)
) STRICT;`;

/**
 * Tables of the outbox in the state file. `content.at` is the earliest time to send waiting or sending content, and the
 * time at which dead content was refused. `payload` is the last column, so that reads of the others do not load it.
 */
const OUTBOX_LAYOUT = `CREATE TABLE content (
    id INTEGER PRIMARY KEY, organization TEXT NOT NULL, key TEXT NOT NULL, state TEXT NOT NULL, source TEXT NOT NULL,
    hash TEXT NOT NULL, redactor TEXT NOT NULL, bytes INTEGER NOT NULL, since INTEGER NOT NULL, at INTEGER NOT NULL,
    batch INTEGER, position INTEGER, doubts INTEGER NOT NULL DEFAULT 0, replaced INTEGER NOT NULL DEFAULT 0,
    reason TEXT, payload TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX content_key ON content (organization, key, state);
  CREATE INDEX content_due ON content (organization, state, at, id);
  CREATE INDEX content_source ON content (organization, source, state, since);
  CREATE INDEX content_batch ON content (organization, batch, position) WHERE batch IS NOT NULL;
  CREATE TABLE conversation (
    organization TEXT NOT NULL, key TEXT NOT NULL, source TEXT NOT NULL,
    sent TEXT, sent_at INTEGER, redactor TEXT, dismissed TEXT,
    PRIMARY KEY (organization, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE outbox (
    organization TEXT PRIMARY KEY, items INTEGER NOT NULL, bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE source (
    organization TEXT NOT NULL, name TEXT NOT NULL, cursor TEXT NOT NULL DEFAULT 'null', since INTEGER,
    round INTEGER NOT NULL DEFAULT 0, polled_at INTEGER,
    PRIMARY KEY (organization, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE source_count (
    organization TEXT NOT NULL, source TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL,
    PRIMARY KEY (organization, source, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE hint (
    mark INTEGER PRIMARY KEY AUTOINCREMENT, organization TEXT NOT NULL, source TEXT NOT NULL, id TEXT NOT NULL,
    UNIQUE (organization, source, id)
  ) STRICT;
  CREATE TABLE delivery (
    organization TEXT NOT NULL, source TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (organization, source, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX delivery_at ON delivery (at);`;

/**
 * Content that is checked at its source before it is sent. `id` identifies it at the source; `at` is the time of the
 * check, or null once it was made.
 */
const RECHECK_LAYOUT = `CREATE TABLE recheck (
    content INTEGER PRIMARY KEY, organization TEXT NOT NULL, source TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL,
    at INTEGER
  ) STRICT;
  CREATE INDEX recheck_due ON recheck (organization, source, at) WHERE at IS NOT NULL;`;

/** Items of a source that were read to their end, such as the digests of files in a drop folder. */
const PROCESSED_LAYOUT = `CREATE TABLE processed (
    organization TEXT NOT NULL, source TEXT NOT NULL, item TEXT NOT NULL,
    PRIMARY KEY (organization, source, item)
  ) STRICT, WITHOUT ROWID;`;

/** Redacted mails of threads, and the thread of each message id, by their hashes. */
const THREAD_LAYOUT = `CREATE TABLE mail_link (
    organization TEXT NOT NULL, id TEXT NOT NULL, thread TEXT NOT NULL,
    PRIMARY KEY (organization, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX mail_link_thread ON mail_link (organization, thread);
  CREATE TABLE mail (
    organization TEXT NOT NULL, thread TEXT NOT NULL, id TEXT NOT NULL, at INTEGER, role TEXT NOT NULL,
    subject TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (organization, thread, id)
  ) STRICT, WITHOUT ROWID;`;

/**
 * Counters of an organization by UTC day (days since the epoch), when each counter was last raised, and the tickets that
 * were left out when they were last read.
 */
const RECENT_LAYOUT = `CREATE TABLE day_count (
    organization TEXT NOT NULL, day INTEGER NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL,
    PRIMARY KEY (organization, day, name)
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE source_count ADD COLUMN at INTEGER;
  CREATE TABLE left_out (
    organization TEXT NOT NULL, key TEXT NOT NULL, source TEXT NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (organization, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX left_out_reason ON left_out (organization, reason, at);`;

/** In order: a state file that has only the first ones is migrated with the rest. */
const OUTBOX_LAYOUTS = [OUTBOX_LAYOUT, RECHECK_LAYOUT, PROCESSED_LAYOUT, THREAD_LAYOUT];

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
  HISTORY_LAYOUT,
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
  RECENT_LAYOUT,
];

/**
 * A lease is valid while its holder's row in `replica` has not expired, so a renewal changes one row. The
 * epochs of a lease only grow, also when its row was removed and is added again.
 */
const LEASE_LAYOUT = `CREATE TABLE replica (
  id TEXT COLLATE "C" PRIMARY KEY, version TEXT COLLATE "C" NOT NULL, address TEXT COLLATE "C" NOT NULL,
  weight DOUBLE PRECISION NOT NULL, is_draining INTEGER NOT NULL, started_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL, seen_at TIMESTAMPTZ NOT NULL
);
CREATE TABLE lease (
  name TEXT COLLATE "C" PRIMARY KEY, holder TEXT COLLATE "C" REFERENCES replica ON DELETE SET NULL,
  epoch BIGINT NOT NULL, since TIMESTAMPTZ NOT NULL
);
CREATE INDEX lease_holder ON lease (holder);`;

/** Migration to the next layout. */
export interface Migration {
  /** Oldest layout whose program can use the database after this migration, so that replicas can be upgraded in turn. */
  readonly readableBy: number;
  readonly statements: string;
}

/** Tables that a state file has got in several steps. */
const RECORD_LAYOUT = `CREATE TABLE head (organization TEXT PRIMARY KEY, commit_id TEXT, at INTEGER NOT NULL);
CREATE TABLE entry (
  organization TEXT NOT NULL, address TEXT NOT NULL, kind TEXT NOT NULL, id TEXT, fields TEXT NOT NULL,
  protect INTEGER NOT NULL, metadata TEXT NOT NULL,
  PRIMARY KEY (organization, address)
);
CREATE TABLE decision (
  organization TEXT NOT NULL, checksum TEXT NOT NULL, actor TEXT NOT NULL, method TEXT NOT NULL,
  verdict TEXT NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (organization, checksum, method, actor)
);
CREATE TABLE note (topic TEXT PRIMARY KEY, value TEXT NOT NULL);`;

/** Tables that PostgreSQL and SQLite share. */
const SHARED_LAYOUTS = [
  ...[RECORD_LAYOUT, ...OUTBOX_LAYOUTS, HISTORY_LAYOUT, SESSION_LAYOUT, AUDIT_INDEX, NOTIFICATION_LAYOUT],
  ...[COMMIT_STATUS_LAYOUT, COMMAND_LAYOUT, ORGANIZATION_STATE_LAYOUT],
];

/** In order: an older database is migrated with the rest. Layout 1 is that after the first one. */
export const MIGRATIONS: readonly Migration[] = [
  { readableBy: 1, statements: [...SHARED_LAYOUTS.map(translate), LEASE_LAYOUT].join('\n') },
  { readableBy: 1, statements: translate(RECENT_LAYOUT) },
];

/**
 * Translates the layout of a state file: integers have 64 bits, texts are in the order of their bytes, and a single
 * integer as primary key is assigned by the database unless a row has one.
 */
function translate(layout: string): string {
  return layout
    .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replaceAll(/\bINTEGER PRIMARY KEY( AUTOINCREMENT)?/g, 'BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY')
    .replaceAll(/\bINTEGER\b/g, 'BIGINT')
    .replaceAll(/\bREAL\b/g, 'DOUBLE PRECISION')
    .replaceAll(/\) STRICT(, WITHOUT ROWID)?;/g, ');');
}
