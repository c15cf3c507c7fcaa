import { openCommitStatuses } from './commit-statuses.ts';
import { openCommands } from './fleet/commands.ts';
import { openOrganizationStates } from './fleet/organization-states.ts';
import type { FleetStore } from './leases.ts';
import { openOutbox } from './outbox/sql-outbox.ts';
import { openNote, openRecord } from './record.ts';
import { openSessions } from './sessions.ts';
import type { SqlDatabase } from './sql/database.ts';
import { openHistory } from './sql-history.ts';
import { openNotifications } from './sql-notifications.ts';
import type { Store } from './store.ts';

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
