import type { Address } from '../core/address.ts';
import type { Change } from '../core/change.ts';
import type { Json } from '../core/json.ts';
import type { Observation } from '../core/resource.ts';
import type { Identity } from './identity/identity.ts';
import type { KindRules } from './model/rules.ts';

/**
 * Leaves out the deletions that happen implicitly because the parent of the resource is deleted. A protected part also
 * keeps its parent.
 */
export function withoutImplicit(changes: readonly Change[], kinds: ReadonlyMap<string, KindRules>): readonly Change[] {
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
export function holdLastRequiredPart(
  changes: readonly Change[],
  {
    kinds,
    observation,
    identity,
  }: { readonly kinds: readonly KindRules[]; readonly observation: Observation; readonly identity: Identity },
): readonly Change[] {
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
