import { posix } from 'node:path';
import { type ParsedNode, parseAllDocuments } from 'yaml';
import { type Address, keyOf } from '../core/address.ts';
import type { Change } from '../core/change.ts';
import { isObject, type Json, sameJson } from '../core/json.ts';
import { type Actual, isIdRef, type Source } from '../core/resource.ts';
import type { Kind } from '../kinds/kind.ts';
import { keptValue } from '../plan/diff.ts';
import { ActualState } from './actual-state.ts';
import { Decisions } from './decisions.ts';
import { type Draft, makeDraft } from './draft.ts';
import type { Drift, DriftedField, DriftedPlace, DriftInput } from './drifted.ts';
import { isOrderedByCommit, offsetAt, orderOf, removalIn, whyNotGone } from './drifted-places.ts';
import { type Edit, mappingAt, type Patch, patchMember } from './patch.ts';
import { arranged, type Order, overlaps } from './spans.ts';

/** Why a field cannot be written. */
const UNWRITABLE = 'is written in a way that cannot be changed by itself; change it by hand';
const UNDECLARED = 'refers to what no manifest declares; import that first';
const UNSAYABLE = 'is something that no manifest can say';

/** What drifted, and the texts that say so; what cannot be written is told. */
export function driftOf(input: DriftInput): Drift {
  const finder = new DriftFinder(input);
  // What lies inside of something else goes with it, so that comes first.
  const line = ({ source }: Change) => source?.line ?? 0;
  for (const change of input.changes.toSorted((a, b) => line(a) - line(b))) {
    finder.look(change);
  }
  return finder;
}

class DriftFinder implements Drift {
  readonly fields: DriftedField[] = [];
  readonly places: DriftedPlace[] = [];
  readonly left: { address: Address; reason: string }[] = [];
  readonly #input: DriftInput;
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #edits = new Map<string, Edit[]>();
  readonly #removed = new Map<string, Edit[]>();
  /** By what holds the list. */
  readonly #ordered = new Map<Address, Order>();
  readonly #orders = new Map<string, Order[]>();
  readonly #files = new Map<string, string>();
  readonly #described: ReadonlyMap<Actual, object>;

  constructor(input: DriftInput) {
    this.#input = input;
    this.#kinds = new Map(input.kinds.map((kind) => [kind.name, kind]));
    const { resources } = describeBound(input);
    this.#described = new Map([...resources].map(([mapping, actual]) => [actual, mapping]));
  }

  get texts(): ReadonlyMap<string, string> {
    const edited = [...new Set([...this.#edits.keys(), ...this.#orders.keys()])].map((path) => {
      const [edits = [], orders = []] = [this.#edits.get(path), this.#orders.get(path)];
      return [path, arranged(this.#input.manifests.get(path) ?? '', edits, orders)] as const;
    });
    return new Map([...this.#files, ...edited]);
  }

  look(change: Change): void {
    const { address, action, source } = change;
    const actual = this.#input.bound.get(address);
    if (action === 'create' && source !== null) {
      this.#gone(change, source);
    }
    if (actual === undefined || source === null || (action !== 'update' && action !== 'move')) {
      return;
    }
    if (change.anchor !== null) {
      this.#move(change, source);
    }
    for (const { path, from, to } of change.fields) {
      if (this.#isDrift(change, path)) {
        this.#write(change, actual, path, { from: to, to: from });
      }
    }
  }

  #gone(change: Change, { file, line, column }: Source): void {
    const { address } = change;
    const reason = whyNotGone(change, this.#input);
    const text = this.#input.manifests.get(file) ?? '';
    const isSkipped = this.#input.skip?.has(`delete ${address}`) === true;
    const taken = this.#edits.get(file) ?? [];
    const offset = offsetAt(text, line, column);
    if (this.#removed.get(file)?.some(({ from, to }) => from < offset && offset < to) === true) {
      this.places.push({ action: 'delete', address, file, line });
      return;
    }
    const edit = reason !== null || isSkipped ? null : removalIn(text, offset);
    if (edit === null || taken.some((other) => overlaps(edit, other))) {
      this.left.push({ address, reason: reason ?? 'is gone, and cannot be taken out by itself; take it out by hand' });
      return;
    }
    this.#edits.set(file, [...taken, edit]);
    this.#removed.set(file, [...(this.#removed.get(file) ?? []), edit]);
    this.places.push({ action: 'delete', address, file, line });
  }

  #move({ address, place }: Change, { file, line }: Source): void {
    const text = this.#input.manifests.get(file) ?? '';
    const list = place?.list ?? '';
    if (isOrderedByCommit(list, this.#input)) {
      return;
    }
    const isSkipped = this.#input.skip?.has(`move ${address}`) === true;
    const order = isSkipped ? null : (this.#ordered.get(list) ?? orderOf(text, list, this.#input));
    if (order === null) {
      this.left.push({ address, reason: 'stands in another place, and cannot be put there by itself; do it by hand' });
      return;
    }
    if (!this.#ordered.has(list)) {
      this.#ordered.set(list, order);
      this.#orders.set(file, [...(this.#orders.get(file) ?? []), order]);
    }
    this.places.push({ action: 'move', address, file, line });
  }

  /** A field that the base says otherwise is what a commit is about to change. */
  #isDrift({ address, kind }: Change, field: string): boolean {
    const rules = this.#kinds.get(kind)?.fields[field];
    const entry = this.#input.base?.get(address);
    const declared = this.#input.declared.get(address)?.fields[field];
    if (rules === undefined || rules.compare === 'base') {
      return false;
    }
    return entry === undefined
      ? this.#input.base === null
      : sameJson(entry.fields[field], keptValue(rules, declared ?? null));
  }

  #write(
    change: Change,
    actual: Actual,
    field: string,
    values: { from: Json | undefined; to: Json | undefined },
  ): void {
    const { address } = change;
    const { file, line, column } = change.source ?? { file: '', line: 0, column: 0 };
    const text = this.#input.manifests.get(file) ?? '';
    const offset = offsetAt(text, line, column);
    const member = this.#kinds.get(change.kind)?.fields[field]?.writtenAs ?? field;
    const isSkipped = this.#input.skip?.has(`${address} ${field}`) === true;
    const value = this.#valueOf(change, actual, field, member);
    const mapping = parseAllDocuments(text, { logLevel: 'silent', stringKeys: true, prettyErrors: false })
      .map(({ contents }) => mappingAt(contents as ParsedNode | null, offset))
      .find((found) => found !== null);
    const patch =
      mapping === undefined || value === undefined || isSkipped ? null : patchMember(text, mapping, member, value);
    if (patch === null) {
      const isLost = value === undefined && isIdRef(actual.fields[field]);
      const reason = isLost ? UNDECLARED : value === undefined ? UNSAYABLE : UNWRITABLE;
      this.left.push({ address, reason: `${field} ${reason}` });
      return;
    }
    this.#keep(file, patch);
    this.fields.push({ address, field, file, line, ...values });
  }

  #keep(file: string, patch: Patch): void {
    if (patch.file === null) {
      this.#edits.set(file, [...(this.#edits.get(file) ?? []), ...patch.edits]);
    } else {
      this.#files.set(posix.join(posix.dirname(file), patch.file.name), patch.file.text);
    }
  }

  /** What a manifest says of a field as it is now; undefined where none can. */
  #valueOf(change: Change, actual: Actual, field: string, member: string): unknown {
    const described = this.#described.get(actual) as Readonly<Record<string, unknown>> | undefined;
    if (described === undefined) {
      return undefined;
    }
    const value = described[member];
    if (this.#kinds.get(change.kind)?.fields[field]?.shape === 'people' && isObject(value)) {
      return this.#people(change, value);
    }
    const now = actual.fields[field] ?? null;
    return value ?? (isIdRef(now) || member !== field ? undefined : now);
  }

  /** Who is declared and has not joined stays declared; of an additive membership, others stay out. */
  #people({ address }: Change, now: Record<string, unknown>): Record<string, unknown> {
    const declared = this.#input.declared.get(address)?.fields ?? {};
    const before = isObject(declared.members) ? (declared.members as Record<string, unknown>) : {};
    const pending = Object.entries(before).filter(([email]) => !this.#input.observation.people.has(email));
    const there = Object.entries(now).filter(([email]) => declared.membership !== 'additive' || email in before);
    return Object.fromEntries([...there, ...pending]);
  }
}

/** Every declared resource as it is now. */
function describeBound({ kinds, bound, observation }: DriftInput): Draft {
  const whole = new Map([...bound].map(([address, actual]) => [actual, keyOf(address)]));
  return makeDraft({
    kinds,
    state: new ActualState(observation),
    chosen: new Set(bound.values()),
    keys: { whole, notes: new Map() },
    decisions: new Decisions(),
    whole: true,
    freePath: (path) => path,
  });
}
