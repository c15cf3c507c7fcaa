import { enumerated } from '../../core/lists.ts';
import type { Actual } from '../../core/resource.ts';
import type { KindRules, NaturalKey } from '../model/rules.ts';

/** Where resources with one natural key are found together. */
export function slotOf(within: string | null, key: NaturalKey): string {
  return `${within ?? ''}\n${key.by}\n${key.value}`;
}

/** Made once for each list: every one of n keys that could mean the same n resources asks for it. */
const described = new WeakMap<readonly Actual[], string>();

/** Says which resources share a natural key; names ten of them at most. */
export function describe(kind: KindRules, key: NaturalKey, found: readonly Actual[]): string {
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
