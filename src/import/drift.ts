/** Finds what changed on the platform since the last commit, and the edits that make manifests declare it. */

import { posix } from 'node:path';
import { type Address, keyOf } from '../core/address.ts';
import { type Change, changeId } from '../core/change.ts';
import { DesiredStateError } from '../core/errors.ts';
import { isObject, type Json, sameJson } from '../core/json.ts';
import { append } from '../core/lists.ts';
import {
  type Actual,
  type Base,
  type BaseEntry,
  type Declared,
  isIdRef,
  type Observation,
  type Source,
} from '../core/resource.ts';
import { hasUrlSecrets } from '../core/text/safe-url.ts';
import type { Kind } from '../kinds/model/kind.ts';
import { lastAtMost } from '../manifests/yaml.ts';
import { repositionings } from '../plan/arrange.ts';
import { normalizeValue } from '../plan/diff.ts';
import { ActualState, Decisions, makeDraft } from './draft.ts';
import {
  applyEdits,
  type Edit,
  itemSpans,
  ManifestText,
  overlaps,
  patchMember,
  type Reordering,
  removalAt,
  type Span,
} from './manifest-text.ts';

/** Field with its current value on the platform, which differs from the manifests. */
export interface DriftedField {
  /** Edit that writes it; edits are accepted or rejected as a whole. */
  readonly edit: string;
  readonly address: Address;
  readonly field: string;
  readonly file: string;
  readonly line: number;
  readonly from: Json | undefined;
  readonly to: Json | undefined;
}

/** A resource that is gone and is removed from the manifests, or one that has another place in its list. */
export interface DriftedPlace {
  /** The edit that writes it: one for a removed resource with all its contents, and one for the order of a list. */
  readonly edit: string;
  readonly action: 'delete' | 'move';
  readonly address: Address;
  /** Parent of its list; null if it is in none. */
  readonly list: Address | null;
  readonly file: string;
  readonly line: number;
}

export interface Drift {
  readonly fields: readonly DriftedField[];
  readonly places: readonly DriftedPlace[];
  /** The changed texts of files, by path. */
  readonly texts: ReadonlyMap<string, string>;
  /** Drift that cannot be written, with the reason. */
  readonly omitted: readonly { readonly address: Address; readonly reason: string }[];
}

interface DriftInput {
  readonly kinds: readonly Kind[];
  readonly changes: readonly Change[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly bound: ReadonlyMap<Address, Actual>;
  readonly base: Base;
  readonly observation: Observation;
  /** Texts of the manifests, by the path that sources name. */
  readonly manifests: ReadonlyMap<string, string>;
}

/** Returns the changes of a plan over manifests with these texts. Throws DesiredStateError if they cannot be read. */
type Replan = (texts: ReadonlyMap<string, string>) => Promise<readonly Change[]>;

/**
 * Finds edits that bring drift into the manifests, and checks them by planning again. An edit is rejected and reported
 * as left if it breaks a manifest, changes anything else, or does not remove its difference. Makes at most four plans
 * per edit.
 */
export async function resolveDrift(input: DriftInput, replan: Replan): Promise<Drift> {
  const context = new DriftContext(input);
  const rejected = new Set<string>();
  for (;;) {
    const drift = collectDrift(context, (edit) => !rejected.has(edit));
    const edits = inDependencyOrder(drift, input);
    const { accepted, changes } = await acceptEdits(edits, context, replan);
    if (accepted.size === edits.length) {
      return { ...drift, omitted: [...drift.omitted, ...displaced(drift, changes, context)] };
    }
    // At least one more is rejected than before, so this ends.
    for (const edit of edits.filter((each) => !accepted.has(each))) {
      rejected.add(edit);
    }
  }
}

/** Orders edits by dependency: fields first; then removals, of referring resources before referenced ones. */
function inDependencyOrder({ fields, places }: Drift, { kinds }: DriftInput): readonly string[] {
  const rank = new Map(kinds.map(({ name }, index) => [name, -index]));
  const rankOf = ({ address }: DriftedPlace) => rank.get(address.split('/', 1)[0] ?? '') ?? 0;
  const removals = places.filter(({ action }) => action === 'delete').toSorted((a, b) => rankOf(a) - rankOf(b));
  const orders = places.filter(({ action }) => action === 'move');
  return [...new Set([...fields, ...removals, ...orders].map(({ edit }) => edit))];
}

/** Finds items of lists that a plan still moves, only because something unwritable is created or moved next to them. */
function displaced({ omitted }: Drift, changes: readonly Change[], context: DriftContext): Drift['omitted'] {
  const reported = new Set(omitted.map(({ address }) => address));
  return changes
    .filter(({ address, anchor, place }) => anchor !== null && place !== null && !reported.has(address))
    .filter(({ action, place }) => action === 'move' && !context.isOrderedByCommit(place?.list ?? ''))
    .map(({ address }) => ({ address, reason: 'is moved by the plan next to something that cannot be written' }));
}

/**
 * Returns the edits that can be made together, and the changes of the plan over them. One plan suffices if all edits can
 * be made.
 */
async function acceptEdits(edits: readonly string[], context: DriftContext, replan: Replan) {
  const known = new Set(context.input.changes.flatMap(differences));
  const isNew = (change: Change) => differences(change).some((each) => !known.has(each));
  const accepted = new Set<string>();
  let { changes } = context.input;
  /** Splits a group in halves until the failing edits are found. */
  const add = async (group: readonly string[]): Promise<void> => {
    if (group.length === 0) {
      return;
    }
    const only = new Set([...accepted, ...group]);
    const drift = collectDrift(context, (edit) => only.has(edit));
    const planned = await replan(drift.texts).catch((error: unknown) => {
      if (error instanceof DesiredStateError) {
        return null;
      }
      throw error;
    });
    const ineffective = findIneffectiveEdits(drift, planned ?? []);
    if (planned !== null && ineffective.size === 0 && !planned.some(isNew)) {
      changes = planned;
      for (const edit of group) {
        accepted.add(edit);
      }
      return;
    }
    const effective = group.filter((edit) => !ineffective.has(edit));
    if (effective.length < group.length) {
      await add(effective);
    } else if (group.length > 1) {
      const middle = Math.ceil(group.length / 2);
      await add(group.slice(0, middle));
      await add(group.slice(middle));
    }
  };
  await add(edits);
  // Edits that were tried before the ones they depend on.
  const missing = edits.filter((edit) => !accepted.has(edit));
  if (missing.length < edits.length) {
    await add(missing);
  }
  return { accepted, changes };
}

/** Describes the effect of a change, to compare two plans. Which items of a list move does not matter. */
function differences(change: Change): readonly string[] {
  const { action, address, place, anchor, fields } = change;
  if (action === 'create' || action === 'delete') {
    return [changeId(change)];
  }
  const paths = fields.filter(({ path }) => path !== 'position').map(({ path }) => `${changeId(change)} ${path}`);
  return anchor === null ? paths : [...paths, `order ${place?.list ?? address}`];
}

/** Returns the edits whose difference still appears in a plan over them. */
function findIneffectiveEdits({ fields, places }: Drift, changes: readonly Change[]): ReadonlySet<string> {
  const open = new Set(changes.flatMap(({ address, fields: of }) => of.map(({ path }) => `${address} ${path}`)));
  const created = new Set(changes.filter(({ action }) => action === 'create').map(({ address }) => address));
  // A creation in a list moves other items regardless of their order.
  const growing = new Set(
    changes.flatMap(({ action, place }) => (action === 'create' && place !== null ? [place.list] : [])),
  );
  const unordered = new Set(
    changes.flatMap(({ anchor, place }) =>
      anchor !== null && place !== null && !growing.has(place.list) ? [place.list] : [],
    ),
  );
  return new Set([
    ...fields.filter(({ address, field }) => open.has(`${address} ${field}`)).map(({ edit }) => edit),
    ...places
      .filter(({ action, address, list }) => (action === 'delete' ? created.has(address) : unordered.has(list ?? '')))
      .map(({ edit }) => edit),
  ]);
}

/** Built once for all attempts to write the drift of one plan. */
class DriftContext {
  readonly input: DriftInput;
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly #texts = new Map<string, ManifestText>();
  /** Declarations of each file, in the order of its text. */
  readonly #declarations = new Map<string, readonly { readonly address: Address; readonly offset: number }[]>();
  readonly #declaredIn: ReadonlyMap<string, readonly Declared[]>;
  readonly #siblings: ReadonlyMap<Address, readonly Address[]>;
  readonly #siblingsBefore: ReadonlyMap<Address, readonly Address[]>;
  /** Kinds of existing resources that are not declared, each with the id of what contains it: `team null`. */
  readonly undeclared: ReadonlySet<string>;
  /** The mapping that would declare each resource in its current state. */
  readonly described: ReadonlyMap<Actual, Readonly<Record<string, unknown>>>;

  constructor(input: DriftInput) {
    this.input = input;
    this.kinds = new Map(input.kinds.map((kind) => [kind.name, kind]));
    this.#declaredIn = Map.groupBy(input.declared.values(), ({ source }) => source.file);
    this.#siblings = siblingsByList(input.declared.values());
    this.#siblingsBefore = siblingsByList(input.base?.values() ?? []);
    const known = new Set(input.bound.values());
    const others = [...input.observation.kinds.values()].flatMap((all) => all.filter((each) => !known.has(each)));
    this.undeclared = new Set(others.map(({ kind, within }) => `${kind} ${within}`));
    this.described = describeBound(input);
  }

  textOf(file: string): ManifestText {
    const known = this.#texts.get(file) ?? new ManifestText(this.input.manifests.get(file) ?? '');
    this.#texts.set(file, known);
    return known;
  }

  /** Returns the resources that are declared in a part of a file. */
  declaredWithin(file: string, from: number, to: number): readonly Address[] {
    const declarations =
      this.#declarations.get(file) ??
      (this.#declaredIn.get(file) ?? [])
        .map(({ address, source }) => ({ address, offset: this.textOf(file).offsetAt(source) }))
        .sort((a, b) => a.offset - b.offset);
    this.#declarations.set(file, declarations);
    const [start, end] = [from, to].map((limit) => lastAtMost(declarations, limit - 1, ({ offset }) => offset) + 1);
    return declarations.slice(start, end).map(({ address }) => address);
  }

  /** Returns the items of a list in the declared order. */
  siblingsOf(list: Address): readonly Address[] {
    return this.#siblings.get(list) ?? [];
  }

  /**
   * Returns true if a commit has changed the order of a list since it was applied, so that the difference is not drift.
   */
  isOrderedByCommit(list: Address): boolean {
    const { base, declared } = this.input;
    if (base === null) {
      return false;
    }
    const now = this.siblingsOf(list).filter((address) => base.get(address)?.place?.list === list);
    const before = (this.#siblingsBefore.get(list) ?? []).filter(
      (address) => declared.get(address)?.place?.list === list,
    );
    return !sameJson([...now], [...before]);
  }

  /** Returns true if a field differs from the base, because a commit is about to change it; false for an unknown field. */
  isChangedByCommit({ address, kind }: Change, field: string): boolean {
    const rules = this.kinds.get(kind)?.fields[field];
    const declared = this.input.declared.get(address)?.fields[field] ?? null;
    const applied = this.input.base?.get(address)?.fields[field];
    return rules !== undefined && rules.compare !== 'base' && !sameJson(applied, normalizeValue(rules, declared));
  }
}

function siblingsByList(all: Iterable<Pick<BaseEntry, 'address' | 'place'>>): ReadonlyMap<Address, readonly Address[]> {
  const lists = Map.groupBy(all, ({ place }) => place?.list);
  return new Map(
    [...lists].flatMap(([list, items]) => {
      const ordered = items.toSorted((a, b) => (a.place?.index ?? 0) - (b.place?.index ?? 0));
      return list === undefined ? [] : [[list, ordered.map(({ address }) => address)] as const];
    }),
  );
}

function describeBound({
  kinds,
  bound,
  observation,
}: DriftInput): ReadonlyMap<Actual, Readonly<Record<string, unknown>>> {
  const full = new Map([...bound].map(([address, actual]) => [actual, keyOf(address)]));
  const { resources } = makeDraft({
    kinds,
    state: new ActualState(observation),
    chosen: new Set(bound.values()),
    keys: { full, notes: new Map() },
    decisions: new Decisions(),
    includeDefaults: true,
    freePath: (path) => path,
  });
  return new Map([...resources].map(([mapping, actual]) => [actual, mapping as Readonly<Record<string, unknown>>]));
}

/** Reasons why a field cannot be written. */
const UNWRITABLE = 'cannot be changed without changing something else; edit it manually';

const UNDECLARED = 'refers to a resource that no manifest declares; import that first';

const UNDECLARABLE = 'has a value that a manifest cannot declare';

const SECRET = 'holds a URL with a password or a token, which do not belong in a repository';

/** Reasons why a resource cannot be removed or moved. */
const UNREMOVABLE = 'is gone and cannot be removed without changing something else; remove it manually';

const UNMOVABLE = 'has another place in its list, and cannot be moved in the text; move it manually';

/** Finds what drifted, and the texts that declare it, with the wanted edits made; others are reported as left. */
function collectDrift(context: DriftContext, isWanted: (edit: string) => boolean): Drift {
  const finder = new DriftFinder(context, isWanted);
  // Parents are removed first, together with their children.
  const inTextOrder = (a: Change, b: Change) =>
    (a.source?.line ?? 0) - (b.source?.line ?? 0) || (a.source?.column ?? 0) - (b.source?.column ?? 0);
  for (const change of context.input.changes.toSorted(inTextOrder)) {
    finder.add(change);
  }
  const { fields, places, omitted, texts } = finder;
  return { fields, places, omitted, texts };
}

class DriftFinder {
  readonly fields: DriftedField[] = [];
  readonly places: DriftedPlace[] = [];
  readonly omitted: { address: Address; reason: string }[] = [];
  readonly #context: DriftContext;
  readonly #isWanted: (edit: string) => boolean;
  readonly #edits = new Map<string, Edit[]>();
  /** Last part that was removed from each file; line numbers only grow. */
  readonly #removed = new Map<string, Edit & { readonly name: string }>();
  /** True if the order of a list will be correct after all edits, by the parent of the list. */
  readonly #ordered = new Map<Address, boolean>();
  readonly #orders = new Map<string, Reordering[]>();
  readonly #files = new Map<string, string>();

  constructor(context: DriftContext, isWanted: (edit: string) => boolean) {
    this.#context = context;
    this.#isWanted = isWanted;
  }

  get texts(): ReadonlyMap<string, string> {
    const edited = [...new Set([...this.#edits.keys(), ...this.#orders.keys()])].map((path) => {
      const [edits = [], orders = []] = [this.#edits.get(path), this.#orders.get(path)];
      return [path, applyEdits(this.#context.textOf(path).text, edits, orders)] as const;
    });
    return new Map([...this.#files, ...edited]);
  }

  add(change: Change): void {
    const { address, action, source } = change;
    const actual = this.#context.input.bound.get(address);
    if (action === 'create' && source !== null) {
      this.#gone(change, source);
    }
    if (actual === undefined || source === null || (action !== 'update' && action !== 'move')) {
      return;
    }
    if (change.anchor !== null) {
      this.#order(change, source);
    }
    for (const { path, from, to } of change.fields) {
      if (this.#isDrift(change, path)) {
        this.#write(change, actual, path, { from: to, to: from });
      }
    }
  }

  #gone(change: Change, source: Source): void {
    const { address, place } = change;
    const { file, line } = source;
    const manifest = this.#context.textOf(file);
    const offset = manifest.offsetAt(source);
    const found = { action: 'delete', address, list: place?.list ?? null, file, line } as const;
    const outer = this.#removed.get(file);
    if (outer !== undefined && outer.from < offset && offset < outer.to) {
      this.places.push({ ...found, edit: outer.name });
      return;
    }
    const name = `delete ${address}`;
    const reason = reasonToKeep(change, this.#context);
    const edit = reason === null && this.#isWanted(name) ? removalAt(manifest, offset) : null;
    // A part with a resource that still exists was moved out on the platform.
    const contents = edit === null ? [] : this.#context.declaredWithin(file, edit.from, edit.to);
    const containsExisting = contents.some((each) => this.#context.input.bound.has(each));
    if (edit === null || containsExisting || (outer !== undefined && overlaps(edit, outer))) {
      this.omitted.push({ address, reason: reason ?? UNREMOVABLE });
      return;
    }
    this.#addEdits(file, [edit]);
    this.#removed.set(file, { ...edit, name });
    this.places.push({ ...found, edit: name });
  }

  #addEdits(file: string, edits: readonly Edit[]): void {
    const all = this.#edits.get(file) ?? [];
    append(all, edits);
    this.#edits.set(file, all);
  }

  /** Orders a whole list as on the platform, once, and reports each item that cannot be moved. */
  #order({ address, place }: Change, source: Source): void {
    const list = place?.list ?? '';
    const isWritten = this.#ordered.get(list) ?? this.#writeOrder(list, source);
    this.#ordered.set(list, isWritten);
    if (!isWritten) {
      this.omitted.push({ address, reason: UNMOVABLE });
    }
  }

  /** Returns false if the order differs and cannot be written. */
  #writeOrder(list: Address, { file }: Source): boolean {
    if (this.#context.isOrderedByCommit(list)) {
      return true;
    }
    const edit = `order ${list}`;
    const { moved, order } = orderOf(file, list, this.#context);
    if (moved.length === 0) {
      return true;
    }
    if (order === null || !this.#isWanted(edit)) {
      return false;
    }
    this.#orders.set(file, [...(this.#orders.get(file) ?? []), order]);
    for (const each of moved) {
      const line = this.#context.input.declared.get(each)?.source.line ?? 0;
      this.places.push({ action: 'move', address: each, list, file, line, edit });
    }
    return true;
  }

  /** Returns false for a field that a commit is about to change, and for one that cannot be compared. */
  #isDrift(change: Change, field: string): boolean {
    const { base } = this.#context.input;
    const rules = this.#context.kinds.get(change.kind)?.fields[field];
    const isKnown = base === null || (base.has(change.address) && !this.#context.isChangedByCommit(change, field));
    return rules !== undefined && rules.compare !== 'base' && isKnown;
  }

  #write(
    change: Change,
    actual: Actual,
    field: string,
    values: { from: Json | undefined; to: Json | undefined },
  ): void {
    const { address } = change;
    const { file, line, column } = change.source ?? { file: '', line: 0, column: 0 };
    const written = this.#context.kinds.get(change.kind)?.fields[field]?.manifestName ?? field;
    // A field of a group is a member of the mapping that has the group's name.
    const path = written.split('.');
    const edit = `${address} ${field}`;
    const found = this.#valueOf(change, actual, field, path);
    const isSecret = hasUrlSecrets(found) || hasUrlSecrets(actual.fields[field]);
    const value = isSecret ? undefined : found;
    const manifest = this.#context.textOf(file);
    const mapping = manifest.mappingAt(manifest.offsetAt({ line, column }));
    const patch =
      mapping === null || value === undefined || !this.#isWanted(edit)
        ? null
        : patchMember(manifest.text, mapping, path, value);
    if (patch === null) {
      const isLost = value === undefined && isIdRef(actual.fields[field]);
      const reason = isLost ? UNDECLARED : isSecret ? SECRET : value === undefined ? UNDECLARABLE : UNWRITABLE;
      this.omitted.push({ address, reason: `${field} ${reason}` });
      return;
    }
    if (patch.file === null) {
      this.#addEdits(file, patch.edits);
    } else {
      this.#files.set(posix.join(posix.dirname(file), patch.file.name), patch.file.text);
    }
    this.fields.push({ edit, address, field, file, line, ...values });
  }

  /** Returns the value that declares a field as it is now; undefined if a manifest cannot declare it. */
  #valueOf(change: Change, actual: Actual, field: string, path: readonly string[]): unknown {
    const described = this.#context.described.get(actual);
    if (described === undefined) {
      return undefined;
    }
    const value = path.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), described);
    const rules = this.#context.kinds.get(change.kind)?.fields[field];
    if (rules?.part !== undefined) {
      const declared = this.#context.input.declared.get(change.address)?.fields[field] ?? null;
      return rules.part(declared, actual.fields[field] ?? null).actual;
    }
    if (rules?.keepsOthers !== undefined) {
      return this.#members(change, field, isObject(value) ? value : {});
    }
    const now = actual.fields[field] ?? null;
    return value ?? (isIdRef(now) || path.join('.') !== field ? undefined : now);
  }

  /** Keeps people who are declared and have not joined; leaves others out where they are not declared, but may be there. */
  #members({ address, kind }: Change, field: string, now: Record<string, unknown>): Record<string, unknown> {
    const { declared: all, observation } = this.#context.input;
    const rules = this.#context.kinds.get(kind)?.fields[field];
    const declared = all.get(address)?.fields ?? {};
    const isOfPeople = rules?.shape === 'people';
    const before = Object.entries(normalizeValue(rules, declared[field] ?? {}) ?? {});
    const written = new Set(before.map(([name]) => (isOfPeople ? name : keyOf(name))));
    const isKept = ([name]: [string, unknown]) => rules?.keepsOthers?.(declared) !== true || written.has(name);
    const pending = before.filter(([email]) => isOfPeople && !observation.people.has(email));
    return Object.fromEntries([...Object.entries(now).filter(isKept), ...pending]);
  }
}

/**
 * Returns why a declared resource that does not exist stays in the manifests. Null if it was deleted: it was applied as
 * declared, and no existing resource of its kind could be the same one under another name.
 */
function reasonToKeep(change: Change, context: DriftContext): string | null {
  const { address, kind, isReplacement, within, place } = change;
  const { base, declared, bound } = context.input;
  if (base === null || isReplacement) {
    return 'is declared but does not exist, or has another name now';
  }
  const missing = [place?.list ?? null, within].find((holder) => holder !== null && !bound.has(holder));
  if (missing !== undefined) {
    return `is part of ${missing}, which was not found`;
  }
  if (!base.has(address)) {
    return 'is declared, and was never applied';
  }
  const fields = Object.keys(declared.get(address)?.fields ?? {});
  if (fields.some((field) => context.isChangedByCommit(change, field))) {
    return 'is gone, and a commit is about to change it';
  }
  const holder = within === null ? null : (bound.get(within)?.id ?? '');
  const isAmbiguous = context.undeclared.has(`${kind} ${holder}`);
  return isAmbiguous ? 'is gone, or has the name of something that no manifest declares' : null;
}

/**
 * Compares the order of a list in a file with that on the platform. Items that do not exist on the platform keep their
 * neighbors.
 */
function orderOf(
  file: string,
  list: Address,
  context: DriftContext,
): {
  /** Smallest set of items that have to move. */
  readonly moved: readonly Address[];
  /** New order of their texts; null if these cannot be moved. */
  readonly order: Reordering | null;
} {
  const { bound } = context.input;
  const siblings = context.siblingsOf(list);
  const holder = bound.get(list)?.id;
  const indexOf = (address: Address) => {
    const place = bound.get(address)?.place;
    return place?.list === holder ? place?.index : undefined;
  };
  const order = mergeOrder(siblings.map(indexOf));
  const wanted = order.map((index) => siblings[index] ?? '');
  const moved = repositionings(wanted, siblings).map(({ address }) => address);
  const pieces = moved.length === 0 ? null : itemsOf(file, siblings, context);
  return { moved, order: pieces === null ? null : { pieces, order } };
}

/** Returns the text of each item of a list; null if they cannot be separated. */
function itemsOf(file: string, siblings: readonly Address[], context: DriftContext): readonly Span[] | null {
  const manifest = context.textOf(file);
  const offsets = siblings.map((address) => {
    return manifest.offsetAt(context.input.declared.get(address)?.source ?? { line: 0, column: 0 });
  });
  const list = manifest.itemAt(offsets[0] ?? -1)?.holder;
  const isWhole =
    list !== undefined &&
    list.items.length === siblings.length &&
    list.items.every(({ range }, index) => range[0] === offsets[index]);
  return isWhole ? itemSpans(manifest.text, list) : null;
}

/**
 * Merges items: those with a place in the order of their places, each followed by the items after it that have none.
 */
function mergeOrder(places: readonly (number | undefined)[]): readonly number[] {
  const first: number[] = [];
  const groups: { readonly place: number; readonly indexes: number[] }[] = [];
  for (const [index, place] of places.entries()) {
    if (place !== undefined) {
      groups.push({ place, indexes: [index] });
    } else {
      (groups.at(-1)?.indexes ?? first).push(index);
    }
  }
  return [...first, ...groups.toSorted((a, b) => a.place - b.place).flatMap(({ indexes }) => indexes)];
}
