import type { Address } from '../../core/address.ts';
import {
  type Actual,
  type Base,
  type BaseEntry,
  type Declared,
  type Fields,
  isIdRef,
  type Observation,
} from '../../core/resource.ts';
import type { Kind } from '../../kinds/model/kind.ts';
import { PeopleAddresses } from '../../plan/model/people.ts';
import type { KindRules } from '../../plan/model/rules.ts';
import type { ActualSource, RequiredDetails } from './actual-source.ts';

export interface ObserveOptions {
  readonly kinds: readonly Kind[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly base: Base;
  readonly source: ActualSource;
  /** Additional kinds to read: those whose unmanaged resources are to be pruned. */
  readonly also?: readonly string[];
}

/**
 * Reads the actual state: the kinds that the desired state or the base mention, concurrently, and then the kinds that
 * the result turns out to need.
 */
export async function observe(options: ObserveOptions): Promise<Observation> {
  const { kinds, declared, base, source } = options;
  const required = new RequiredFields(kinds, declared, base);
  const found = new Map<string, Actual[]>();
  const people = new Map<string, string>();
  const actuals: Actual[] = [];
  const read = async (names: Iterable<string>): Promise<void> => {
    const wanted = new Set(names);
    const due = kinds.filter((kind) => wanted.has(kind.name) && kind.observe !== null && !found.has(kind.name));
    for (const kind of due) {
      for (const name of [kind.name, ...kinds.filter((part) => part.partOf === kind.name).map((part) => part.name)]) {
        found.set(name, []);
      }
    }
    const answer = await source.read(due, required);
    for (const actual of answer.actuals) {
      found.get(actual.kind)?.push(actual);
      actuals.push(actual);
    }
    for (const [email, id] of answer.people) {
      people.set(email, id);
    }
  };
  await read([...required.mentioned, ...(options.also ?? [])]);
  const strangers = namesStranger(kinds, declared, people) ? new PeopleAddresses(kinds).kinds : [];
  const consulted = kinds
    .filter((kind) => required.mentioned.has(kind.name))
    .flatMap((kind) => kind.neededKinds?.({ declared, base, actuals }) ?? []);
  await read([...strangers, ...consulted]);
  return { kinds: found, people };
}

type Entry = Declared | BaseEntry;

interface RequiredEntry {
  readonly fields: Fields;
  /** The kinds of its parts. */
  readonly parts: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** Fields and parts that the desired state or the base sets on resources that may be a given actual one. */
class RequiredFields implements RequiredDetails {
  readonly #kinds: ReadonlyMap<string, KindRules>;
  readonly #entries: readonly Entry[];
  /** Kinds of parts, by the address that they are within. */
  readonly #parts = new Map<Address, Set<string>>();
  /** Fields that are set on any resource of a kind. */
  readonly #fields = new Map<string, Set<string>>();
  /** Entries by id and by natural key; null until a resource is looked up. */
  #index: Map<string, RequiredEntry[]> | null = null;
  /** Kinds that are mentioned, and the kinds they are part of. */
  readonly mentioned = new Set<string>();

  constructor(kinds: readonly KindRules[], declared: ReadonlyMap<Address, Declared>, base: Base) {
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]));
    this.#entries = [...declared.values(), ...(base?.values() ?? [])];
    for (const { kind, within, fields } of this.#entries) {
      this.mentioned.add(this.#kinds.get(kind)?.partOf ?? kind);
      if (within !== null) {
        this.#parts.set(within, (this.#parts.get(within) ?? new Set()).add(kind));
      }
      const names = this.#fields.get(kind) ?? new Set();
      for (const name of Object.keys(fields)) {
        names.add(name);
      }
      this.#fields.set(kind, names);
    }
  }

  needsFields(actual: Actual, fields: readonly string[]): boolean {
    const names = this.#fields.get(actual.kind);
    return (
      // Avoids looking up each resource where no resource of its kind sets such a field.
      fields.some((field) => names?.has(field)) &&
      this.#of(actual).some((wanted) => fields.some((field) => wanted.fields[field] !== undefined))
    );
  }

  needsParts(actual: Actual, kind?: string): boolean {
    return (
      this.#parts.size > 0 &&
      this.#of(actual).some(({ parts }) => (kind === undefined ? parts.size > 0 : parts.has(kind)))
    );
  }

  #of(actual: Actual): readonly RequiredEntry[] {
    const kind = this.#kinds.get(actual.kind);
    if (kind === undefined) {
      return [];
    }
    this.#index ??= this.#createIndex();
    const index = this.#index;
    const keys = kind.actualKeys(actual, actual.fields);
    return [
      ...(index.get(`${actual.kind} ${actual.id}`) ?? []),
      ...keys.flatMap((key) => index.get(`${actual.kind} ${key.by} ${key.value}`) ?? []),
    ];
  }

  #createIndex(): Map<string, RequiredEntry[]> {
    const index = new Map<string, RequiredEntry[]>();
    for (const entry of this.#entries) {
      const kind = this.#kinds.get(entry.kind);
      if (kind !== undefined && kind.partOf === undefined) {
        const wanted = { fields: entry.fields, parts: this.#parts.get(entry.address) ?? NONE };
        for (const key of indexKeys(entry, kind)) {
          push(index, key, wanted);
        }
      }
    }
    return index;
  }
}

/** Returns the keys under which an actual resource finds an entry: its id and its natural keys. */
function indexKeys(entry: Entry, kind: KindRules): readonly string[] {
  const renamedFrom = 'renamedFrom' in entry && typeof entry.renamedFrom === 'string' ? entry.renamedFrom : null;
  const before = renamedFrom === null ? undefined : kind.renamedKey?.(renamedFrom, entry.fields);
  const keys = [...kind.naturalKeys(entry.fields, entry.address), ...(before === undefined ? [] : [before])];
  return [
    ...(entry.id === null ? [] : [`${entry.kind} ${entry.id}`]),
    ...keys.map((key) => `${entry.kind} ${key.by} ${key.value}`),
  ];
}

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) {
    lists.set(key, [item]);
  } else {
    list.push(item);
  }
}

/** Returns true if a declared value names a person who has not been seen yet. */
function namesStranger(
  kinds: readonly KindRules[],
  declared: ReadonlyMap<Address, Declared>,
  people: ReadonlyMap<string, string>,
): boolean {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const addresses = new PeopleAddresses(kinds);
  for (const resource of declared.values()) {
    const known = byName.get(resource.kind)?.fields ?? {};
    for (const field of Object.keys(resource.fields)) {
      const value = resource.fields[field];
      const rules = known[field];
      if (rules === undefined || value === undefined || value === null || isIdRef(value)) {
        continue;
      }
      const emails =
        rules.shape === 'people'
          ? Object.keys(value)
          : (rules.references?.(value) ?? [])
              .filter((address) => addresses.isPerson(address))
              .map((address) => addresses.emailOf(address));
      if (emails.some((email) => !people.has(email))) {
        return true;
      }
    }
  }
  return false;
}
