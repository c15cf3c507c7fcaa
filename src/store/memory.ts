import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { OUTBOX_LAYOUTS } from './outbox-layout.ts';
import { openOutbox } from './sqlite-outbox.ts';
import type { AppliedHead, OrganizationRecord, RecordEntry, Store } from './store.ts';

interface Contents {
  head: AppliedHead | null;
  readonly entries: Map<string, RecordEntry>;
  /** Times by checksum. */
  readonly approvals: Map<string, number>;
}

/** Store in memory, for tests and for passes that record nothing. */
export function openMemoryStore(): Store {
  const organizations = new Map<string, Contents>();
  const notes = new Map<string, Json>();
  let open = true;
  let conversations: DatabaseSync | null = null;
  const ensureOpen = () => {
    if (!open) {
      throw new StoreError('the state is closed');
    }
  };
  return {
    organization: (id) => {
      const contents = organizations.get(id) ?? { head: null, entries: new Map(), approvals: new Map() };
      organizations.set(id, contents);
      return recordOf(contents, ensureOpen);
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
    // Uses SQLite in memory, so that the rules of the outbox are implemented once.
    outbox: (organization, limit) => {
      conversations ??= memoryDatabase();
      const run = <T>(work: () => T): T => {
        ensureOpen();
        return work();
      };
      return openOutbox(conversations, { run, parse: (text) => JSON.parse(String(text)) as Json }, organization, limit);
    },
    close: async () => {
      open = false;
    },
  };
}

function memoryDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(OUTBOX_LAYOUTS.join('\n'));
  return database;
}

function recordOf(contents: Contents, ensureOpen: () => void): OrganizationRecord {
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
        for (const checksum of served) {
          contents.approvals.delete(checksum);
        }
      }),
    approvals: () => guarded(() => [...contents.approvals].sort(([, a], [, b]) => a - b).map(([checksum]) => checksum)),
    approve: (checksum, at) =>
      guarded(() => {
        contents.approvals.set(checksum, contents.approvals.get(checksum) ?? at);
      }),
  };
}

function byAddress(a: RecordEntry, b: RecordEntry): number {
  return a.address < b.address ? -1 : a.address > b.address ? 1 : 0;
}
