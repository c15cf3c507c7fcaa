import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { COMMIT_STATUS_LAYOUT, openCommitStatuses } from './commit-statuses.ts';
import { AUDIT_INDEX, HISTORY_LAYOUTS } from './history-layout.ts';
import type { NotificationEvent } from './notification-events.ts';
import { NOTIFICATION_LAYOUT } from './notification-layout.ts';
import { OUTBOX_LAYOUTS } from './outbox/layout.ts';
import { openOutbox } from './outbox/sqlite-outbox.ts';
import { openSessions, SESSION_LAYOUT } from './sessions.ts';
import { openHistory } from './sqlite-history.ts';
import { openNotifications } from './sqlite-notifications.ts';
import type { AppliedHead, OrganizationRecord, PlanDecision, RecordEntry, Store } from './store.ts';

interface Contents {
  head: AppliedHead | null;
  readonly entries: Map<string, RecordEntry>;
  decisions: readonly PlanDecision[];
}

/** Store in memory, for tests and for passes that record nothing. */
export function openMemoryStore(): Store {
  const organizations = new Map<string, Contents>();
  const notes = new Map<string, Json>();
  let open = true;
  let database: DatabaseSync | null = null;
  const ensureOpen = () => {
    if (!open) {
      throw new StoreError('the state is closed');
    }
  };
  const access = {
    run: <T>(work: () => T): T => {
      ensureOpen();
      return work();
    },
    parse: (text: unknown) => JSON.parse(String(text)) as Json,
  };
  const notifications = () => {
    database ??= memoryDatabase();
    return openNotifications(database, access);
  };
  return {
    organization: (id) => {
      const contents = organizations.get(id) ?? { head: null, entries: new Map(), decisions: [] };
      organizations.set(id, contents);
      return recordOf(contents, ensureOpen, (events) => notifications().addEvents(events));
    },
    note: (topic) => ({
      read: async () => {
        ensureOpen();
        return structuredClone(notes.get(topic) ?? null);
      },
      write: async (value) => {
        ensureOpen();
        notes.set(topic, structuredClone(value));
      },
    }),
    // All of these use SQLite in memory, so that their rules are implemented once.
    history: (organization) => {
      database ??= memoryDatabase();
      return openHistory(database, access, organization);
    },
    commitStatuses: (organization) => {
      database ??= memoryDatabase();
      return openCommitStatuses(database, access, organization);
    },
    sessions: () => {
      database ??= memoryDatabase();
      return openSessions(database, access);
    },
    notifications,
    outbox: (organization, limit) => {
      database ??= memoryDatabase();
      return openOutbox(database, access, organization, limit);
    },
    close: async () => {
      open = false;
    },
  };
}

function memoryDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(
    [
      ...OUTBOX_LAYOUTS,
      ...HISTORY_LAYOUTS,
      SESSION_LAYOUT,
      AUDIT_INDEX,
      NOTIFICATION_LAYOUT,
      COMMIT_STATUS_LAYOUT,
    ].join('\n'),
  );
  return database;
}

function recordOf(
  contents: Contents,
  ensureOpen: () => void,
  addEvents: (events: readonly NotificationEvent[]) => Promise<void>,
): OrganizationRecord {
  const guarded = async <T>(work: () => T): Promise<T> => {
    ensureOpen();
    return work();
  };
  return {
    read: () =>
      guarded(() => ({
        head: contents.head,
        entries: structuredClone([...contents.entries.values()].sort(byAddress)),
      })),
    put: (entries) =>
      guarded(() => {
        for (const entry of structuredClone(entries)) {
          contents.entries.set(entry.address, entry);
        }
      }),
    remove: (addresses) =>
      guarded(() => {
        for (const address of addresses) {
          contents.entries.delete(address);
        }
      }),
    moveHead: (head, served) =>
      guarded(() => {
        contents.head = { ...head };
        contents.decisions = contents.decisions.filter(({ checksum }) => !served.includes(checksum));
      }),
    decisions: () => guarded(() => contents.decisions.toSorted(byTime)),
    decide: async (decision, events) => {
      await guarded(() => {
        const { checksum, verdict, by } = decision;
        const others = contents.decisions.filter((each) => each.checksum !== checksum || each.verdict === verdict);
        const isKnown = others.some(
          (each) => each.checksum === checksum && each.by.name === by.name && each.by.method === by.method,
        );
        contents.decisions = isKnown ? others : [...others, decision];
      });
      await addEvents(events ?? []);
    },
  };
}

function byAddress(a: RecordEntry, b: RecordEntry): number {
  return a.address < b.address ? -1 : a.address > b.address ? 1 : 0;
}

function byTime(a: PlanDecision, b: PlanDecision): number {
  return a.at - b.at || (a.checksum < b.checksum ? -1 : 1);
}
