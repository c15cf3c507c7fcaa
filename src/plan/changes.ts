/** Changes from actual to desired, before they are ordered and checked against the policy, and what is pending. */
import { type Address, kindOf, unboundAddress } from '../core/address.ts';
import type { Change, FieldChange, Plan } from '../core/change.ts';
import type { Json } from '../core/json.ts';
import { append, enumerated } from '../core/lists.ts';
import type { ManifestSecrets } from '../core/manifest-secrets.ts';
import type { Actual, Base, BaseEntry, Declared, Fields, Observation } from '../core/resource.ts';
import { maskUrls } from '../core/text/safe-url.ts';
import { findPlaceholders, parentsFirst } from './declared.ts';
import { applicableFields, type DiffContext, diffFields, normalizeValue } from './diff.ts';
import type { PrunePolicy } from './guard.ts';
import type { Identity } from './identity.ts';
import { shortened } from './render/words.ts';
import { reviewOf } from './review.ts';
import { type KindRules, PeopleAddresses, type RulesContext } from './rules.ts';
import { changedSecrets, missingSecrets } from './secrets.ts';

/** Changes before they are ordered and checked against the policy. */
type PlanDraft = Pick<Plan, 'changes' | 'pending' | 'notes'>;

interface Inputs {
  readonly kinds: readonly KindRules[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly base: Base;
  readonly observation: Observation;
  readonly identity: Identity;
  readonly secrets: ManifestSecrets;
  readonly prune: PrunePolicy;
  readonly isUnrecorded: boolean;
}

/** Computes every change from actual to desired, except the order of siblings. */
export function draftChanges(inputs: Inputs): PlanDraft {
  return new ChangeDrafter(inputs).draft();
}

/** Longest title that a deletion shows, in characters. */
const MAX_TITLE = 100;
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
    this.#pending = new PendingResources(inputs, this.#kinds, (address) => this.#replaced.has(address));
    this.#context = {
      people: inputs.observation.people,
      addresses: this.#pending.people,
      isPending: (address) => this.#pending.context.unusable(address) !== null,
    };
  }

  draft(): PlanDraft {
    const { kinds, declared, base, identity, prune } = this.#inputs;
    const byKind = Map.groupBy(declared.values(), (resource) => resource.kind);
    for (const kind of kinds) {
      // Parents first: a replacement changes the references of what it contains.
      for (const resource of parentsFirst(byKind.get(kind.name) ?? [])) {
        const actual = identity.bound.get(resource.address);
        if (actual === undefined) {
          this.#missing(kind, resource);
        } else {
          this.#existing(kind, resource, actual);
        }
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
    const changes = holdLastRequiredPart(withoutImplicit(this.#changes, this.#kinds), this.#inputs);
    const review = reviewOf(kinds, changes, this.#inputs.observation, identity);
    append(
      this.#notes,
      kinds.flatMap((kind) => kind.review?.(review) ?? []),
    );
    return {
      changes,
      pending: [...this.#pending.reasons].map(([address, reason]) => ({ address, reason })),
      notes: [...this.#notes, ...missingSecrets(kinds, declared.values(), this.#inputs.secrets)],
    };
  }

  #missing(kind: KindRules, resource: Declared): void {
    if (this.#pending.isNotCreatable(resource)) {
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
    const { base, identity, secrets } = this.#inputs;
    const entry = base?.get(resource.address) ?? null;
    const now = this.#fieldsNow(kind, actual);
    const difference = diffFields(kind, resource, now, entry, this.#context);
    this.#pending.addPeople(difference.missingPeople);
    const isIncomplete = this.#pending.addIfIncomplete(kind, resource);
    for (const text of [...difference.notes, ...(kind.notes?.(resource, actual, entry) ?? [])]) {
      this.#notes.push({ address: resource.address, text });
    }
    const extra = kind.extraChanges?.(resource, actual, entry, (address) => identity.bound.get(address)) ?? [];
    const updates = [
      ...difference.updates,
      ...extra.filter((change) => !resource.ignore.includes(change.path)),
      ...changedSecrets(kind, resource, entry, secrets),
    ];
    // A new resource needs what it refers to: the old one stays until then.
    if (difference.replaces.length > 0 && isIncomplete) {
      return;
    }
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
    return Object.fromEntries(
      Object.entries(now).map(([name, value]) => {
        const isReference = typeof value === 'string' && kind.fields[name]?.references !== undefined;
        const old = isReference ? this.#replaced.get(value) : undefined;
        return [name, old === undefined ? value : unboundAddress(old)];
      }),
    );
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

  #notePlaceholders({ address, kind }: Declared, fields: readonly FieldChange[]): void {
    const { fields: rules = {} } = this.#kinds.get(kind) ?? {};
    for (const text of findPlaceholders(
      rules,
      fields.map(({ path, to }) => [path, to] as const),
    )) {
      this.#notes.push({ address, text });
    }
  }

  /** `"Guides", 2 open change requests, shown on site/help`. */
  #describeDeletion(kind: KindRules, actual: Actual, impact: string, places: readonly Address[]): string {
    return [
      kind.partOf === undefined ? JSON.stringify(shortened(maskUrls(actual.title), MAX_TITLE)) : '',
      impact,
      places.length === 0 ? '' : `shown on ${enumerated(places, ', ', MAX_PLACES)}`,
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
        ...(kind.partOf === undefined
          ? { deletes: { title: shortened(maskUrls(actual.title), MAX_TITLE), shownOn, ...contents } }
          : {}),
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

/**
 * Leaves out the deletions that happen implicitly because the parent of the resource is deleted. A protected part also
 * keeps its parent.
 */
function withoutImplicit(changes: readonly Change[], kinds: ReadonlyMap<string, KindRules>): readonly Change[] {
  const going = new Map(
    changes.filter((change) => change.action === 'delete').map((change) => [change.address, change]),
  );
  const holderOf = (change: Change): Change | undefined => {
    const whole = kinds.get(change.kind)?.deletedWith?.(change.actual);
    const holder = typeof whole === 'string' ? going.get(whole) : undefined;
    return holder ?? (change.within === null ? undefined : going.get(change.within));
  };
  const guards = new Map<Address, string>();
  const kept = changes.filter((change) => {
    let holder = change.action === 'delete' && !change.isReplacement ? holderOf(change) : undefined;
    if (holder === undefined) {
      return true;
    }
    for (let outer = holderOf(holder); outer !== undefined; outer = holderOf(outer)) {
      holder = outer;
    }
    if (change.held !== null) {
      guards.set(holder.address, `${change.address} is part of it and protected`);
    }
    return false;
  });
  return kept.map((change) => {
    const guard = change.action === 'delete' ? guards.get(change.address) : undefined;
    return guard === undefined ? change : { ...change, held: change.held ?? guard };
  });
}

/**
 * Holds deletions that would leave a parent without its last required part, until another part exists, which may still
 * be pending.
 */
function holdLastRequiredPart(changes: readonly Change[], { kinds, observation, identity }: Inputs): readonly Change[] {
  const kept = new Map<Change, string>();
  for (const { name, deletedWith } of kinds.filter(({ keepsOne }) => keepsOne === true)) {
    const deletions = changes.filter((change) => change.kind === name && change.action === 'delete');
    if (deletions.length === 0) {
      continue;
    }
    const going = new Set(deletions.map((deletion) => deletion.id));
    const left = new Set<Json | undefined>([
      ...(observation.kinds.get(name) ?? [])
        .filter((actual) => !going.has(actual.id))
        .map((actual) => deletedWith?.(identity.fieldsOf(actual))),
      ...changes
        .filter((change) => change.kind === name && change.action === 'create')
        .map((change) => deletedWith?.(change.declared)),
    ]);
    for (const deletion of deletions) {
      const whole = deletedWith?.(deletion.actual);
      if (typeof whole === 'string' && !left.has(whole)) {
        left.add(whole);
        kept.set(deletion, `the last of ${whole}: it stays until another exists`);
      }
    }
  }
  return kept.size === 0
    ? changes
    : changes.map((change) => ({ ...change, held: change.held ?? kept.get(change) ?? null }));
}

/** Creates a change; members that are not given have their neutral value. */
function newChange(change: Pick<Change, 'action' | 'address' | 'kind' | 'fields'> & Partial<Change>): Change {
  return {
    id: null,
    source: null,
    dependsOn: [],
    held: null,
    approvable: false,
    paused: null,
    isReplacement: false,
    impact: '',
    weight: 0,
    declared: {},
    actual: {},
    within: null,
    place: null,
    anchor: null,
    ...change,
  };
}

/** Creates a change of a declared resource. */
export function changeOf(resource: Declared, change: Pick<Change, 'action' | 'fields'> & Partial<Change>): Change {
  const { address, kind, source, paused, within, place } = resource;
  return newChange({ address, kind, source, paused, within, place, ...change });
}

/** Finds the resources that cannot be created or referred to before something else exists. */
class PendingResources {
  /** Reasons by address, as the plan lists them. */
  readonly reasons = new Map<Address, string>();
  readonly context: RulesContext;
  readonly people: PeopleAddresses;
  readonly #kinds: ReadonlyMap<string, KindRules>;
  readonly #inputs: Inputs;
  readonly #isReplaced: (address: Address) => boolean;
  /** Reasons why a declared resource cannot be created yet; null if it can be, or exists. */
  readonly #known = new Map<Address, string | null>();

  /** @param isReplaced whether the plan replaces the resource of an address */
  constructor(inputs: Inputs, kinds: ReadonlyMap<string, KindRules>, isReplaced: (address: Address) => boolean) {
    this.people = new PeopleAddresses(inputs.kinds);
    this.#kinds = kinds;
    this.#inputs = inputs;
    this.#isReplaced = isReplaced;
    this.context = {
      declaredOf: (address) => inputs.declared.get(address),
      actualOf: (address) => inputs.identity.bound.get(address),
      unusable: (address) => this.#unusableReason(address),
      actuals: (kind) => inputs.observation.kinds.get(kind) ?? [],
    };
  }

  /** Lists a resource as pending if it cannot be created yet. Returns true then. */
  isNotCreatable({ address }: Declared): boolean {
    return this.#add(address, this.#creationReason(address));
  }

  /** Lists a resource as pending if a field refers to something that cannot be referred to yet. Returns true then. */
  addIfIncomplete(kind: KindRules, resource: Declared): boolean {
    return this.#add(resource.address, this.#referenceReason(kind, resource));
  }

  #add(address: Address, reason: string | null): boolean {
    if (reason !== null) {
      this.reasons.set(address, reason);
    }
    return reason !== null;
  }

  addPeople(emails: readonly string[]): void {
    for (const email of emails) {
      const address = this.people.addressOf(email);
      const isDeclared = this.#inputs.declared.has(address);
      this.reasons.set(address, this.people.pendingReason(isDeclared ? this.#creationReason(address) : undefined));
    }
  }

  /**
   * Returns why a resource cannot be created yet. Does not depend on the order of kinds: a site refers to its sections.
   */
  #creationReason(address: Address): string | null {
    const resource = this.#inputs.declared.get(address);
    const kind = this.#kinds.get(resource?.kind ?? '');
    if (resource === undefined || kind === undefined || this.#inputs.identity.bound.has(address)) {
      return null;
    }
    const known = this.#known.get(address);
    if (known !== undefined) {
      return known;
    }
    // Breaks a cycle of references.
    this.#known.set(address, null);
    const reason = this.#findReason(kind, resource);
    this.#known.set(address, reason);
    return reason;
  }

  #findReason(kind: KindRules, resource: Declared): string | null {
    if (kind.people !== undefined) {
      return kind.people.whyNotInvited(this.#inputs.base, resource.address, this.#inputs.isUnrecorded);
    }
    if (resource.within !== null && this.#creationReason(resource.within) !== null) {
      return `waits for ${resource.within}`;
    }
    return kind.pendingReason?.(resource, this.context) ?? this.#referenceReason(kind, resource);
  }

  #referenceReason(kind: KindRules, resource: Declared): string | null {
    for (const name of Object.keys(kind.fields)) {
      const value = resource.fields[name] ?? null;
      const rules = kind.fields[name];
      const isNeeded = value !== null && rules?.afterChildren !== true && rules?.optionalRef !== true;
      for (const address of isNeeded ? (rules?.references?.(value) ?? []) : []) {
        const reason = this.people.isPerson(address) ? null : this.#unusableReason(address);
        if (reason !== null) {
          return reason;
        }
      }
    }
    return null;
  }

  #unusableReason(address: Address): string | null {
    if (this.#creationReason(address) !== null) {
      return `waits for ${address}`;
    }
    // A replacement has no result yet.
    const actual = this.#isReplaced(address) ? undefined : this.#inputs.identity.bound.get(address);
    return this.#kinds.get(kindOf(address))?.unusableReason?.(actual) ?? null;
  }
}
