import type { Address } from '../core/address.ts';
import type { Change } from '../core/change.ts';
import { DependencyNotReadyError } from '../core/errors.ts';
import { sameJson } from '../core/json.ts';
import { type Actual, type Declared, type Fields, isIdRef, type Observation } from '../core/resource.ts';
import type { Kind } from '../kinds/model/kind.ts';
import { type Identity, identify } from '../plan/identity/identity.ts';
import { normalizeValue } from '../plan/model/diff.ts';
import type { Reader } from '../platform/client.ts';
import { platformSource } from './observe/actual-source.ts';
import { observe } from './observe/observe.ts';
import type { Planned, PlanningInput } from './planning.ts';
import type { Bindings } from './sending.ts';

/**
 * Checks on the platform whether a write whose answer was lost took effect. Reads everything again for each check: a
 * lost answer is rare, and resources that were created meanwhile must be distinguished.
 */
export class WriteVerifier {
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #declared: ReadonlyMap<Address, Declared>;
  readonly #reader: Reader;
  /** The actual state that the plan was made from. */
  readonly #before: Observation;
  readonly #creations: ReadonlyMap<Address, Change>;

  constructor({ kinds, declared }: Pick<PlanningInput, 'kinds' | 'declared'>, planned: Planned, reader: Reader) {
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]));
    this.#declared = declared;
    this.#reader = reader;
    this.#before = planned.observation;
    const creations = planned.plan.changes.filter(({ action }) => action === 'create');
    this.#creations = new Map(creations.map((change) => [change.address, change]));
  }

  /**
   * Finds the resource of a creation whose response was lost, among those that no other key matches, and binds it and
   * the resources that were created inside it. Null if it created none. Throws DependencyNotReadyError if that cannot
   * be determined.
   */
  async findCreated(change: Change, bindings: Bindings): Promise<string | null> {
    // Until its creation is confirmed, an address is bound to the resource that it replaces, which is not the new one.
    const old = bindings.get(change.address);
    const known = new Map([...bindings].filter(([address]) => address !== change.address));
    const { bound, observation } = await this.#identify(
      known,
      (actual) => actual.kind === change.kind && actual.id === old,
    );
    const made = bound.get(change.address) ?? this.#copy(change, observation, bindings);
    if (made === undefined) {
      return null;
    }
    bindings.set(change.address, made.id);
    const seed = this.#kinds.get(change.kind)?.seed?.(change, (address) => this.#creations.get(address));
    const shown = bindings.get(seed?.refersTo ?? '');
    const part = [...observation.kinds.values()]
      .flat()
      .find(({ place, fields }) => place?.list === made.id && refersTo(fields, shown));
    if (seed !== undefined && part !== undefined) {
      bindings.set(seed.address, part.id);
    }
    return made.id;
  }

  /**
   * Reads a resource again, and returns true if these fields have the values that the change sets. A field that this
   * version of the platform does not have counts as in place.
   */
  async isInPlace(change: Change, fields: readonly string[], bindings: Bindings): Promise<boolean> {
    const { bound, fieldsOf } = await this.#identify(bindings, () => false);
    const actual = bound.get(change.address);
    if (actual === undefined) {
      return false;
    }
    const now = fieldsOf(actual);
    const rules = this.#kinds.get(change.kind)?.fields ?? {};
    const isUnknown = (name: string) => rules[name]?.unsupportedNote !== undefined && now[name] === undefined;
    return fields.every(
      (name) =>
        isUnknown(name) ||
        sameJson(
          normalizeValue(rules[name], now[name] ?? null),
          normalizeValue(rules[name], change.declared[name] ?? null),
        ),
    );
  }

  /**
   * Finds the copy that a creation has made: the only new resource that has the title of the original and that no other
   * key matches. Throws DependencyNotReadyError if several could be the copy, or if one could be the result of
   * background work of the platform, such as a translation of the original.
   */
  #copy(change: Change, observation: Observation, bindings: Bindings): Actual | undefined {
    const now = observation.kinds.get(change.kind) ?? [];
    const original = now.find(
      ({ id }) => id === bindings.get(this.#kinds.get(change.kind)?.copySource?.(change) ?? ''),
    );
    if (original === undefined) {
      return undefined;
    }
    const all = [...observation.kinds.values()].flat();
    const before = this.#before.kinds.get(change.kind) ?? [];
    const results = all.flatMap(({ aliases }) => aliases ?? []);
    const known = new Set([...before.map(({ id }) => id), ...bindings.values(), ...results]);
    const made = now.filter(({ id, title }) => !known.has(id) && title.includes(original.title));
    const unfinished = all.filter(
      (actual) => refersTo(actual.fields, original.id) && this.#kinds.get(actual.kind)?.unusableReason?.(actual),
    );
    if (made.length > 1 || (made.length === 1 && unfinished.length > 0)) {
      const ids = made.map(({ id }) => id).join(', ');
      throw new DependencyNotReadyError(
        `the answer to its creation was lost, and it is unclear whether ${ids} is the copy; set id to the copy, and delete the others`,
      );
    }
    return made[0];
  }

  async #identify(
    bindings: ReadonlyMap<Address, string>,
    isLeftOut: (actual: Actual) => boolean,
  ): Promise<Identity & { readonly observation: Observation }> {
    const kinds = [...this.#kinds.values()];
    // Match by id first: the title may not have been updated yet.
    const declared = new Map(
      [...this.#declared].map(([address, resource]) => [
        address,
        { ...resource, id: bindings.get(address) ?? resource.id },
      ]),
    );
    const found = await observe({ kinds, declared, base: null, source: platformSource(this.#reader) });
    const left = [...found.kinds].map(([kind, actuals]) => [kind, actuals.filter((each) => !isLeftOut(each))] as const);
    const observation = { ...found, kinds: new Map(left) };
    return { ...identify(kinds, declared, null, observation), observation };
  }
}

function refersTo(fields: Fields, id: string | undefined): boolean {
  return Object.values(fields).some((value) => isIdRef(value) && value.$id === id);
}
