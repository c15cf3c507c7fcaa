import type { Json } from '../../core/json.ts';
import { type Actual, isIdRef, type Observation } from '../../core/resource.ts';

/** Index of the actual state. */
export class ActualState {
  readonly #byId = new Map<string, Actual>();
  readonly #inside = new Map<string, Actual[]>();
  readonly #made = new Map<string, Actual>();

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

  /** Returns all parts of a resource, in display order. */
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
