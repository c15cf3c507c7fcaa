/** Drafts entries that declare resources as they are, and records what cannot be declared. */
import { posix } from 'node:path';
import { keyOf } from '../core/address.ts';
import { canonicalJson, isObject, type Json } from '../core/json.ts';
import { type Actual, isIdRef, type Observation } from '../core/resource.ts';
import { hasUrlSecrets } from '../core/text/safe-url.ts';
import type { Kind } from '../kinds/model/kind.ts';
import { type DescribeContext, type Described, type EntryPath, FileContent } from '../kinds/model/manifest.ts';
import { plainKey } from '../kinds/model/schema.ts';
import { checkEntry } from '../manifests/check-entry.ts';
import type { SectionKind } from '../manifests/kind-index.ts';
import { type ChosenKey, chooseKeys, type UnkeyedResource } from './keys.ts';

/** Entry to be written. */
export interface DraftEntry {
  readonly kind: SectionKind;
  readonly key: string;
  readonly actual: Actual;
  readonly value: Described;
}

/** Entries to be written. */
export interface Draft {
  readonly entries: readonly DraftEntry[];
  /** Notes, by the mapping they are about. */
  readonly notes: ReadonlyMap<object, readonly string[]>;
  /** The resource that each mapping declares. */
  readonly resources: ReadonlyMap<object, Actual>;
  /** Files other than manifests. */
  readonly files: readonly FileContent[];
}

interface Drafting {
  readonly kinds: readonly Kind[];
  readonly state: ActualState;
  /** Resources with an entry of their own. */
  readonly chosen: ReadonlySet<Actual>;
  readonly keys: Keys;
  readonly decisions: Decisions;
  /** Includes values that a new resource has by default. */
  readonly includeDefaults?: boolean;
  /** Returns a path that no other file has. */
  freePath(path: string, text: string): string;
}

/** Describes every chosen resource. Anything that cannot be declared is recorded in the decisions and omitted. */
export function makeDraft(drafting: Drafting): Draft {
  const drafter = new Drafter(drafting);
  for (const kind of drafting.kinds) {
    if (kind.manifest !== null) {
      drafter.describe(kind as SectionKind);
    }
  }
  drafter.addNotes();
  return drafter;
}

class Drafter implements Draft {
  readonly entries: DraftEntry[] = [];
  readonly notes = new Map<object, readonly string[]>();
  readonly resources = new Map<object, Actual>();
  readonly files: FileContent[] = [];
  readonly #drafting: Drafting;
  readonly #remarks = new Map<Actual, string[]>();

  constructor(drafting: Drafting) {
    this.#drafting = drafting;
  }

  describe(kind: SectionKind): void {
    const { chosen, keys, decisions } = this.#drafting;
    const actuals = [...chosen].filter((actual) => actual.kind === kind.name);
    for (const actual of actuals) {
      const key = keys.full.get(actual) ?? '';
      const value = kind.manifest.describe(actual, this.#context(key));
      if (typeof value === 'string') {
        decisions.omitted.set(actual, value);
      } else if (kind.manifest.single && Object.keys(value).length === 0) {
        // Settings without a value need no entry.
        this.resources.delete(value);
      } else {
        this.entries.push({ kind, key, actual, value });
      }
    }
  }

  #context(entryKey: string): DescribeContext {
    const { state, keys, decisions, freePath, includeDefaults = false } = this.#drafting;
    return {
      includeDefaults,
      keyOf: (actual) => posix.basename(keys.full.get(actual) ?? ''),
      keyOfRef: (reference) => this.#keyOfRef(reference),
      partsOf: (actual) => state.partsOf(actual).filter((part) => !decisions.omitted.has(part)),
      unorderedParts: (actual, kind) =>
        state.unorderedParts(actual, kind).filter((part) => !decisions.omitted.has(part)),
      resource: (actual, members) => this.#resource(actual, members),
      file: (folder, extension, text) => {
        const path = freePath(`${folder}/${entryKey}.${extension}`, text);
        const file = new FileContent(path, path, text);
        if (!hasUrlSecrets(text)) {
          this.files.push(file);
        }
        return file;
      },
      note: (actual, text) => void this.#remarks.set(actual, [...(this.#remarks.get(actual) ?? []), text]),
      bind: (actual) => void decisions.ids.add(actual),
    };
  }

  #keyOfRef(reference: Json | undefined): string | null {
    const { kinds, state, keys, decisions } = this.#drafting;
    const hasKey = (each: Actual) =>
      keys.full.has(each) ||
      kinds.some(({ name, implicitAddress }) => name === each.kind && implicitAddress !== undefined);
    const meant = state.resolveReference(reference).find(hasKey);
    return meant === undefined || decisions.omitted.has(meant) ? null : (keys.full.get(meant) ?? meant.title);
  }

  #resource(actual: Actual, members: Described): Described {
    const { ids, dropped, ignored } = this.#drafting.decisions;
    this.#dropSecrets(actual, members);
    const without = dropped.get(actual);
    const kept = Object.entries(members).filter(([name, value]) => value !== undefined && !without?.has(name));
    // The key of a part comes first in its mapping.
    const first = actual.within === null ? 0 : 1;
    const mapping = {
      ...Object.fromEntries(kept.slice(0, first)),
      ...(ids.has(actual) ? { id: actual.id } : {}),
      ...Object.fromEntries(kept.slice(first)),
      ...(ignored.has(actual) ? { ignore: [...(ignored.get(actual) ?? [])] } : {}),
    };
    this.resources.set(mapping, actual);
    return mapping;
  }

  /** Drops URLs that contain a password or a token from any field: secrets do not belong in a repository. */
  #dropSecrets(actual: Actual, members: Described): void {
    const { decisions, kinds } = this.#drafting;
    const isSingle = kinds.some(({ name, manifest }) => name === actual.kind && manifest?.single === true);
    for (const [name, value] of Object.entries(members)) {
      if (hasUrlSecrets(value)) {
        decisions.drop(actual, name, 'a URL in it holds a password or a token');
        // The field may have identified the resource, unless the kind has only one.
        if (!isSingle) {
          decisions.ids.add(actual);
        }
      }
    }
  }

  addNotes(): void {
    for (const [mapping, actual] of this.resources) {
      const notes = this.#notesOf(actual);
      if (notes.length > 0) {
        this.notes.set(mapping, notes);
      }
    }
  }

  #notesOf(actual: Actual): readonly string[] {
    const { keys, decisions } = this.#drafting;
    const key = keys.notes.get(actual);
    const [dropped, ignored] = [[...(decisions.dropped.get(actual) ?? [])], [...(decisions.ignored.get(actual) ?? [])]];
    return [
      ...(key === undefined ? [] : [`key: ${key}`]),
      ...(this.#remarks.get(actual) ?? []),
      ...dropped.map(([name, reason]) => `${name}: omitted, because ${reason}`),
      ...(decisions.ids.has(actual) && !this.#remarks.has(actual) ? ['id: no other field identifies it reliably'] : []),
      ...ignored.map((name) => `ignore: the current value of ${name} cannot be declared`),
    ];
  }
}

/** Index of the actual state. */
export class ActualState {
  readonly #byId = new Map<string, Actual>();
  readonly #inside = new Map<string, Actual[]>();
  readonly #made = new Map<string, Actual>();
  readonly #unordered = new Map<string, Actual[]>();

  constructor({ kinds }: Observation) {
    for (const actual of [...kinds.values()].flat()) {
      for (const id of [actual.id, ...(actual.aliases ?? [])]) {
        this.#byId.set(`${actual.kind} ${id}`, actual);
      }
      for (const id of actual.aliases ?? []) {
        this.#made.set(id, actual);
      }
      if (actual.place !== null) {
        const list = `${actual.within} ${actual.place.list}`;
        this.#inside.set(list, [...(this.#inside.get(list) ?? []), actual]);
      } else if (actual.within !== null) {
        const name = `${actual.kind} ${actual.within}`;
        const parts = this.#unordered.get(name) ?? [];
        this.#unordered.set(name, parts);
        parts.push(actual);
      }
    }
    for (const parts of this.#inside.values()) {
      parts.sort((a, b) => (a.place?.index ?? 0) - (b.place?.index ?? 0));
    }
  }

  /** Returns the resources that a reference by id may refer to, most likely first. */
  resolveReference(reference: Json | undefined): readonly Actual[] {
    return isIdRef(reference)
      ? reference.kinds.flatMap((kind) => this.#byId.get(`${kind} ${reference.$id}`) ?? [])
      : [];
  }

  /** Returns the direct parts of a resource, in display order. */
  partsOf({ id, within }: Actual): readonly Actual[] {
    return this.#inside.get(`${within ?? id} ${id}`) ?? [];
  }

  /** Returns the parts of one kind that a resource has in no order. */
  unorderedParts({ id }: Actual, kind: string): readonly Actual[] {
    return this.#unordered.get(`${kind} ${id}`) ?? [];
  }

  /** Returns all ordered parts of a resource, in display order. */
  allPartsOf(actual: Actual): readonly Actual[] {
    return this.partsOf(actual).flatMap((part) => [part, ...this.allPartsOf(part)]);
  }

  /** Returns the resource that created another one, as a translation creates a space: it declares both. */
  creatorOf({ kind, id }: Actual): Actual | undefined {
    const maker = this.#made.get(id);
    return maker?.kind === kind ? undefined : maker;
  }
}

/** Finds every reference by id in a value. */
export function referencesIn(value: Json | undefined): readonly Json[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  return isIdRef(value)
    ? [value as unknown as Json]
    : Object.values(value).flatMap((each) => referencesIn(each as Json));
}

/** Collects, from one draft to the next, which resources must be written differently or not at all. */
export class Decisions {
  /** Resources that can be identified only by their id. */
  readonly ids = new Set<Actual>();
  /** Fields that cannot be written, with the reason. */
  readonly dropped = new Map<Actual, Map<string, string>>();
  /** Fields that a plan would change immediately, however they are written. */
  readonly ignored = new Map<Actual, Set<string>>();
  /** Resources that cannot be declared, with the reason. */
  readonly omitted = new Map<Actual, string>();

  /** Number of findings. */
  get count(): number {
    const fields = [...this.dropped.values(), ...this.ignored.values()];
    return fields.reduce((sum, { size }) => sum + size, this.ids.size + this.omitted.size);
  }

  drop(actual: Actual, field: string, reason: string): void {
    this.dropped.set(actual, (this.dropped.get(actual) ?? new Map()).set(field, reason));
  }

  ignore(actual: Actual, field: string): void {
    this.ignored.set(actual, (this.ignored.get(actual) ?? new Set()).add(field));
  }
}

/** Keys of declared resources and of those to be declared. */
export interface Keys {
  /** Full keys, such as `help/guides/en` for a site space. */
  readonly full: ReadonlyMap<Actual, string>;
  /** Notes about how keys were chosen. */
  readonly notes: ReadonlyMap<Actual, string>;
}

interface Assigning extends Pick<Drafting, 'kinds' | 'state' | 'chosen'> {
  /** Addresses of resources that manifests already declare. */
  readonly alreadyDeclared: ReadonlyMap<Actual, string>;
  /** All addresses that manifests declare, including those of missing resources. */
  readonly declared: Iterable<string>;
}

/** Chooses a key for every resource to be declared; each kind comes after those that it refers to. */
export function assignKeys(input: Assigning): Keys {
  const keys = new KeyAssigner(input);
  for (const kind of input.kinds) {
    keys.assign(kind);
  }
  return keys;
}

class KeyAssigner implements Keys {
  readonly full = new Map<Actual, string>();
  readonly notes = new Map<Actual, string>();
  readonly #input: Assigning;
  readonly #declared: ReadonlyMap<string, readonly string[]>;

  constructor(input: Assigning) {
    this.#input = input;
    for (const [actual, address] of input.alreadyDeclared) {
      this.full.set(actual, keyOf(address));
    }
    const addresses = [...input.declared].map((address) => address.split(/\/(.*)/s) as [string, string?]);
    this.#declared = new Map(
      [...Map.groupBy(addresses, ([kind]) => kind)].map(([kind, of]) => [kind, of.map(([, key = '']) => key)]),
    );
  }

  assign(kind: Kind): void {
    if (kind.manifest === null) {
      this.#parts(kind);
      return;
    }
    const actuals = [...this.#input.chosen].filter((actual) => actual.kind === kind.name);
    if (kind.manifest.single || kind.manifest.key !== plainKey) {
      // Its key is its name on the platform: an email address, a slug.
      for (const actual of actuals) {
        this.full.set(actual, kind.manifest.single ? '' : actual.title);
      }
      return;
    }
    const nameless = actuals.map((actual) => this.#nameless(kind, actual, this.#order(actual)));
    for (const [actual, { key, note }] of chooseKeys(nameless, this.#taken(kind))) {
      this.#keep(actual, key, note);
    }
  }

  #parts(kind: Kind): void {
    const owners = [...this.#input.chosen].filter((actual) => actual.kind === kind.partOf);
    for (const owner of owners) {
      const { state } = this.#input;
      const ordered = state.allPartsOf(owner).filter((part) => part.kind === kind.name);
      const unordered = state.unorderedParts(owner, kind.name);
      for (const part of kind.keyWithin === undefined ? [] : unordered) {
        this.full.set(part, `${this.full.get(owner) ?? ''}${kind.keyWithin?.(part) ?? ''}`);
      }
      const parts = kind.keyWithin === undefined ? [...ordered, ...unordered] : ordered;
      for (const [prefix, siblings] of Map.groupBy(parts, (part) => this.#prefixOf(kind, part, owner))) {
        const nameless = siblings.map((part, index) => this.#nameless(kind, part, String(index).padStart(8, '0')));
        for (const [part, { key, note }] of chooseKeys(nameless, [])) {
          this.#keep(part, `${prefix}/${key}`, note);
        }
      }
    }
  }

  #prefixOf(kind: Kind, part: Actual, owner: Actual): string {
    const [holder = owner] = this.#input.state.resolveReference(kind.deletedWith?.(part.fields));
    return this.full.get(holder) ?? '';
  }

  #nameless(kind: Kind, item: Actual, order: string): UnkeyedResource<Actual> {
    return { item, kind: kind.name, names: kind.suggestedKeys(item, { keyOfRef: (ref) => this.#nameOf(ref) }), order };
  }

  /** Returns the key of a referenced resource, or its title while it has no key. */
  #nameOf(reference: Json | undefined): string | null {
    const meant = this.#input.state.resolveReference(reference);
    const known = meant.find((actual) => this.full.has(actual)) ?? meant.find((each) => this.#input.chosen.has(each));
    return known === undefined ? null : (this.full.get(known) ?? known.title);
  }

  /** Orders by content, then by id: keys should be the same in an organization that is created from these manifests. */
  #order(actual: Actual): string {
    return `${canonicalJson([actual.title, this.#named(actual.fields)])} ${actual.id}`;
  }

  #named(value: Json | undefined): Json {
    if (isIdRef(value)) {
      return this.#nameOf(value as unknown as Json);
    }
    if (Array.isArray(value)) {
      return value.map((each) => this.#named(each));
    }
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.#named(member as Json)]))
      : (value ?? null);
  }

  #taken(kind: Kind): readonly string[] {
    const sharing = this.#input.kinds.filter(
      (other) => kind.sharesKeysWith?.includes(other.name) || other.sharesKeysWith?.includes(kind.name),
    );
    const names = [kind.name, ...sharing.map(({ name }) => name)];
    const chosen = [...this.full].flatMap(([actual, key]) => (names.includes(actual.kind) ? [key] : []));
    return [...chosen, ...names.flatMap((name) => this.#declared.get(name) ?? [])];
  }

  #keep(actual: Actual, key: string, note: ChosenKey['note']): void {
    this.full.set(actual, key);
    if (note !== null) {
      this.notes.set(actual, note);
    }
  }
}

/** Finds values of the platform that no manifest may declare: an empty title, an unknown rule. */
export function checkDraft(draft: Draft, decisions: Decisions): void {
  for (const entry of draft.entries) {
    const { manifest } = entry.kind;
    if (!manifest.single && !manifest.key.pattern.test(entry.key)) {
      decisions.omitted.set(entry.actual, `its key would have to be ${manifest.key.words}`);
      continue;
    }
    const { entry: checked, problems } = checkEntry(manifest.entry, entry.value);
    for (const { path, message } of problems ?? []) {
      decide(entry, path, message, draft, decisions);
    }
    if (problems === null) {
      manifest.declare(entry.key, checked, {
        add: () => undefined,
        problem: (path, message) => decide(entry, path, message, draft, decisions),
        included: () => null,
      });
    }
  }
}

/** Leaves out an invalid field. A resource that needs the field is identified by its id or, at worst, left out. */
function decide(entry: DraftEntry, path: EntryPath, message: string, draft: Draft, decisions: Decisions): void {
  const { actual, field } = locate(entry, path, draft);
  if (field !== null && decisions.dropped.get(actual)?.has(field) !== true) {
    decisions.drop(actual, field, ofField(field, message));
  } else if (field === null && !decisions.ids.has(actual)) {
    decisions.ids.add(actual);
  } else {
    // What is missing was dropped for a reason.
    const [dropped] = decisions.dropped.get(actual) ?? [];
    decisions.omitted.set(actual, dropped === undefined ? message : dropped.join(': '));
  }
}

/** Adapts a message to a note that begins with the name of the field. */
function ofField(field: string, message: string): string {
  const [subject = '', ...words] = message.split(' ');
  return subject === field || subject.endsWith(`.${field}`) ? `it ${words.join(' ')}` : message;
}

/** Finds the innermost resource of a path, and the member of it that the path is in. */
function locate(
  entry: DraftEntry,
  path: EntryPath,
  { resources }: Draft,
): { readonly actual: Actual; readonly field: string | null } {
  let found: { actual: Actual; field: string | null } = { actual: entry.actual, field: member(entry.value, path[0]) };
  let value: unknown = entry.value;
  for (const [index, segment] of path.entries()) {
    value = value instanceof FileContent ? undefined : (value as Record<string | number, unknown>)?.[segment];
    const actual = typeof value === 'object' && value !== null ? resources.get(value) : undefined;
    if (actual !== undefined) {
      found = { actual, field: member(value as object, path[index + 1]) };
    }
  }
  return found;
}

/** Returns the node of a member; null if it is missing, so that it cannot be left out. */
function member(mapping: object, name: string | number | undefined): string | null {
  return name !== undefined && Object.hasOwn(mapping, name) ? String(name) : null;
}
