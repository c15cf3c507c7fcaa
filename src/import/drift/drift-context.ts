/** Lookups for finding drift, in constant time per change. */
import type { Address } from '../../core/address.ts';
import { keyOf } from '../../core/address.ts';
import { sameJson } from '../../core/json.ts';
import type { Actual, Declared } from '../../core/resource.ts';
import type { Kind } from '../../kinds/model/kind.ts';
import { makeDraft } from '../draft/draft.ts';
import { ActualState } from '../model/actual-state.ts';
import { Decisions } from '../model/decisions.ts';
import { DeclaredPlaces, ManifestText } from '../text/manifest-text.ts';
import type { DriftInput } from './drifted.ts';

/** Built once for all attempts to write the drift of one plan. */
export class DriftContext {
  readonly input: DriftInput;
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly #texts = new Map<string, ManifestText>();
  readonly #places = new Map<string, DeclaredPlaces>();
  readonly #declaredIn: ReadonlyMap<string, readonly Declared[]>;
  readonly #siblings: ReadonlyMap<Address, readonly Address[]>;
  readonly #siblingsBefore: ReadonlyMap<Address, readonly Address[]>;
  /** `kind holder` of existing resources that are not declared. */
  readonly #undeclared: ReadonlySet<string>;
  readonly #described: ReadonlyMap<Actual, Readonly<Record<string, unknown>>>;

  constructor(input: DriftInput) {
    this.input = input;
    this.kinds = new Map(input.kinds.map((kind) => [kind.name, kind]));
    this.#declaredIn = Map.groupBy(input.declared.values(), ({ source }) => source.file);
    this.#siblings = siblingsByList(input.declared.values());
    this.#siblingsBefore = siblingsByList(input.base?.values() ?? []);
    const known = new Set(input.bound.values());
    const others = [...input.observation.kinds.values()].flatMap((all) => all.filter((each) => !known.has(each)));
    this.#undeclared = new Set(others.map(({ kind, within }) => `${kind} ${within}`));
    this.#described = describeBound(input);
  }

  textOf(file: string): ManifestText {
    const known = this.#texts.get(file) ?? new ManifestText(this.input.manifests.get(file) ?? '');
    this.#texts.set(file, known);
    return known;
  }

  /** Returns the resources that are declared in a part of a file. */
  declaredWithin(file: string, from: number, to: number): readonly Address[] {
    const known = this.#places.get(file) ?? new DeclaredPlaces(this.textOf(file), this.#declaredIn.get(file) ?? []);
    this.#places.set(file, known);
    return known.within(from, to);
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

  /** Returns true if an undeclared resource of a kind exists in the resource with this id (null: in none). */
  hasUndeclared(kind: string, holder: string | null): boolean {
    return this.#undeclared.has(`${kind} ${holder}`);
  }

  /** Returns the mapping that would declare a resource in its current state. */
  describe(actual: Actual): Readonly<Record<string, unknown>> | undefined {
    return this.#described.get(actual);
  }
}

interface Placed {
  readonly address: Address;
  readonly place?: { readonly list: Address; readonly index: number } | null;
}

function siblingsByList(all: Iterable<Placed>): ReadonlyMap<Address, readonly Address[]> {
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
