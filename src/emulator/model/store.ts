/** The store: tables of all families, ids, work that takes time, and events between families. */

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
  /** Creates the family's tables. */
  tables?(): Partial<Tables>;
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
  const tables = Object.assign({}, ...families.map((family) => family.tables?.())) as Tables;
  const derived = new Map<string, unknown>();
  const next = () => {
    sequence += 1;
    return sequence;
  };
  const store: EmulatorStore = {
    ...tables,
    next,
    watch: (onChange) => {
      for (const table of Object.values(tables) as AnyTable[]) {
        table.onChange = onChange;
      }
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

type IndexOf<R> = (record: R) => string | undefined;
type Indexes<R, I extends string> = Record<I, Map<string, Map<string, R>>>;

/**
 * Records of one kind, by id and by index keys, in the order of insertion. Records are replaced and never changed, so
 * that the indexes stay correct.
 */
export class IndexedTable<R extends { readonly id: string }, I extends string = never> {
  readonly #records = new Map<string, R>();
  readonly #keys: Readonly<Record<I, IndexOf<R>>>;
  readonly #indexes: Indexes<R, I>;
  /** Lists of buckets that did not change since they were listed. */
  readonly #lists = new WeakMap<ReadonlyMap<string, R>, readonly R[]>();

  /** Runs after every change of a record. */
  onChange = () => {};

  constructor(keys: Readonly<Record<I, IndexOf<R>>>) {
    this.#keys = keys;
    const names = Object.keys(keys) as I[];
    this.#indexes = Object.fromEntries(names.map((name) => [name, new Map()])) as Indexes<R, I>;
  }

  get(id: string): R | undefined {
    return this.#records.get(id);
  }

  all(): Iterable<R> {
    return this.#records.values();
  }

  /** Returns the records with that key, oldest first: the same list until one of them changes. */
  by(index: I, key: string): readonly R[] {
    const found = this.#indexes[index].get(key);
    if (found === undefined) {
      return [];
    }
    const list = this.#lists.get(found) ?? [...found.values()];
    this.#lists.set(found, list);
    return list;
  }

  /** Returns the first record with that key. */
  one(index: I, key: string): R | undefined {
    return this.#indexes[index].get(key)?.values().next().value;
  }

  /** True if the record with that id has that key. */
  has(index: I, key: string, id: string): boolean {
    return this.#indexes[index].get(key)?.has(id) ?? false;
  }

  count(index: I, key: string): number {
    return this.#indexes[index].get(key)?.size ?? 0;
  }

  /** Adds the record, or replaces the one with its id. */
  put(record: R): R {
    this.#reindex(this.#records.get(record.id), record);
    this.#records.set(record.id, record);
    this.onChange();
    return record;
  }

  /** Removes the record; returns whether it existed. */
  remove(id: string): boolean {
    const record = this.#records.get(id);
    if (record === undefined) {
      return false;
    }
    this.#reindex(record, undefined);
    this.#records.delete(id);
    this.onChange();
    return true;
  }

  clear(): void {
    this.#records.clear();
    for (const name of Object.keys(this.#keys) as I[]) {
      this.#indexes[name].clear();
    }
    this.onChange();
  }

  #reindex(before: R | undefined, after: R | undefined): void {
    for (const name of Object.keys(this.#keys) as I[]) {
      const old = before && this.#keys[name](before);
      const key = after && this.#keys[name](after);
      if (before !== undefined && old !== undefined && old !== key) {
        this.#unindex(name, old, before.id);
      }
      if (after !== undefined && key !== undefined) {
        this.#index(name, key, after);
      }
    }
  }

  #index(name: I, key: string, record: R): void {
    const bucket = this.#indexes[name].get(key);
    if (bucket === undefined) {
      this.#indexes[name].set(key, new Map([[record.id, record]]));
    } else {
      this.#lists.delete(bucket);
      bucket.set(record.id, record);
    }
  }

  #unindex(name: I, key: string, id: string): void {
    const bucket = this.#indexes[name].get(key);
    if (bucket === undefined) {
      return;
    }
    this.#lists.delete(bucket);
    bucket.delete(id);
    if (bucket.size === 0) {
      this.#indexes[name].delete(key);
    }
  }
}

/**
 * A stored record. Records hold what was written; everything that follows from other records (counts, addresses,
 * permissions, `default` flags, processing states) is computed when it is read.
 */
export interface Entity {
  readonly id: string;
  /** Creation order over all kinds; lists page by it. */
  readonly seq: number;
}

/** A record with a place among its siblings. `rank` is the display order, unique over all kinds. */
export interface Ranked extends Entity {
  readonly rank: number;
}

/** Index key of records that belong to an organization. */
export function organizationKey(record: { readonly organization: string }): string {
  return record.organization;
}

/** Index key of records that belong to a space. */
export function spaceKey(record: { readonly space: string }): string {
  return record.space;
}

/** Index key of records by a property within a parent, such as a page's path in a space or a site space's in a site. */
export function placeKey(parent: string, property: string): string {
  return `${parent}/${property}`;
}

/** Work that ends at `due`; until then the resource reports that it is in progress. */
export interface Run {
  readonly startedAt: number;
  readonly due: number;
}

/** Returns a run that starts now and takes that many milliseconds. */
export function startRun({ now }: { readonly now: number }, duration: number): Run {
  return { startedAt: now, due: now + duration };
}

/** Index key of records with a run. */
export function runningKey(record: { readonly run?: unknown }): string | undefined {
  return record.run ? 'yes' : undefined;
}

/** Returns the records whose runs are due, with the runs, in the order in which the records were added. */
export function findDue<R extends { readonly id: string; readonly run?: Run | null | undefined }>(
  table: Pick<IndexedTable<R, 'running'>, 'by' | 'count'>,
  now: number,
): { readonly record: R; readonly run: Run }[] {
  return table.count('running', 'yes') === 0
    ? []
    : table
        .by('running', 'yes')
        .flatMap((record) => (record.run && now >= record.run.due ? [{ record, run: record.run }] : []));
}

/**
 * Returns the state of a run: it waits for the first third of its time, then works. There is no failed state.
 * Source: docs/platform-notes.md#enumerations
 */
export function getProgress(run: Run | null, now: number): 'waiting' | 'working' | 'done' {
  if (run === null || now >= run.due) {
    return 'done';
  }
  return now - run.startedAt < (run.due - run.startedAt) / 3 ? 'waiting' : 'working';
}
