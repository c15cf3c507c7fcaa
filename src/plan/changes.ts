import { type Address, unboundAddress } from '../core/address.ts';
import type { Change, FieldChange } from '../core/change.ts';
import type { Json } from '../core/json.ts';
import type { Actual, Base, BaseEntry, Declared, Fields, Observation } from '../core/resource.ts';
import { holdLastRequiredPart, withoutImplicit } from './deletions.ts';
import type { Identity } from './identity/identity.ts';
import { applicableFields, type DiffContext, diffFields, normalizeValue } from './model/diff.ts';
import { changeOf, newChange } from './model/new-change.ts';
import { parentsFirst } from './model/parents-first.ts';
import { PeopleAddresses } from './model/people.ts';
import type { KindRules } from './model/rules.ts';
import { findExistingParts } from './order/needed-parts.ts';
import { PendingResources } from './pending.ts';
import { findPlaceholders } from './placeholders.ts';
import type { PrunePolicy } from './policy.ts';

/** Changes before they are ordered and checked against the policy. */
export interface PlanDraft {
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
  readonly prune: PrunePolicy;
}

/** Computes every change from actual to desired, except the order of siblings. */
export function draftChanges(inputs: Inputs): PlanDraft {
  return new ChangeDrafter(inputs).draft();
}

/** Longest title that a deletion shows, in characters. */
const MAX_TITLE = 100;

function shortTitle(title: string): string {
  const characters = [...title.slice(0, 2 * MAX_TITLE + 2)];
  return characters.length > MAX_TITLE ? `${characters.slice(0, MAX_TITLE - 1).join('')}…` : title;
}

/** Sites that a deletion names one by one. */
const MAX_PLACES = 5;

class ChangeDrafter {
  readonly #inputs: Inputs;
  readonly #kinds: ReadonlyMap<string, KindRules>;
  readonly #pending: PendingResources;
  readonly #notes: { address: Address; text: string }[] = [];
  readonly #changes: Change[] = [];
  /** Computed for the first deletion. */
  #places: ReadonlyMap<Json, ReadonlySet<Address>> | null = null;
  /** Ids of the resources that are replaced, by the address that will mean another resource. */
  readonly #replaced = new Map<Address, string>();
  readonly #context: DiffContext;

  constructor(inputs: Inputs) {
    this.#inputs = inputs;
    this.#kinds = new Map(inputs.kinds.map((kind) => [kind.name, kind]));
    const addresses = new PeopleAddresses(inputs.kinds);
    this.#pending = new PendingResources({
      kinds: this.#kinds,
      declared: inputs.declared,
      bound: inputs.identity.bound,
      people: addresses,
      existingParts: findExistingParts(inputs),
      isReplaced: (address) => this.#replaced.has(address),
    });
    this.#context = {
      people: inputs.observation.people,
      addresses,
      isPending: (address) => this.#pending.context.unusable(address) !== null,
    };
  }

  draft(): PlanDraft {
    const { kinds, declared, base, identity, prune } = this.#inputs;
    const byKind = Map.groupBy(declared.values(), (resource) => resource.kind);
    for (const kind of kinds) {
      // Parents first: a replacement changes the references of what it contains.
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
      changes: holdLastRequiredPart(withoutImplicit(this.#changes, this.#kinds), this.#inputs),
      pending: [...this.#pending.reasons].map(([address, reason]) => ({ address, reason })),
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
    if (this.#pending.addIfNotCreatable(resource)) {
      return;
    }
    const { wanted, missingPeople } = applicableFields(kind, resource, this.#context);
    this.#pending.addPeople(missingPeople);
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
    const difference = diffFields(kind, resource, now, entry, this.#context);
    this.#pending.addPeople(difference.missingPeople);
    this.#pending.addIfIncomplete(kind, resource);
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
    const common = { id: actual.id, declared: difference.wanted, actual: now };
    if (updates.length > 0) {
      this.#changes.push(changeOf(resource, { ...common, action: 'update', fields: updates }));
      this.#notePlaceholders(resource, updates);
    }
    if (difference.moves.length > 0) {
      this.#changes.push(changeOf(resource, { ...common, action: 'move', fields: difference.moves }));
    }
  }

  /** Deletes the old resource of an unfinished replacement together with the new one. */
  #oldOf(address: Address): void {
    const { identity, base } = this.#inputs;
    const old = identity.replaced.get(address);
    if (old !== undefined && old !== identity.owned.get(address)) {
      this.#deletion(unboundAddress(old.id), old, base?.get(address) ?? null);
    }
  }

  /** Returns the current fields. A reference to a replaced resource means the old one, so it has to change too. */
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

  #creation(kind: KindRules, resource: Declared, wanted: Fields, isReplacement: boolean): void {
    const fields: FieldChange[] = [];
    for (const [path, value] of Object.entries(wanted)) {
      const rules = kind.fields[path];
      const isTop = value === null && rules?.placement === true;
      if (value !== undefined && !isTop && rules?.declarationOnly !== true) {
        fields.push({ path, to: value === null ? null : normalizeValue(rules, value) });
      }
    }
    this.#changes.push(changeOf(resource, { action: 'create', fields, declared: wanted, isReplacement }));
    this.#notePlaceholders(resource, fields);
  }

  #notePlaceholders({ address }: Declared, fields: readonly FieldChange[]): void {
    for (const text of findPlaceholders(fields.map(({ path, to }) => [path, to] as const))) {
      this.#notes.push({ address, text });
    }
  }

  /** `"Guides", 2 open change requests, shown on site/help`. */
  #describeDeletion(kind: KindRules, actual: Actual, impact: string, places: readonly Address[]): string {
    const named = places.slice(0, MAX_PLACES).join(', ');
    const more = places.length > MAX_PLACES ? ` and ${places.length - MAX_PLACES} more` : '';
    return [
      kind.partOf === undefined ? JSON.stringify(shortTitle(actual.title)) : '',
      impact,
      places.length === 0 ? '' : `shown on ${named}${more}`,
    ]
      .filter((part) => part !== '')
      .join(', ');
  }

  /** Returns what shows each resource to readers, such as the sites of a space. */
  #shownOn(): ReadonlyMap<Json, ReadonlySet<Address>> {
    if (this.#places !== null) {
      return this.#places;
    }
    const { identity, observation } = this.#inputs;
    const places = new Map<Json, Set<Address>>();
    for (const { name, shows, partOf } of this.#inputs.kinds) {
      for (const actual of shows === undefined ? [] : (observation.kinds.get(name) ?? [])) {
        const shown = identity.fieldsOf(actual)[shows ?? ''];
        if (shown !== undefined && actual.within !== null) {
          const known = places.get(shown) ?? new Set();
          places.set(shown, known.add(identity.addressOf([partOf ?? ''], actual.within)));
        }
      }
    }
    this.#places = places;
    return places;
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
    const { text = '', weight = 0, contents } = kind.impact?.(actual) ?? {};
    const shownOn = [...(this.#shownOn().get(address) ?? [])];
    this.#changes.push(
      newChange({
        action: 'delete',
        address,
        kind: actual.kind,
        id: actual.id,
        fields,
        source: resource?.source ?? null,
        held: guarded ? 'protected: it is deleted only after protect: false has been applied' : null,
        paused: resource?.paused ?? null,
        isReplacement: resource !== null,
        impact: resource === null ? this.#describeDeletion(kind, actual, text, shownOn) : text,
        ...(kind.partOf === undefined ? { deletes: { title: shortTitle(actual.title), shownOn, ...contents } } : {}),
        weight,
        declared: now,
        actual: now,
        within: actual.within === null ? null : this.#inputs.identity.addressOf([kind.partOf ?? ''], actual.within),
      }),
    );
  }
}

/** Returns the prune setting of one kind. See docs/concepts.md#ownership-and-deletion. */
export function pruneOf(prune: PrunePolicy, kind: string): 'owned' | 'never' | 'all' {
  return typeof prune === 'string' ? prune : (prune[kind] ?? 'owned');
}
