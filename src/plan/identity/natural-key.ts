import type { Problem } from '../../core/errors.ts';
import { canonicalJson } from '../../core/json.ts';
import { enumerated } from '../../core/lists.ts';
import type { Actual, Declared } from '../../core/resource.ts';
import type { KindRules, NaturalKey } from '../model/rules.ts';

/** Returns the index key of the resources with one natural key. */
export function getIndexKey(within: string | null, key: NaturalKey): string {
  return `${within ?? ''}\n${key.by}\n${key.value}`;
}

/** Like {@link getIndexKey}, but two parents can each have a resource with the same key. */
export function getSlot(within: string | null, key: NaturalKey): string {
  return `${getIndexKey(within, key)}\n${canonicalJson(key.parent ?? null)}`;
}

/**
 * Reports resources without an id that have the best natural key of another one: once they exist, nothing but a record of
 * their ids tells them apart.
 */
export function findSharedKeys(kind: KindRules, resources: Iterable<Declared>): Problem[] {
  const firsts = new Map<string, Declared>();
  const problems: Problem[] = [];
  for (const resource of resources) {
    const [key] = resource.id === null ? kind.naturalKeys(resource.fields, resource.address) : [];
    const slot = key === undefined ? '' : getSlot(resource.within, key);
    const first = firsts.get(slot);
    if (key !== undefined && first === undefined) {
      firsts.set(slot, resource);
    } else if (key !== undefined && first !== undefined) {
      problems.push({ ...resource.source, address: resource.address, message: sharedKey(key, first) });
    }
  }
  return problems;
}

function sharedKey({ by }: NaturalKey, { address, source }: Declared): string {
  return (
    `has the same ${by} as ${address} (${source.file}:${source.line}), so no later plan could tell them apart; ` +
    `change one, or apply one first and set its id`
  );
}

/** Cached by list: each of n keys that match the same n resources needs the description. */
const described = new WeakMap<readonly Actual[], string>();

/** Names the resources that share a natural key, at most ten of them. */
export function describeMatches(kind: KindRules, key: NaturalKey, found: readonly Actual[]): string {
  const known = described.get(found);
  if (known !== undefined) {
    return known;
  }
  const ids = found.map((actual) => actual.id).sort();
  const value = JSON.stringify(key.value);
  const words = `${found.length} resources of kind ${kind.name} have the ${key.by} ${value} (${enumerated(ids)})`;
  described.set(found, words);
  return words;
}
