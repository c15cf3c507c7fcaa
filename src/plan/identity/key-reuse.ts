import { type Change, changeId } from '../../core/change.ts';
import type { Fields } from '../../core/resource.ts';
import type { KindRules } from '../model/rules.ts';

/** Natural key that one change frees and another takes. */
export interface ReusedKey {
  readonly by: string;
  readonly taker: Change;
  readonly holder: Change;
}

/** Finds the natural keys that pass from one resource to another, such as the path of a site space. */
export function findReusedKeys(
  kinds: ReadonlyMap<string, KindRules>,
  changes: readonly Change[],
): readonly ReusedKey[] {
  if (!changes.some(({ action }) => action === 'update' || action === 'delete')) {
    return [];
  }
  const freed = new Map<string, Change>();
  const taken: { readonly slot: string; readonly by: string; readonly taker: Change }[] = [];
  for (const change of changes) {
    const kind = kinds.get(change.kind);
    if (kind === undefined || change.action === 'move') {
      continue;
    }
    const before = change.action === 'create' ? new Map() : slots(kind, change.actual, change);
    const after = change.action === 'delete' ? new Map() : slots(kind, change.declared, change);
    for (const slot of before.keys()) {
      if (!after.has(slot)) {
        freed.set(slot, change);
      }
    }
    for (const [slot, by] of after) {
      if (!before.has(slot)) {
        taken.push({ slot, by, taker: change });
      }
    }
  }
  return taken.flatMap(({ slot, by, taker }) => {
    const holder = freed.get(slot);
    return holder === undefined || holder === taker ? [] : [{ by, taker, holder }];
  });
}

/**
 * Finds one key of each cycle of reused keys. The resource that takes it gets a temporary value first, which frees the
 * other keys of the cycle.
 */
export function findKeyCycles(
  kinds: ReadonlyMap<string, KindRules>,
  passed: readonly ReusedKey[],
): ReadonlySet<ReusedKey> {
  const next = new Map<string, ReusedKey>();
  for (const pass of passed) {
    const both = pass.taker.action === 'update' && pass.holder.action === 'update';
    if (both && kinds.get(pass.taker.kind)?.unique === pass.by) {
      next.set(changeId(pass.taker), pass);
    }
  }
  const found = new Set<ReusedKey>();
  const done = new Set<string>();
  for (const start of next.keys()) {
    const path = new Set<string>();
    let pass = next.get(start);
    while (pass !== undefined && !done.has(changeId(pass.taker))) {
      if (path.has(changeId(pass.taker))) {
        found.add(pass);
        break;
      }
      path.add(changeId(pass.taker));
      pass = next.get(changeId(pass.holder));
    }
    for (const each of path) {
      done.add(each);
    }
  }
  return found;
}

function slots(kind: KindRules, fields: Fields, change: Change): ReadonlyMap<string, string> {
  return new Map(
    kind
      .naturalKeys(fields, change.address)
      .map((key) => [`${change.kind}\n${change.within ?? ''}\n${key.by}\n${key.value}`, key.by]),
  );
}
