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

/** In order: a state file that has only the first ones is migrated with the rest. */
export const OUTBOX_LAYOUTS = [OUTBOX_LAYOUT, RECHECK_LAYOUT, PROCESSED_LAYOUT, THREAD_LAYOUT];
