/** Reads the part of the actual state that a plan needs: from the platform, or from another source. */
import type { Address } from '../core/address.ts';
import type { Change, DeletedContents } from '../core/change.ts';
import {
  AppError,
  AuthError,
  CancelledError,
  InterruptedError,
  NotThePlatformError,
  RejectedError,
} from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import {
  type Actual,
  type Base,
  type BaseEntry,
  type Declared,
  type Fields,
  isIdRef,
  type Observation,
} from '../core/resource.ts';
import type { Detail, DetailRequest, Kind } from '../kinds/model/kind.ts';
import { changedPeople } from '../plan/render/field-text.ts';
import { type KindRules, PeopleAddresses } from '../plan/rules.ts';
import type { Reader } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';

interface ObserveOptions {
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
  readonly key: string;
  readonly fields: Fields;
  /** The kinds of its parts. */
  readonly parts: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** Fields and parts that the desired state or the base sets on resources that may be a given actual one. */
class RequiredFields implements RequiredDetails {
  readonly #kinds: ReadonlyMap<string, KindRules>;
  readonly #entries: readonly Entry[];
  readonly #base: Base;
  /** Kinds of parts, by the address that they are within. */
  readonly #parts = new Map<Address, Set<string>>();
  /** Fields that are set on any resource of a kind. */
  readonly #fields = new Map<string, Set<string>>();
  /** Entries by id and by natural key; null until a resource is looked up. */
  #index: ReadonlyMap<string, readonly RequiredEntry[]> | null = null;
  /** Kinds that are mentioned, and the kinds they are part of. */
  readonly mentioned = new Set<string>();

  constructor(kinds: readonly KindRules[], declared: ReadonlyMap<Address, Declared>, base: Base) {
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]));
    this.#entries = [...declared.values(), ...(base?.values() ?? [])];
    this.#base = base;
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

  needsParts(actual: Actual, kind: string): boolean {
    return this.#parts.size > 0 && this.#of(actual).some(({ parts }) => parts.has(kind));
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

  #createIndex(): ReadonlyMap<string, readonly RequiredEntry[]> {
    const required = this.#entries.flatMap((entry) => {
      const kind = this.#kinds.get(entry.kind);
      if (kind === undefined || kind.partOf !== undefined) {
        return [];
      }
      // A resource that is renamed still has the key that the base knows.
      const before = this.#base?.get(entry.address) ?? entry;
      const keys = new Set([...indexKeys(entry, kind), ...indexKeys(before, kind)]);
      return [...keys].map((key) => ({ key, fields: entry.fields, parts: this.#parts.get(entry.address) ?? NONE }));
    });
    return Map.groupBy(required, ({ key }) => key);
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

/** Decides which resources need more than their list returns. */
export interface RequiredDetails {
  /** Returns true if a key that sets one of these fields may mean this resource. */
  needsFields(actual: Actual, fields: readonly string[]): boolean;
  /** Returns true if a part of a kind is declared or owned inside what may be this resource. */
  needsParts(actual: Actual, kind: string): boolean;
}

/** Resources and people that were read. */
export interface ActualResources {
  /** Parts come after what they are part of. */
  readonly actuals: readonly Actual[];
  /** Emails and ids of people seen as members of the organization. */
  readonly people: readonly (readonly [email: string, id: string])[];
}

/** Source of the actual state: the platform, or a snapshot of it. */
export interface ActualSource {
  /** Lists some kinds concurrently, and reads the required details of each resource. Throws AppError. */
  read(kinds: readonly Kind[], required: RequiredDetails): Promise<ActualResources>;
  /** Number of requests made so far. */
  requests(): number;
  /**
   * The email of the user whose token is used; null if the platform does not report it. Absent: the source cannot be
   * asked.
   */
  ownUser?(members: readonly Actual[]): Promise<string | null>;
  /**
   * Reads what the deletion of a resource would destroy; null if that cannot be read. Throws AppError if the reader is
   * stopped. Absent: the source cannot be asked.
   */
  contents?(kind: Kind, id: string): Promise<DeletedContents | null>;
  /** Reads further facts of a resource, in the same way. */
  facts?(kind: Kind, actual: Actual): Promise<JsonObject | null>;
}

/** The platform as a source. */
interface PlatformSource extends ActualSource {
  /** Requests the lists of some kinds early. The next `read` of each kind uses them, and reports their errors. */
  begin(kinds: readonly Kind[]): void;
}

/** Returns true if a key requires what a detail request of a resource returns. */
function isRequired({ fields, parts }: DetailRequest, actual: Actual, required: RequiredDetails): boolean {
  return (parts ?? []).some((kind) => required.needsParts(actual, kind)) || required.needsFields(actual, fields);
}

/** Iterates over a detail request and those that follow it, as long as they are required. */
export function* requiredChain(first: DetailRequest, actual: Actual, required: RequiredDetails) {
  for (
    let next: DetailRequest | undefined = first;
    next !== undefined && isRequired(next, actual, required);
    next = next.next
  ) {
    yield next;
  }
}

/** Adds details to a resource. */
export function withDetails(actual: Actual, details: readonly Detail[]): ActualResources {
  const fields = Object.assign({}, actual.fields, ...details.map((each) => each.fields ?? {}));
  const facts = Object.assign({}, actual.facts, ...details.map((each) => each.facts ?? {}));
  const whole = { ...actual, fields, ...(Object.keys(facts).length === 0 ? {} : { facts }) };
  return {
    actuals: [whole, ...details.flatMap((each) => each.parts ?? [])],
    people: details.flatMap((each) => each.people ?? []),
  };
}

/** Combines resources in this order. */
export function combineResources(found: readonly ActualResources[]): ActualResources {
  return { actuals: found.flatMap(({ actuals }) => actuals), people: found.flatMap(({ people }) => people) };
}

/** Opens the platform as a source; `requests` returns the number of requests that the reader has made. */
export function platformSource(reader: Reader, requests: () => number = () => 0): PlatformSource {
  const begun = new Map<Kind, Promise<ActualResources>>();
  const listOnce = (kind: Kind) => {
    const listing = begun.get(kind) ?? list(kind, reader);
    begun.delete(kind);
    return listing;
  };
  return {
    begin(kinds) {
      for (const kind of kinds.filter((each) => each.observe !== null && !begun.has(each))) {
        const listing = list(kind, reader);
        listing.catch(() => {});
        begun.set(kind, listing);
      }
    },
    read: async (kinds, required) =>
      combineResources(await settleAll(kinds.map((kind) => readKind(kind, listOnce(kind), required, reader)))),
    requests,
    ownUser: (members) => ownUser(reader, members),
    contents: async (kind, id) => (await unlessUnreadable(kind.readContents?.({ id }, reader))) ?? null,
    facts: async (kind, actual) => (await unlessUnreadable(kind.readFacts?.(actual, reader))) ?? null,
  };
}

/** Returns an answer; null if it cannot be read. Throws AppError if the reader is stopped. */
async function unlessUnreadable<T>(answer: Promise<T> | undefined): Promise<T | null | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof AppError) || error instanceof CancelledError || error instanceof InterruptedError) {
      throw error;
    }
    return null;
  }
}

async function readKind(
  kind: Kind,
  listing: Promise<ActualResources>,
  required: RequiredDetails,
  reader: Reader,
): Promise<ActualResources> {
  const { actuals, people } = await listing;
  const resources = await readEach(actuals, async (actual) =>
    withDetails(actual, await readDetails(kind.details ?? [], actual, required, reader)),
  );
  return combineResources([{ actuals: [], people }, ...resources]);
}

/** Maximum number of resources that are read at a time: as many as a queue can send requests, to save memory. */
const MAX_READING = 1000;

/** Reads each item; starts no more after an error, and throws it once those that were started have ended. */
async function readEach<T, R>(items: readonly T[], read: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const remaining = items.entries();
  let hasFailed = false;
  const loop = async () => {
    for (const [index, item] of remaining) {
      if (hasFailed) {
        return;
      }
      try {
        results[index] = await read(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await settleAll(Array.from({ length: Math.min(MAX_READING, items.length) }, loop));
  return results;
}

/** Lists the resources of a kind. */
export async function list(kind: Kind, reader: Reader): Promise<ActualResources> {
  const actuals: Actual[] = [];
  const people: (readonly [string, string])[] = [];
  await kind.observe?.({
    reader,
    add: (actual) => actuals.push(actual),
    person: (email, id) => people.push([email, id]),
  });
  return { actuals, people };
}

async function readDetails(
  details: readonly DetailRequest[],
  actual: Actual,
  required: RequiredDetails,
  reader: Reader,
): Promise<Detail[]> {
  const chains = details.map(async (first) => {
    const chain: Detail[] = [];
    for (const next of requiredChain(first, actual, required)) {
      chain.push(await next.read(actual, reader, chain.at(-1) ?? {}));
    }
    return chain;
  });
  return (await settleAll(chains)).flat();
}

/** Waits for all, then throws the first error, so that nothing keeps running after a failure. */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(promises);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    throw failed.reason;
  }
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** Reports whether a plan removes anybody or takes the role of an admin: then it matters whose token is used. */
export function couldLockOut(kinds: readonly KindRules[], changes: readonly Change[]): boolean {
  const people = new PeopleAddresses(kinds);
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  return changes.some(({ kind, action, paused, fields }) => {
    const rules = people.rules(kind);
    if (paused !== null) {
      return false;
    }
    return rules === null
      ? fields.some(({ path, from, to }) => {
          const isOfPeople = byName.get(kind)?.fields[path]?.shape === 'people';
          return isOfPeople && changedPeople(from, to).some(({ was }) => was === people.adminRole);
        })
      : action === 'delete' || fields.some(({ path, from }) => path === rules.roleField && from === rules.adminRole);
  });
}

/**
 * The email of the user whose token is used; null if the platform does not report it, such as for the token of an
 * integration. Makes one request. Throws AppError if the request fails.
 */
export async function ownUser(reader: Reader, members: readonly Actual[] = []): Promise<string | null> {
  try {
    const { id, email } = await reader.get(operations.getAuthenticatedUser);
    const member = members.find((one) => one.id === id);
    return email || (member?.title ?? null);
  } catch (error) {
    if (error instanceof RejectedError || error instanceof NotThePlatformError) {
      return null;
    }
    if (error instanceof AuthError && error.status === 403) {
      return null;
    }
    throw error;
  }
}
