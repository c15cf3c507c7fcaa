import { keyOf } from '../../core/address.ts';
import { canonicalJson, isObject, type Json } from '../../core/json.ts';
import { type Actual, isIdRef } from '../../core/resource.ts';
import type { Kind } from '../../kinds/model/kind.ts';
import { plainKey } from '../../kinds/model/schema.ts';
import type { ActualState } from '../model/actual-state.ts';
import { type ChosenKey, chooseKeys, type UnkeyedResource } from './keys.ts';

/** Keys of declared resources and of those to be declared. */
export interface Keys {
  /** Full keys, such as `help/guides/en` for a site space. */
  readonly full: ReadonlyMap<Actual, string>;
  /** Notes about how keys were chosen. */
  readonly notes: ReadonlyMap<Actual, string>;
}

interface Assigning {
  readonly kinds: readonly Kind[];
  readonly state: ActualState;
  /** Resources with an entry of their own. */
  readonly chosen: ReadonlySet<Actual>;
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
      const parts = this.#input.state.allPartsOf(owner).filter((part) => part.kind === kind.name);
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
