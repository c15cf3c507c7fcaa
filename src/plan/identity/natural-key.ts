import { enumerated } from '../../core/lists.ts';
import type { Actual } from '../../core/resource.ts';
import type { KindRules, NaturalKey } from '../model/rules.ts';

/** Returns the index key of the resources with one natural key. */
export function getIndexKey(within: string | null, key: NaturalKey): string {
  return `${within ?? ''}\n${key.by}\n${key.value}`;
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
