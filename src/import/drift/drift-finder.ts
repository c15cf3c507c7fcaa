/** Finds the edits that make manifests declare what drifted. */

import { posix } from 'node:path';
import type { Address } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import { isObject, type Json, sameJson } from '../../core/json.ts';
import { append } from '../../core/lists.ts';
import { type Actual, isIdRef, type Source } from '../../core/resource.ts';
import { hasUrlSecrets } from '../../core/text/safe-url.ts';
import { normalizeValue } from '../../plan/model/diff.ts';
import { type Edit, type Patch, patchMember } from '../text/patch.ts';
import { applyEdits, overlaps, type Reordering, removalAt } from '../text/spans.ts';
import type { DriftContext } from './drift-context.ts';
import type { Drift, DriftedField, DriftedPlace, EditSelection } from './drifted.ts';
import { orderOf, reasonToKeep } from './drifted-places.ts';

/** Reasons why a field cannot be written. */
const UNWRITABLE = 'cannot be changed without changing something else; edit it manually';
const UNDECLARED = 'refers to a resource that no manifest declares; import that first';
const UNDECLARABLE = 'has a value that a manifest cannot declare';
const SECRET = 'holds a URL with a password or a token, which do not belong in a repository';
/** Reasons why a resource cannot be removed or moved. */
const UNREMOVABLE = 'is gone and cannot be removed without changing something else; remove it manually';
const UNMOVABLE = 'has another place in its list, and cannot be moved in the text; move it manually';

/** Finds what drifted, and the texts that declare it, with a selection of the edits made. */
export function collectDrift(context: DriftContext, selection: EditSelection): Drift {
  const finder = new DriftFinder(context, selection);
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
  readonly #selection: EditSelection;
  readonly #edits = new Map<string, Edit[]>();
  /** Last part that was removed from each file; line numbers only grow. */
  readonly #removed = new Map<string, Edit & { readonly name: string }>();
  /** True if the order of a list will be correct after all edits, by the parent of the list. */
  readonly #ordered = new Map<Address, boolean>();
  readonly #orders = new Map<string, Reordering[]>();
  readonly #files = new Map<string, string>();

  constructor(context: DriftContext, selection: EditSelection) {
    this.#context = context;
    this.#selection = selection;
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
    if (edit === null || this.#containsExisting(file, edit) || this.#overlapsLast(file, edit)) {
      this.omitted.push({ address, reason: reason ?? UNREMOVABLE });
      return;
    }
    this.#addEdits(file, [edit]);
    this.#removed.set(file, { ...edit, name });
    this.places.push({ ...found, edit: name });
  }

  /** Returns true if a part declares a resource that still exists: it was moved out on the platform. */
  #containsExisting(file: string, { from, to }: Edit): boolean {
    const { bound } = this.#context.input;
    return this.#context.declaredWithin(file, from, to).some((address) => bound.has(address));
  }

  #overlapsLast(file: string, edit: Edit): boolean {
    const last = this.#removed.get(file);
    return last !== undefined && overlaps(edit, last);
  }

  #addEdits(file: string, edits: readonly Edit[]): void {
    const all = this.#edits.get(file) ?? [];
    append(all, edits);
    this.#edits.set(file, all);
  }

  #isWanted(edit: string): boolean {
    const { rejected, only } = this.#selection;
    return !rejected.has(edit) && (only === null || only.has(edit));
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

  /** Returns false for a field that differs from the base: a commit is about to change it. */
  #isDrift({ address, kind }: Change, field: string): boolean {
    const rules = this.#context.kinds.get(kind)?.fields[field];
    const entry = this.#context.input.base?.get(address);
    const declared = this.#context.input.declared.get(address)?.fields[field];
    if (rules === undefined || rules.compare === 'base') {
      return false;
    }
    return entry === undefined
      ? this.#context.input.base === null
      : sameJson(entry.fields[field], normalizeValue(rules, declared ?? null));
  }

  #write(
    change: Change,
    actual: Actual,
    field: string,
    values: { from: Json | undefined; to: Json | undefined },
  ): void {
    const { address } = change;
    const { file, line, column } = change.source ?? { file: '', line: 0, column: 0 };
    const member = this.#context.kinds.get(change.kind)?.fields[field]?.manifestName ?? field;
    const edit = `${address} ${field}`;
    const found = this.#valueOf(change, actual, field, member);
    const isSecret = hasUrlSecrets(found) || hasUrlSecrets(actual.fields[field]);
    const value = isSecret ? undefined : found;
    const manifest = this.#context.textOf(file);
    const mapping = manifest.mappingAt(manifest.offsetAt({ line, column }));
    const patch =
      mapping === null || value === undefined || !this.#isWanted(edit)
        ? null
        : patchMember(manifest.text, mapping, member, value);
    if (patch === null) {
      const isLost = value === undefined && isIdRef(actual.fields[field]);
      const reason = isLost ? UNDECLARED : isSecret ? SECRET : value === undefined ? UNDECLARABLE : UNWRITABLE;
      this.omitted.push({ address, reason: `${field} ${reason}` });
      return;
    }
    this.#keep(file, patch);
    this.fields.push({ edit, address, field, file, line, ...values });
  }

  #keep(file: string, patch: Patch): void {
    if (patch.file === null) {
      this.#addEdits(file, patch.edits);
    } else {
      this.#files.set(posix.join(posix.dirname(file), patch.file.name), patch.file.text);
    }
  }

  /** Returns the value that declares a field as it is now; undefined if a manifest cannot declare it. */
  #valueOf(change: Change, actual: Actual, field: string, member: string): unknown {
    const described = this.#context.describe(actual);
    if (described === undefined) {
      return undefined;
    }
    const value = described[member];
    if (this.#context.kinds.get(change.kind)?.fields[field]?.shape === 'people' && isObject(value)) {
      return this.#people(change, value);
    }
    const now = actual.fields[field] ?? null;
    return value ?? (isIdRef(now) || member !== field ? undefined : now);
  }

  /** Keeps people who are declared and have not joined; leaves others out of an additive membership. */
  #people({ address }: Change, now: Record<string, unknown>): Record<string, unknown> {
    const declared = this.#context.input.declared.get(address)?.fields ?? {};
    const before = isObject(declared.members) ? (declared.members as Record<string, unknown>) : {};
    const pending = Object.entries(before).filter(([email]) => !this.#context.input.observation.people.has(email));
    const there = Object.entries(now).filter(([email]) => declared.membership !== 'additive' || email in before);
    return Object.fromEntries([...there, ...pending]);
  }
}
