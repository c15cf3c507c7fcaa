/** Commit statuses and deployments of an organization: what the forge should show, and what it was last sent. */
import type { DatabaseSync } from 'node:sqlite';
import { isObject } from '../core/json.ts';
import { inTransaction } from './sql/transaction.ts';
import type { HistoryAccess } from './sqlite-history.ts';

/** Content of a commit status. */
export interface StatusContent {
  readonly state: 'pending' | 'running' | 'success' | 'failure' | 'error' | 'superseded';
  readonly description: string;
  readonly url: string | null;
}

/** Deployment of a commit at the forge. */
export interface DeploymentRecord {
  readonly wanted: 'in_progress' | 'success' | 'failure' | 'inactive';
  /** State that the forge was last sent; null: not created yet, as far as is known. */
  readonly sent: DeploymentRecord['wanted'] | null;
  /** Id at the forge; null if it is not known. */
  readonly id: string | null;
  /** True once a request to create it was sent: it may exist. */
  readonly isAttempted: boolean;
}

/** Status of one commit. */
export interface CommitStatusRecord {
  readonly commit: string;
  readonly context: string;
  readonly wanted: StatusContent;
  /** Null if nothing was sent. */
  readonly sent: StatusContent | null;
  /** Number of its changes that were applied, in all passes. */
  readonly applied: number;
  /** Null: no deployment. */
  readonly deployment: DeploymentRecord | null;
  /** Time at which the wanted content last changed, in milliseconds since the epoch. */
  readonly changedAt: number;
}

/** Commit statuses of one organization. Every method throws StoreError if the state cannot be used. */
export interface CommitStatusTable {
  /** Returns the latest COMMIT_STATUS_RETENTION records, newest first. */
  list(): Promise<readonly CommitStatusRecord[]>;
  /** Adds records, or replaces those of the same commit and context, in one transaction. Removes the oldest ones. */
  put(records: readonly CommitStatusRecord[]): Promise<void>;
}

/** Number of commits per organization that are kept. */
export const COMMIT_STATUS_RETENTION = 100;

/** Table of the commit statuses in the state file. */
export const COMMIT_STATUS_LAYOUT = `CREATE TABLE commit_status (
  organization TEXT NOT NULL, commit_id TEXT NOT NULL, context TEXT NOT NULL, changed_at INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (organization, commit_id, context)
) STRICT, WITHOUT ROWID;`;

/** Opens the commit statuses of an organization. */
export function openCommitStatuses(
  database: DatabaseSync,
  access: HistoryAccess,
  organization: string,
): CommitStatusTable {
  const newest = `SELECT * FROM commit_status WHERE organization = ? ORDER BY changed_at DESC, commit_id, context LIMIT ${COMMIT_STATUS_RETENTION}`;
  const list = database.prepare(newest);
  const put = database.prepare('INSERT OR REPLACE INTO commit_status VALUES (?, ?, ?, ?, ?)');
  const expire = database.prepare(
    `DELETE FROM commit_status WHERE organization = ?
     AND (commit_id, context) NOT IN (SELECT commit_id, context FROM (${newest}))`,
  );
  const run = async <T>(work: () => T): Promise<T> => access.run(work);
  return {
    list: () =>
      run(() =>
        list.all(organization).flatMap((row): CommitStatusRecord[] => {
          const record = access.parse(row.record);
          const { commit_id: commit, context, changed_at: changedAt } = row;
          return isObject(record)
            ? [{ ...(record as unknown as Stored), ...asKey(commit, context), changedAt: Number(changedAt) }]
            : [];
        }),
      ),
    put: (records) =>
      run(() =>
        inTransaction(database, () => {
          for (const { commit, context, changedAt, ...rest } of records) {
            put.run(organization, commit, context, changedAt, JSON.stringify(rest satisfies Stored));
          }
          expire.run(organization, organization);
        }),
      ),
  };
}

type Stored = Omit<CommitStatusRecord, 'commit' | 'context' | 'changedAt'>;

function asKey(commit: unknown, context: unknown) {
  return { commit: String(commit), context: String(context) };
}
