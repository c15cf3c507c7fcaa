/** Commit statuses and deployments of an organization: what the forge should show, and what it was last sent. */
import { isObject } from '../core/json.ts';
import { type SqlDatabase, upsertRows } from './sql/database.ts';

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
  /**
   * Number of its changes in all, from the moment that they are being applied until the result is recorded; otherwise null.
   * If the process is killed in between, the next plan shows how many of them are left.
   */
  readonly total: number | null;
  /** Null: no deployment. */
  readonly deployment: DeploymentRecord | null;
  /** Time at which the wanted content last changed, in milliseconds since the epoch. */
  readonly changedAt: number;
}

/** Commit statuses of one organization. Every method throws StoreError if the state cannot be used. */
export type CommitStatusTable = ReturnType<typeof openCommitStatuses>;

/** Number of commits per organization that are kept. */
export const COMMIT_STATUS_RETENTION = 100;

/** Opens the commit statuses of an organization. */
export function openCommitStatuses(database: SqlDatabase, organization: string) {
  const newest = `SELECT * FROM commit_status WHERE organization = ? ORDER BY changed_at DESC, commit_id, context LIMIT ${COMMIT_STATUS_RETENTION}`;
  return {
    /** Returns the latest COMMIT_STATUS_RETENTION records, newest first. */
    list: (): Promise<readonly CommitStatusRecord[]> =>
      database.read(async (sql) => {
        const rows = await sql.all<{ commit_id: string; context: string; changed_at: number; record: string }>(
          newest,
          organization,
        );
        return rows.flatMap(({ commit_id: commit, context, changed_at: changedAt, record }): CommitStatusRecord[] => {
          const stored = sql.parse(record);
          return isObject(stored) ? [{ ...(stored as unknown as Stored), commit, context, changedAt }] : [];
        });
      }),
    /** Adds records, or replaces those of the same commit and context, in one transaction. Removes the oldest ones. */
    put: (records: readonly CommitStatusRecord[]): Promise<void> =>
      database.write(organization, async (sql) => {
        await upsertRows(sql, {
          table: 'commit_status',
          key: ['organization', 'commit_id', 'context'],
          columns: ['changed_at', 'record'],
          rows: records.map(({ commit, context, changedAt, ...rest }) => {
            return [organization, commit, context, changedAt, JSON.stringify(rest satisfies Stored)];
          }),
        });
        await sql.run(
          `DELETE FROM commit_status WHERE organization = ?
            AND (commit_id, context) NOT IN (SELECT commit_id, context FROM (${newest}) AS kept)`,
          ...[organization, organization],
        );
      }),
  };
}

type Stored = Omit<CommitStatusRecord, 'commit' | 'context' | 'changedAt'>;
