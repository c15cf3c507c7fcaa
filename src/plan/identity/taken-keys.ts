/** Refuses a base without ids where it does not tell whether an interrupted apply has passed a key on already. */
import type { Address } from '../../core/address.ts';
import type { BaseEntry, Declared } from '../../core/resource.ts';
import type { NaturalKey } from '../model/rules.ts';
import type { BindingState } from './binding-state.ts';
import { getIndexKey } from './natural-key.ts';

/** Declared resource whose best natural key differs from that of the base. */
interface Renamed {
  readonly resource: Declared;
  readonly before: NaturalKey;
  readonly now: NaturalKey;
}

/**
 * Reports renamed resources whose old key is now declared by a new one, if the platform has resources with both keys and
 * the base knows only the old key. Before the rename, the first of them is the renamed resource; afterwards it is the new
 * one. The wrong choice would overwrite one resource with the other.
 */
export function refuseTakenKeys(state: BindingState): void {
  const renamed = [...state.waiting].flatMap((resource) => findRename(state, resource));
  if (renamed.length === 0) {
    return;
  }
  const known = new Set(baseEntries(state).flatMap((entry) => state.baseKeys(entry).map((key) => slotOf(entry, key))));
  const takers = new Map<string, Address>();
  for (const resource of state.waiting) {
    if (state.baseEntry(resource.address) === undefined) {
      for (const key of state.declaredKeys(resource)) {
        takers.set(slotOf(resource, key), resource.address);
      }
    }
  }
  for (const { resource, before, now } of renamed) {
    const taker = takers.get(slotOf(resource, before));
    const [old] = state.find(resource.within, before, true, 'free');
    const [next] = state.find(resource.within, now, true, 'free');
    if (taker !== undefined && old !== undefined && next !== undefined && !known.has(slotOf(resource, now))) {
      state.waiting.delete(resource);
      const choices = `${old.id}, whose ${before.by} the base has, or ${next.id}, whose ${now.by} is declared now`;
      state.problem(resource, `may be ${choices}, because ${taker} takes over the ${before.by}; set id to choose one`);
    }
  }
}

function findRename(state: BindingState, resource: Declared): readonly Renamed[] {
  const entry = state.baseEntry(resource.address);
  if (entry === undefined || entry.id !== null) {
    return [];
  }
  const [before] = state.baseKeys(entry);
  const [now] = state.declaredKeys(resource);
  const isRenamed = before !== undefined && now !== undefined && before.by === now.by && before.value !== now.value;
  return isRenamed ? [{ resource, before, now }] : [];
}

function baseEntries(state: BindingState): readonly BaseEntry[] {
  return [...state.declared.flatMap(({ address }) => state.baseEntry(address) ?? []), ...state.dropped];
}

function slotOf({ within }: Pick<Declared, 'within'>, key: NaturalKey): string {
  return getIndexKey(within, key);
}
