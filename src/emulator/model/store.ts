// The store: tables of all families, ids, and events between families.

import type { IndexedTable } from './table.ts';

/** The format name that every state carries, so that an older or foreign file is refused. */
export const STATE_FORMAT = 'octavo.emulator/1';

/**
 * Tables of all families, by name. Each family adds its own tables by declaration merging, next to its records, so that
 * this module does not depend on the families.
 */
// biome-ignore lint/suspicious/noEmptyInterface: families add the members
export interface Tables {}

/** The type of a table's records. */
export type RecordOf<T> = T extends IndexedTable<infer R, string> ? R : never;

/** Everything that the emulator stores, as plain JSON. Tables that a file lacks are empty. */
export interface EmulatorState extends Partial<{ readonly [K in keyof Tables]: readonly RecordOf<Tables[K]>[] }> {
  readonly format: typeof STATE_FORMAT;
  /** The last number that was assigned: for ids, creation order and ranks. */
  readonly sequence: number;
}

/** Tables of a family, and its reactions to events that other families cause. */
export interface StoreFamily {
  /** Creates the family's tables; `changed` is called after every change of a record. */
  tables?(changed: () => void): Partial<Tables>;
  /** Completes work that is due. */
  settle?(store: EmulatorStore, now: number): void;
  /** Reacts to a space that is being deleted. */
  spaceDeleted?(store: EmulatorStore, space: string): void;
  /** Reacts to a new revision of a space. */
  revisionAdded?(store: EmulatorStore, space: string, revision: string, at: string): void;
}

/** Everything that the emulator stores, indexed: only lists read records other than the requested ones. */
export interface EmulatorStore extends Tables {
  /** Registers a callback that runs after every change. */
  watch(onChange: () => void): void;
  /** Returns the next number: creation order and rank. */
  next(): number;
  /** Returns a new id and its place in the creation order. The same calls in the same order give the same ids. */
  identify(prefix: string): { readonly id: string; readonly seq: number };
  /** Returns a value that is computed from the records once and kept until the state is replaced. */
  derive<T>(key: string, compute: () => T): T;
  /** Completes all work that is due. There is no timer: every request calls this first. */
  settle(now: number): void;
  /** Reports to all families that a space is being deleted. */
  spaceDeleted(space: string): void;
  /** Reports a new revision of a space to all families. */
  revisionAdded(space: string, revision: string, at: string): void;
  /** Returns a deep copy of everything, as plain JSON. */
  dump(): EmulatorState;
  /** Replaces everything with this state. */
  load(state: EmulatorState): void;
}

/** Creates an empty store with the tables of the families. */
export function createStoreOf(families: readonly StoreFamily[]): EmulatorStore {
  let sequence = 0;
  let notify = () => {};
  const changed = () => notify();
  const tables = Object.assign({}, ...families.map((family) => family.tables?.(changed))) as Tables;
  const derived = new Map<string, unknown>();
  const next = () => {
    sequence += 1;
    return sequence;
  };
  const store: EmulatorStore = {
    ...tables,
    next,
    watch: (onChange) => {
      notify = onChange;
    },
    identify: (prefix) => {
      const seq = next();
      return { id: `${prefix}_${seq.toString(36).padStart(4, '0')}`, seq };
    },
    derive: <T>(key: string, compute: () => T) => {
      if (!derived.has(key)) {
        derived.set(key, compute());
      }
      return derived.get(key) as T;
    },
    settle: (now) => {
      for (const family of families) {
        family.settle?.(store, now);
      }
    },
    spaceDeleted: (space) => {
      for (const family of families) {
        family.spaceDeleted?.(store, space);
      }
    },
    revisionAdded: (space, revision, at) => {
      for (const family of families) {
        family.revisionAdded?.(store, space, revision, at);
      }
    },
    dump: () => dump(tables, sequence),
    load: (state) => {
      load(tables, state);
      derived.clear();
      sequence = state.sequence;
    },
  };
  return store;
}

type AnyTable = IndexedTable<{ readonly id: string }>;

function dump(tables: Tables, sequence: number): EmulatorState {
  const records = Object.entries(tables).map(([name, table]) => [name, [...(table as AnyTable).all()]]);
  return JSON.parse(
    JSON.stringify({ format: STATE_FORMAT, sequence, ...Object.fromEntries(records) }),
  ) as EmulatorState;
}

function load(tables: Tables, state: EmulatorState): void {
  if (state.format !== STATE_FORMAT) {
    throw new Error(`not a state of the emulator: format is ${JSON.stringify(state.format)}, not "${STATE_FORMAT}"`);
  }
  const copy = structuredClone(state) as unknown as Record<string, readonly { readonly id: string }[] | undefined>;
  for (const [name, any] of Object.entries(tables)) {
    const table = any as AnyTable;
    table.clear();
    for (const record of copy[name] ?? []) {
      table.put(record);
    }
  }
}
