/** Table of the sessions of the web page. */
export const SESSION_LAYOUT = `CREATE TABLE session (
  id TEXT PRIMARY KEY, data TEXT NOT NULL, expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_expiry ON session (expires_at);`;
