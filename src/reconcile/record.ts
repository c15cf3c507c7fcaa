/** Keeps the record of what was applied, and reads the base of a plan from it. */
import type { Address } from '../core/address.ts';
import type { Change } from '../core/change.ts';
import { isObject, type Json, type JsonObject, sameJson } from '../core/json.ts';
import { append } from '../core/lists.ts';
import { type ManifestSecrets, NO_SECRETS } from '../core/manifest-secrets.ts';
import type { Base, BaseEntry, Declared, Place } from '../core/resource.ts';
import type { Kind } from '../kinds/model/kind.ts';
import { normalizeFields } from '../plan/diff.ts';
import { recordedSecrets } from '../plan/secrets.ts';
import type { OrganizationRecord, RecordEntry } from '../store/record.ts';
import type { Planned, PlanningInput } from './planning.ts';

/** Reads the base from a record; null if nothing was ever applied. */
export async function baseOfRecord(record: OrganizationRecord): Promise<{ base: Base; commit: string | null }> {
  const { head, entries } = await record.read();
  if (head === null && entries.length === 0) {
    return { base: null, commit: null };
  }
  return { base: new Map(entries.map((entry) => [entry.address, entryToBase(entry)])), commit: head?.commit ?? null };
}

function entryToBase(entry: RecordEntry): BaseEntry {
  const { within, place, ...metadata } = entry.metadata;
  return {
    address: entry.address,
    kind: entry.kind,
    id: entry.id,
    fields: entry.fields,
    within: typeof within === 'string' ? within : null,
    protect: entry.protect,
    place: isObject(place) ? (place as unknown as Place) : null,
    metadata,
  };
}

/** Converts an entry of a base to one of the record. */
export function baseToEntry(base: BaseEntry): RecordEntry {
  const { address, kind, id, fields, protect, metadata } = base;
  return { address, kind, id, fields, protect, metadata: { ...metadata, ...positionOf(base) } };
}

/** Returns the base that the manifests of another commit declare: without ids and metadata. */
export function baseOfManifests(kinds: readonly Kind[], declared: ReadonlyMap<Address, Declared>): Base {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const base = new Map<Address, BaseEntry>();
  for (const [address, resource] of declared) {
    const kind = byName.get(resource.kind);
    base.set(address, {
      address,
      kind: resource.kind,
      id: resource.id,
      fields: kind === undefined ? resource.fields : normalizeFields(kind, resource.fields),
      within: resource.within,
      protect: resource.protect === true,
      place: resource.place,
      metadata: {},
    });
  }
  return base;
}

/** Records what was applied, as soon as it is confirmed and not earlier. */
export class Recorder {
  readonly #record: OrganizationRecord;
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #declared: ReadonlyMap<Address, Declared>;
  readonly #base: Base;
  readonly #secrets: ManifestSecrets;
  readonly #planned: Planned;
  /** Entries that this pass has recorded (null: removed), and the ids of the resources it has deleted. */
  readonly #latest = new Map<Address, RecordEntry | null>();
  readonly #deletedIds = new Set<string>();
  /** Entries of the base by what they are within, and by what they are deleted with; null until they are needed. */
  #parts: ReadonlyMap<Address | null, readonly BaseEntry[]> | null = null;
  #held: ReadonlyMap<Json | undefined, readonly BaseEntry[]> | null = null;
  /** Addresses with an intent, by the address of the creation in progress. */
  readonly #intents = new Map<Address, readonly Address[]>();

  constructor(
    record: OrganizationRecord,
    { kinds, declared, base, secrets }: Pick<PlanningInput, 'kinds' | 'declared' | 'base' | 'secrets'>,
    planned: Planned,
  ) {
    this.#record = record;
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]));
    this.#declared = declared;
    this.#base = base;
    this.#secrets = secrets ?? NO_SECRETS;
    this.#planned = planned;
  }

  /** Records the declared resources that need no change, and removes those that no longer exist. */
  async recordUnchanged(): Promise<void> {
    const { plan, identity } = this.#planned;
    const recordChange = new Set([...plan.changes.map((change) => change.address), ...(plan.targets?.leftOut ?? [])]);
    const entries: RecordEntry[] = [];
    for (const [address, actual] of identity.bound) {
      const resource = recordChange.has(address) ? undefined : this.#declared.get(address);
      if (resource !== undefined) {
        const entry = this.#entry(resource, actual.id, false);
        if (!this.#isRecorded(entry)) {
          entries.push(entry);
        }
      }
    }
    await this.#record.put(entries);
    if (plan.targets !== undefined) {
      // The former entries of what was left out still say what it owns, such as those of a site with a new key.
      return;
    }
    const gone = [...(this.#base?.keys() ?? [])].filter(
      (address) => !this.#declared.has(address) && !identity.owned.has(address),
    );
    await this.#record.remove(gone);
  }

  /**
   * Records an intent before creations are sent. Even if the response is lost or this process ends, the next pass knows
   * that the resource with this natural key was created here, and owns it. For a replacement, the old one stays owned
   * until its deletion is confirmed.
   */
  async recordIntents(changes: readonly Change[]): Promise<void> {
    const entries: RecordEntry[] = [];
    for (const change of changes) {
      const resource = change.action === 'create' ? this.#declared.get(change.address) : undefined;
      if (resource !== undefined) {
        const seed = this.#seedOf(change);
        this.#intents.set(change.address, [change.address, ...(seed === null ? [] : [seed.change.address])]);
        entries.push(this.#keep(this.#begun(resource, null), change));
        if (seed !== null) {
          entries.push(this.#keep(this.#begun(seed.resource, null), seed.change));
        }
      }
    }
    if (entries.length > 0) {
      await this.#record.put(entries);
    }
  }

  /** Returns the part that is created together with a section, before its own change starts. */
  #seedOf(created: Change): { readonly change: Change; readonly resource: Declared } | null {
    const seedOf = this.#kinds.get(created.kind)?.seed;
    if (seedOf === undefined) {
      return null;
    }
    const creation = (address: Address) =>
      this.#planned.plan.changes.find((each) => each.action === 'create' && each.address === address);
    const change = creation(seedOf(created, creation).address);
    const resource = change === undefined ? undefined : this.#declared.get(change.address);
    return change === undefined || resource === undefined ? null : { change, resource };
  }

  /** Records changes whose requests were all sent, and what remains of creations that were interrupted. */
  async changed(results: readonly RecordedResult[]): Promise<void> {
    const writes: RecordWrites = { removed: [], put: [] };
    for (const result of results) {
      this.#add(result, writes);
    }
    if (writes.removed.length > 0) {
      await this.#record.remove(writes.removed);
    }
    if (writes.put.length > 0) {
      await this.#record.put(writes.put);
    }
  }

  #add({ change, id, completion }: RecordedResult, writes: RecordWrites): void {
    const resource = this.#declared.get(change.address);
    if (change.action === 'delete') {
      if (completion === 'all') {
        this.#deleted(change, writes);
      }
      return;
    }
    if (completion === 'nothing') {
      this.#withdraw(change, writes);
      return;
    }
    // A replacement that was interrupted after its intent has only the id of the old resource.
    const isOld = change.isReplacement && id === this.#planned.identity.bound.get(change.address)?.id;
    const isUnlisted = id === null && this.#kinds.get(change.kind)?.creatable !== 'once';
    if (resource === undefined || isUnlisted || isOld) {
      return;
    }
    if (completion === 'all') {
      writes.put.push(this.#keep(this.#entry(resource, id, true, change.action !== 'move'), change));
    } else if (change.action === 'create') {
      writes.put.push(this.#keep(this.#begun(resource, id), change));
    }
  }

  /** Returns an entry with the old resource of a replacement that is still there. */
  #keep(entry: RecordEntry, change: Change): RecordEntry {
    const { bound, replaced } = this.#planned.identity;
    const { address, kind } = change;
    const isReplacedLater =
      change.action === 'create' && change.isReplacement && !this.#kinds.get(kind)?.deleteBeforeReplace;
    const old = replaced.get(address)?.id ?? (isReplacedLater ? bound.get(address)?.id : undefined);
    const isThere = old !== undefined && !this.#deletedIds.has(old);
    const kept = isThere ? { ...entry, metadata: { ...entry.metadata, old } } : entry;
    this.#latest.set(address, kept);
    return kept;
  }

  /**
   * Removes the intent of a creation that certainly did not happen, so that a resource that someone else creates later
   * with the same natural key is not owned here. The address keeps what it owned before.
   */
  #withdraw({ address }: Change, writes: RecordWrites): void {
    for (const intent of this.#intents.get(address) ?? []) {
      const left = this.#leftOf(intent);
      this.#latest.set(intent, left);
      if (left === null) {
        writes.removed.push(intent);
      } else {
        writes.put.push(left);
      }
    }
  }

  /** Returns what an address owns apart from the resource that was to be created; null: nothing. */
  #leftOf(address: Address): RecordEntry | null {
    const before = this.#entryOfBase(address);
    if (before === null) {
      return null;
    }
    const { old: _old, ...rest } = before.metadata;
    const { begun: _begun, ...settled } = rest;
    const old = this.#planned.identity.replaced.get(address)?.id;
    const hasOld = old !== undefined && !this.#deletedIds.has(old);
    if (before.id !== null && !this.#deletedIds.has(before.id)) {
      return { ...before, metadata: hasOld ? { ...rest, old } : rest };
    }
    // An earlier intent that has been resolved since, or a resource that this pass has deleted: only the old resource
    // may remain.
    return hasOld ? { ...before, id: old, metadata: settled } : null;
  }

  /** Records a deletion. The old resource of a replacement is owned by the address of the new one. */
  #deleted(change: Change, { removed, put }: RecordWrites): void {
    const { address, id } = change;
    this.#deletedIds.add(id ?? '');
    const [owner, old] = [...this.#planned.identity.replaced].find(([, actual]) => actual.id === id) ?? [address, null];
    const recorded = this.#latest.get(owner);
    const entry = recorded === undefined ? this.#entryOfBase(owner) : recorded;
    const { old: _old, ...metadata } = entry?.metadata ?? {};
    if (old === null && !change.isReplacement) {
      const left = this.#planned.identity.replaced.get(address);
      const remains = left !== undefined && entry !== null && !this.#deletedIds.has(left.id);
      append(removed, [...(remains ? [] : [address]), ...this.#partsOf(address)]);
      append(put, remains ? [{ ...entry, id: left.id, metadata }] : []);
    } else if (entry !== null && this.#planned.identity.owned.get(owner)?.id === id) {
      append(removed, [owner, ...this.#partsOf(owner)]);
    } else if (entry !== null && entry.id !== id) {
      put.push({ ...entry, metadata });
    }
  }

  #entryOfBase(address: Address): RecordEntry | null {
    const before = this.#base?.get(address);
    return before === undefined ? null : baseToEntry(before);
  }

  #entry(resource: Declared, id: string | null, changed: boolean, wasSent = false): RecordEntry {
    const kind = this.#kinds.get(resource.kind);
    const before = this.#base?.get(resource.address);
    const actualOf = (address: Address) => this.#planned.identity.bound.get(address);
    const { begun: _begun, old: _old, ...known } = before?.metadata ?? {};
    const own = kind?.recordedMetadata?.(resource, known, changed, actualOf) ?? known;
    const metadata = kind === undefined ? own : recordedSecrets(kind, resource, own, wasSent, this.#secrets);
    return {
      address: resource.address,
      kind: resource.kind,
      id,
      fields: kind === undefined ? resource.fields : normalizeFields(kind, resource.fields),
      protect: resource.protect ?? before?.protect ?? false,
      metadata: { ...metadata, ...positionOf(resource) },
    };
  }

  /** Returns the entry of an unfinished creation: it is owned, but no field that cannot be read back counts as sent. */
  #begun(resource: Declared, id: string | null): RecordEntry {
    const entry = this.#entry(resource, id, false);
    const rules = this.#kinds.get(resource.kind)?.fields ?? {};
    const fields: JsonObject = Object.fromEntries(
      Object.entries(entry.fields).filter(([name]) => rules[name]?.compare !== 'base'),
    );
    return { ...entry, fields, metadata: { ...entry.metadata, begun: true } };
  }

  #isRecorded(entry: RecordEntry): boolean {
    const before = this.#base?.get(entry.address);
    return (
      before !== undefined &&
      before.id === entry.id &&
      before.protect === entry.protect &&
      sameJson(before.fields, entry.fields) &&
      sameJson({ ...before.metadata, ...positionOf(before) }, entry.metadata)
    );
  }

  /** Returns the addresses that are deleted together with a resource. */
  #partsOf(address: Address): readonly Address[] {
    this.#parts ??= Map.groupBy(this.#base?.values() ?? [], (entry) => entry.within);
    this.#held ??= Map.groupBy(this.#base?.values() ?? [], (entry) =>
      this.#kinds.get(entry.kind)?.deletedWith?.(entry.fields),
    );
    const parts = [...(this.#parts.get(address) ?? []), ...(this.#held.get(address) ?? [])];
    return [...new Set(parts.map((entry) => entry.address))];
  }
}

/** Returns the place of a resource, which the record stores with its metadata. */
function positionOf({ within, place }: Pick<BaseEntry, 'within' | 'place'>): JsonObject {
  return {
    ...(within === null ? {} : { within }),
    ...(place ? { place: { list: place.list, index: place.index } } : {}),
  };
}

/** Entries to remove and to write. */
interface RecordWrites {
  readonly removed: Address[];
  readonly put: RecordEntry[];
}

/** A change that ended, with the id of its resource. */
export interface RecordedResult {
  readonly change: Change;
  readonly id: string | null;
  readonly completion: Completion;
}

/** Share of a change's requests that took effect: `part` also if this is unknown, `nothing` only if it is certain. */
export type Completion = 'all' | 'part' | 'nothing';
