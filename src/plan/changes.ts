import { type Address, kindOf, unboundAddress } from '../core/address.ts';
import type { Change, FieldChange } from '../core/change.ts';
import type { Actual, Base, BaseEntry, Declared, Fields, Observation } from '../core/resource.ts';
import { keepLast, withoutFolded } from './deletions.ts';
import type { Identity } from './identity/identity.ts';
import { diffFields, normalizeValue, type Surroundings, wantedFields } from './model/diff.ts';
import { parentsFirst } from './model/parents-first.ts';
import { PeopleAddresses } from './model/people.ts';
import type { KindRules, RulesContext } from './model/rules.ts';
import type { Prune } from './policy.ts';

/** What is to be done, before it is ordered and before damage control has looked at it. */
export interface Draft {
  readonly changes: readonly Change[];
  readonly pending: readonly { readonly address: Address; readonly reason: string }[];
  readonly notes: readonly { readonly address: Address; readonly text: string }[];
}

interface Inputs {
  readonly kinds: readonly KindRules[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly base: Base;
  readonly observation: Observation;
  readonly identity: Identity;
  readonly prune: Prune;
}

/** Computes every change from actual to desired but for the order of siblings. */
export function draftChanges(inputs: Inputs): Draft {
  return new Drafting(inputs).draft();
}

class Drafting {
  readonly #inputs: Inputs;
  readonly #kinds: ReadonlyMap<string, KindRules>;
  readonly #pending = new Map<Address, string>();
  /** Why what is declared and not there cannot be created yet; null where it can. */
  readonly #waits = new Map<Address, string | null>();
  readonly #notes: { address: Address; text: string }[] = [];
  readonly #changes: Change[] = [];
  /** The ids of what is replaced, by the address that will mean another resource. */
  readonly #replaced = new Map<Address, string>();
  readonly #around: Surroundings;

  constructor(inputs: Inputs) {
    this.#inputs = inputs;
    this.#around = {
      people: inputs.observation.people,
      addresses: new PeopleAddresses(inputs.kinds),
      isPending: (address) => this.#context.unusable(address) !== null,
    };
    this.#kinds = new Map(inputs.kinds.map((kind) => [kind.name, kind]));
  }

  draft(): Draft {
    const { kinds, declared, base, identity, prune } = this.#inputs;
    const byKind = Map.groupBy(declared.values(), (resource) => resource.kind);
    for (const kind of kinds) {
      // What is replaced is known before what lies in it.
      for (const resource of parentsFirst(byKind.get(kind.name) ?? [])) {
        this.#declaredResource(kind, resource);
      }
    }
    if (base !== null) {
      for (const [address, actual] of identity.owned) {
        if (pruneOf(prune, actual.kind) !== 'never') {
          this.#deletion(address, actual, base.get(address) ?? null);
          this.#oldOf(address);
        }
      }
      for (const actual of identity.unmanaged) {
        if (pruneOf(prune, actual.kind) === 'all') {
          this.#deletion(`#${actual.id}`, actual, null);
        }
      }
    }
    return {
      changes: keepLast(withoutFolded(this.#changes, this.#kinds), this.#inputs),
      pending: [...this.#pending].map(([address, reason]) => ({ address, reason })),
      notes: this.#notes,
    };
  }

  #declaredResource(kind: KindRules, resource: Declared): void {
    const actual = this.#inputs.identity.bound.get(resource.address);
    if (actual === undefined) {
      this.#missing(kind, resource);
    } else {
      this.#existing(kind, resource, actual);
    }
  }

  #missing(kind: KindRules, resource: Declared): void {
    const reason = this.#waitsFor(resource.address);
    if (reason !== null) {
      this.#pending.set(resource.address, reason);
      return;
    }
    const { wanted, missingPeople } = wantedFields(kind, resource, this.#around);
    this.#missingPeople(missingPeople);
    const old = this.#inputs.identity.replaced.get(resource.address);
    if (old !== undefined) {
      this.#replaced.set(resource.address, old.id);
      this.#deletion(resource.address, old, this.#inputs.base?.get(resource.address) ?? null, resource);
    }
    this.#creation(kind, resource, wanted, old !== undefined);
  }

  #existing(kind: KindRules, resource: Declared, actual: Actual): void {
    const { base, identity } = this.#inputs;
    const entry = base?.get(resource.address) ?? null;
    const now = this.#fieldsNow(kind, actual);
    const difference = diffFields(kind, resource, now, entry, this.#around);
    this.#missingPeople(difference.missingPeople);
    this.#noteUnusable(kind, resource);
    for (const text of [...difference.notes, ...(kind.notes?.(resource, actual, entry) ?? [])]) {
      this.#notes.push({ address: resource.address, text });
    }
    const extra = kind.extraChanges?.(resource, actual, entry, (address) => identity.bound.get(address)) ?? [];
    const updates = [...difference.updates, ...extra.filter((change) => !resource.ignore.includes(change.path))];
    if (difference.replaces.length > 0) {
      this.#replaced.set(resource.address, actual.id);
      this.#deletion(resource.address, actual, entry, resource, difference.replaces);
      this.#creation(kind, resource, difference.wanted, true);
      this.#oldOf(resource.address);
      return;
    }
    const old = identity.replaced.get(resource.address);
    if (old !== undefined) {
      this.#deletion(resource.address, old, entry, resource);
    }
    const common = { ...changeFrame(resource), id: actual.id, declared: difference.wanted, actual: now };
    if (updates.length > 0) {
      this.#changes.push({ ...common, action: 'update', fields: updates });
    }
    if (difference.moves.length > 0) {
      this.#changes.push({ ...common, action: 'move', fields: difference.moves });
    }
  }

  /** What an unfinished replacement has left goes too, where what it has made goes. */
  #oldOf(address: Address): void {
    const { identity, base } = this.#inputs;
    const old = identity.replaced.get(address);
    if (old !== undefined && old !== identity.owned.get(address)) {
      this.#deletion(unboundAddress(old.id), old, base?.get(address) ?? null);
    }
  }

  /** What refers to a resource that is replaced refers to the old one, and so must be changed too. */
  #fieldsNow(kind: KindRules, actual: Actual): Fields {
    const now = this.#inputs.identity.fieldsOf(actual);
    if (this.#replaced.size === 0) {
      return now;
    }
    const stale = Object.entries(now).filter(
      ([name, value]) =>
        typeof value === 'string' && kind.fields[name]?.references !== undefined && this.#replaced.has(value),
    );
    return stale.length === 0
      ? now
      : {
          ...now,
          ...Object.fromEntries(
            stale.map(([name, value]) => [name, unboundAddress(this.#replaced.get(String(value)) ?? '')]),
          ),
        };
  }

  #creation(kind: KindRules, resource: Declared, wanted: Fields, replaces: boolean): void {
    const fields: FieldChange[] = [];
    for (const [path, value] of Object.entries(wanted)) {
      const rules = kind.fields[path];
      const isTop = value === null && rules?.placement === true;
      if (value !== undefined && !isTop && rules?.declarationOnly !== true) {
        fields.push({ path, to: value === null ? null : normalizeValue(rules, value) });
      }
    }
    this.#changes.push({ ...changeFrame(resource), action: 'create', fields, declared: wanted, replaces });
  }

  #deletion(
    address: Address,
    actual: Actual,
    entry: BaseEntry | null,
    resource: Declared | null = null,
    fields: readonly FieldChange[] = [],
  ): void {
    const kind = this.#kinds.get(actual.kind);
    if (kind === undefined || !kind.deletable) {
      return;
    }
    const guarded = resource?.protect === true || entry?.protect === true;
    const now = this.#inputs.identity.fieldsOf(actual);
    this.#changes.push({
      action: 'delete',
      address,
      kind: actual.kind,
      id: actual.id,
      fields,
      source: resource?.source ?? null,
      requires: [],
      held: guarded ? 'protected: it is deleted only after protect: false has been applied' : null,
      approvable: false,
      paused: resource?.paused ?? null,
      replaces: resource !== null,
      impact: kind.impact?.(actual).text ?? '',
      weight: kind.impact?.(actual).weight ?? 0,
      declared: now,
      actual: now,
      within: actual.within === null ? null : this.#inputs.identity.addressOf([kind.partOf ?? ''], actual.within),
      place: null,
      anchor: null,
    });
  }

  /** Why an address will not be there after this plan, whichever kind's turn it is: a site names its sections. */
  #waitsFor(address: Address): string | null {
    const resource = this.#inputs.declared.get(address);
    const kind = this.#kinds.get(resource?.kind ?? '');
    if (resource === undefined || kind === undefined || this.#inputs.identity.bound.has(address)) {
      return null;
    }
    const known = this.#waits.get(address);
    if (known !== undefined) {
      return known;
    }
    this.#waits.set(address, null);
    const reason = this.#reasonToWait(kind, resource);
    this.#waits.set(address, reason);
    return reason;
  }

  #reasonToWait(kind: KindRules, resource: Declared): string | null {
    if (!kind.creatable) {
      return this.#around.addresses.notJoined;
    }
    if (resource.within !== null && this.#waitsFor(resource.within) !== null) {
      return `waits for ${resource.within}`;
    }
    const own = kind.pendingReason?.(resource, this.#context);
    if (own !== null && own !== undefined) {
      return own;
    }
    return this.#unusableReference(kind, resource);
  }

  #unusableReference(kind: KindRules, resource: Declared): string | null {
    for (const [name, rules] of Object.entries(kind.fields)) {
      const value = resource.fields[name];
      if (value === undefined || value === null || rules.afterChildren === true || rules.optionalRef === true) {
        continue;
      }
      for (const address of rules.references?.(value) ?? []) {
        const reason = this.#around.addresses.isPerson(address) ? null : this.#context.unusable(address);
        if (reason !== null) {
          return reason;
        }
      }
    }
    return null;
  }

  /** A reference to what cannot be referred to yet leaves the field as it is, and says so. */
  #noteUnusable(kind: KindRules, resource: Declared): void {
    const reason = this.#unusableReference(kind, resource);
    if (reason !== null) {
      this.#pending.set(resource.address, reason);
    }
  }

  #missingPeople(people: readonly string[]): void {
    for (const person of people) {
      this.#pending.set(this.#around.addresses.addressOf(person), this.#around.addresses.notJoined);
    }
  }

  readonly #context: RulesContext = {
    declaredOf: (address) => this.#inputs.declared.get(address),
    unusable: (address) => {
      if (this.#waitsFor(address) !== null) {
        return `waits for ${address}`;
      }
      const kind = this.#kinds.get(kindOf(address));
      // What is made anew has made nothing yet.
      const actual = this.#replaced.has(address) ? undefined : this.#inputs.identity.bound.get(address);
      return kind?.unusableReason?.(actual) ?? null;
    },
  };
}

type Frame = Omit<Change, 'action' | 'fields'>;

function changeFrame(resource: Declared): Frame {
  return {
    address: resource.address,
    kind: resource.kind,
    id: null,
    source: resource.source,
    requires: [],
    held: null,
    approvable: false,
    paused: resource.paused,
    replaces: false,
    impact: '',
    weight: 0,
    declared: {},
    actual: {},
    within: resource.within,
    place: resource.place,
    anchor: null,
  };
}

/** Returns the prune setting of one kind. See docs/concepts.md#what-is-deleted. */
export function pruneOf(prune: Prune, kind: string): 'owned' | 'never' | 'all' {
  return typeof prune === 'string' ? prune : (prune[kind] ?? 'owned');
}
