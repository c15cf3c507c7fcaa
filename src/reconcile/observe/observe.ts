import type { Address } from '../../core/address.ts';
import { type Actual, type Base, type Declared, type Fields, isIdRef, type Observation } from '../../core/resource.ts';
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

interface RequiredEntry {
  readonly fields: Fields;
  /** The kinds of its parts. */
  readonly parts: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** Fields and parts that the desired state or the base sets on resources that may be a given actual one. */
class RequiredFields implements RequiredDetails {
  readonly #kinds: ReadonlyMap<string, KindRules>;
  readonly #byId = new Map<string, RequiredEntry[]>();
  readonly #byKey = new Map<string, RequiredEntry[]>();
  /** Kinds that are mentioned, and the kinds they are part of. */
  readonly mentioned = new Set<string>();

  constructor(kinds: readonly KindRules[], declared: ReadonlyMap<Address, Declared>, base: Base) {
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]));
    const parts = new Map<Address, Set<string>>();
    const entries = [...declared.values(), ...(base?.values() ?? [])];
    for (const entry of entries) {
      this.mentioned.add(this.#kinds.get(entry.kind)?.partOf ?? entry.kind);
      if (entry.within !== null) {
        parts.set(entry.within, (parts.get(entry.within) ?? new Set()).add(entry.kind));
      }
    }
    for (const entry of entries) {
      this.#add(entry, parts.get(entry.address) ?? NONE);
    }
  }

  needsFields(actual: Actual, fields: readonly string[]): boolean {
    return this.#of(actual).some((wanted) => fields.some((field) => wanted.fields[field] !== undefined));
  }

  needsParts(actual: Actual, kind?: string): boolean {
    return this.#of(actual).some(({ parts }) => (kind === undefined ? parts.size > 0 : parts.has(kind)));
  }

  #add(entry: { kind: string; address: Address; id: string | null; fields: Fields }, parts: ReadonlySet<string>): void {
    const kind = this.#kinds.get(entry.kind);
    if (kind === undefined || kind.partOf !== undefined) {
      return;
    }
    const wanted = { fields: entry.fields, parts };
    if (entry.id !== null) {
      push(this.#byId, `${entry.kind} ${entry.id}`, wanted);
    }
    const renamedFrom = 'renamedFrom' in entry && typeof entry.renamedFrom === 'string' ? entry.renamedFrom : null;
    const before = renamedFrom === null ? undefined : kind.renamedKey?.(renamedFrom, entry.fields);
    for (const key of [...kind.naturalKeys(entry.fields, entry.address), ...(before === undefined ? [] : [before])]) {
      push(this.#byKey, `${entry.kind} ${key.by} ${key.value}`, wanted);
    }
  }

  #of(actual: Actual): readonly RequiredEntry[] {
    const kind = this.#kinds.get(actual.kind);
    if (kind === undefined) {
      return [];
    }
    const keys = kind.actualKeys(actual, actual.fields);
    return [
      ...(this.#byId.get(`${actual.kind} ${actual.id}`) ?? []),
      ...keys.flatMap((key) => this.#byKey.get(`${actual.kind} ${key.by} ${key.value}`) ?? []),
    ];
  }
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
    for (const [field, rules] of Object.entries(byName.get(resource.kind)?.fields ?? {})) {
      const value = resource.fields[field];
      if (value === undefined || value === null || isIdRef(value)) {
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
