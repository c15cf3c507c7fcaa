/** State that survives a restart: the interface, and its implementation in a database. */

import { type CommandTable, openCommands } from './commands.ts';
import { type CommitStatusTable, openCommitStatuses } from './commit-statuses.ts';
import { type History, openHistory } from './history.ts';
import type { FleetStore, Lease } from './leases.ts';
import { type Notifications, openNotifications } from './notifications.ts';
import { type OrganizationStates, openOrganizationStates } from './organization-states.ts';
import { type Outbox, openOutbox } from './outbox/outbox.ts';
import type { OutboxLimit } from './outbox/tables.ts';
import { type Note, type OrganizationRecord, openNote, openRecord } from './record.ts';
import { openSessions, type Sessions } from './sessions.ts';
import type { SqlDatabase } from './sql/database.ts';

/** State that survives a restart. Only implementations of this interface use SQL. See docs/daemon.md#the-state-file. */
export interface Store {
  /** Returns the record of an organization; empty for an unknown one. */
  organization(id: string): OrganizationRecord;
  /** Returns the note of a topic; its owner chooses the name. */
  note(topic: string): Note;
  /** Returns the history of an organization; empty for an unknown one. */
  history(organization: string): History;
  /** Returns the commit statuses of an organization; empty for an unknown one. */
  commitStatuses(organization: string): CommitStatusTable;
  /** Returns the sessions of the web page. */
  sessions(): Sessions;
  /** Returns the notifications of all organizations. */
  notifications(): Notifications;
  /** Returns the commands of all organizations. */
  commands(): CommandTable;
  /** Returns the states of all organizations, for the pages of other replicas. */
  organizationStates(): OrganizationStates;
  /**
   * Returns the outbox of an organization; `limit` bounds the stored content. `onWritten` is called after each write
   * through this outbox, also after one that failed, because it may be stored nevertheless.
   */
  outbox(organization: string, limit: OutboxLimit, onWritten?: () => void): Outbox;
  /**
   * Returns the same store, but its writes fail with LeaseLostError, and change nothing, once the lease is lost. A state
   * file has one owner, and returns itself.
   */
  fenced(lease: Pick<Lease, 'name' | 'epoch'>): Store;
  /** Returns what the replicas of a fleet share; null for a state file, which one process uses. */
  fleet(): FleetStore | null;
  close(): Promise<void>;
}

/** Returns the store in a database that has Octavo's tables. `fleet` is null if one process uses the database. */
export function openSqlStore(database: SqlDatabase, fleet: FleetStore | null): Store {
  return {
    organization: (id) => openRecord(database, id),
    note: (topic) => openNote(database, topic),
    history: (organization) => openHistory(database, organization),
    commitStatuses: (organization) => openCommitStatuses(database, organization),
    sessions: () => openSessions(database),
    notifications: () => openNotifications(database),
    commands: () => openCommands(database),
    organizationStates: () => openOrganizationStates(database),
    outbox: (organization, limit, onWritten) => openOutbox(database, organization, limit, onWritten),
    fenced: (lease) => openSqlStore(database.fenced(lease), fleet),
    fleet: () => fleet,
    close: async () => {
      await Promise.all([fleet?.close(), database.close()]);
    },
  };
}
