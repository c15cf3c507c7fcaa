/** Tables of the history in the state file. */

/** Tables of the history in the state file, one migration each. `plan` is the last column: lists do not load it. */
export const HISTORY_LAYOUTS = [
  `CREATE TABLE pass (
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
  ) STRICT, WITHOUT ROWID;`,
];

/** Index for entries of the audit by time. */
export const AUDIT_INDEX = 'CREATE INDEX audit_time ON audit (organization, at, number);';
