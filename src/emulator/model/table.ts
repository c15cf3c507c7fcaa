/** Tables of resources by id. */
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
  readonly #changed: () => void;

  constructor(keys: Readonly<Record<I, IndexOf<R>>>, changed: () => void) {
    this.#keys = keys;
    this.#changed = changed;
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
    const before = this.#records.get(record.id);
    for (const name of Object.keys(this.#keys) as I[]) {
      const key = this.#keys[name](record);
      const old = before === undefined ? undefined : this.#keys[name](before);
      if (old !== undefined && old !== key) {
        this.#unindex(name, old, record.id);
      }
      if (key !== undefined) {
        this.#index(name, key, record);
      }
    }
    this.#records.set(record.id, record);
    this.#changed();
    return record;
  }

  /** Removes the record; returns whether it existed. */
  remove(id: string): boolean {
    const record = this.#records.get(id);
    if (record === undefined) {
      return false;
    }
    for (const name of Object.keys(this.#keys) as I[]) {
      const key = this.#keys[name](record);
      if (key !== undefined) {
        this.#unindex(name, key, id);
      }
    }
    this.#records.delete(id);
    this.#changed();
    return true;
  }

  clear(): void {
    this.#records.clear();
    for (const name of Object.keys(this.#keys) as I[]) {
      this.#indexes[name].clear();
    }
    this.#changed();
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
