import { posix } from 'node:path';
import { type ParsedNode, parseAllDocuments } from 'yaml';
import { type Address, keyOf } from '../core/address.ts';
import { type Change, changeId } from '../core/change.ts';
import { DesiredStateError } from '../core/errors.ts';
import { isObject, type Json, sameJson } from '../core/json.ts';
import { type Actual, type Base, type Declared, isIdRef, type Observation } from '../core/resource.ts';
import type { Kind } from '../kinds/kind.ts';
import { keptValue } from '../plan/diff.ts';
import { ActualState } from './actual-state.ts';
import { Decisions } from './decisions.ts';
import { type Draft, makeDraft } from './draft.ts';
import { type Edit, mappingAt, type Patch, patchMember, withEdits } from './patch.ts';

/** A field as the platform has it now, written where the manifests say something else. */
export interface DriftedField {
  readonly address: Address;
  readonly field: string;
  readonly file: string;
  readonly line: number;
  readonly from: Json | undefined;
  readonly to: Json | undefined;
}

export interface Drift {
  readonly fields: readonly DriftedField[];
  /** The files that say so, by path. */
  readonly texts: ReadonlyMap<string, string>;
  /** What cannot be written, with the reason. */
  readonly left: readonly { readonly address: Address; readonly reason: string }[];
}

export interface DriftInput {
  /** Fields that turned out not to be writable, as `address field`. */
  readonly skip?: ReadonlySet<string>;
  readonly kinds: readonly Kind[];
  readonly changes: readonly Change[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly bound: ReadonlyMap<Address, Actual>;
  readonly base: Base;
  readonly observation: Observation;
  /** The texts of the manifests, by the path that sources name. */
  readonly manifests: ReadonlyMap<string, string>;
}

/** Why a field cannot be written. */
const UNWRITABLE = 'is written in a way that cannot be changed by itself; change it by hand';
const UNDECLARED = 'refers to what no manifest declares; import that first';
const UNSAYABLE = 'is something that no manifest can say';

/**
 * Finds how manifests come to say what was changed behind their back, and plans once more over that: what would still
 * be changed, or would change something else, is left as it is. `replan` gives the changes of a plan over these texts.
 */
export async function settledDrift(
  input: DriftInput,
  replan: (texts: ReadonlyMap<string, string>) => Promise<readonly Change[]>,
): Promise<Drift> {
  const skip = new Set<string>();
  for (;;) {
    const drift = driftOf({ ...input, skip });
    if (drift.fields.length === 0) {
      return drift;
    }
    const failed = failedOf(drift, input.changes, await replan(drift.texts).catch(problemFiles));
    if (failed.length === 0) {
      return drift;
    }
    for (const { address, field } of failed) {
      skip.add(`${address} ${field}`);
    }
  }
}

/** The files that cannot be read any more. */
function problemFiles(error: unknown): ReadonlySet<string> {
  if (error instanceof DesiredStateError) {
    return new Set(error.problems.map(({ file }) => file));
  }
  throw error;
}

/** The fields that were written in vain, or to the harm of others. */
function failedOf(
  { fields }: Drift,
  before: readonly Change[],
  after: readonly Change[] | ReadonlySet<string>,
): readonly DriftedField[] {
  if (!Array.isArray(after)) {
    const files = after as ReadonlySet<string>;
    const inFiles = fields.filter(({ file }) => files.has(file));
    return inFiles.length > 0 ? inFiles : fields;
  }
  const changes = after as readonly Change[];
  const known = new Set(before.map(changeId));
  if (changes.some((change) => !known.has(changeId(change)))) {
    return fields;
  }
  const open = new Set(changes.flatMap(({ address, fields: of }) => of.map(({ path }) => `${address} ${path}`)));
  return fields.filter(({ address, field }) => open.has(`${address} ${field}`));
}

function driftOf(input: DriftInput): Drift {
  const finder = new DriftFinder(input);
  for (const change of input.changes) {
    finder.look(change);
  }
  return finder;
}

class DriftFinder implements Drift {
  readonly fields: DriftedField[] = [];
  readonly left: { address: Address; reason: string }[] = [];
  readonly #input: DriftInput;
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #edits = new Map<string, Edit[]>();
  readonly #files = new Map<string, string>();
  readonly #described: ReadonlyMap<Actual, object>;

  constructor(input: DriftInput) {
    this.#input = input;
    this.#kinds = new Map(input.kinds.map((kind) => [kind.name, kind]));
    const { resources } = describeBound(input);
    this.#described = new Map([...resources].map(([mapping, actual]) => [actual, mapping]));
  }

  get texts(): ReadonlyMap<string, string> {
    const edited = [...this.#edits].map(([path, edits]) => {
      return [path, withEdits(this.#input.manifests.get(path) ?? '', edits)] as const;
    });
    return new Map([...this.#files, ...edited]);
  }

  look(change: Change): void {
    const { address, action, source } = change;
    const actual = this.#input.bound.get(address);
    if (action === 'create' && source !== null) {
      this.left.push({ address, reason: 'is declared and not there, or has another name now' });
    }
    if (actual === undefined || source === null || (action !== 'update' && action !== 'move')) {
      return;
    }
    if (change.anchor !== null) {
      this.left.push({ address, reason: 'stands in another place; the order of a structure is changed by hand' });
    }
    for (const { path, from, to } of change.fields) {
      if (this.#isDrift(change, path)) {
        this.#write(change, actual, path, { from: to, to: from });
      }
    }
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

function offsetAt(text: string, line: number, column: number): number {
  let start = text.startsWith('\ufeff') ? 1 : 0;
  for (let at = 1; at < line; at += 1) {
    start = text.indexOf('\n', start) + 1;
  }
  return start + column - 1;
}
