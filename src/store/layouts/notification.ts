/** Tables of notifications in the state file. */
export const NOTIFICATION_LAYOUT = `CREATE TABLE fact (
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
