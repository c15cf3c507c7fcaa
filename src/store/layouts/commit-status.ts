/** Table of the commit statuses. */
export const COMMIT_STATUS_LAYOUT = `CREATE TABLE commit_status (
  organization TEXT NOT NULL, commit_id TEXT NOT NULL, context TEXT NOT NULL, changed_at INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (organization, commit_id, context)
) STRICT, WITHOUT ROWID;`;
