import type { Actual } from '../core/resource.ts';
import type { KindRules, NaturalKey } from './rules.ts';

/** Where resources with one natural key are found together. */
export function slotOf(within: string | null, key: NaturalKey): string {
  return `${within ?? ''}\n${key.by}\n${key.value}`;
}

/** Says which resources share a natural key. */
export function describe(kind: KindRules, key: NaturalKey, found: readonly Actual[]): string {
  const ids = found.map((actual) => actual.id).sort();
  return `${found.length} resources of kind ${kind.name} have the ${key.by} ${JSON.stringify(key.value)} (${ids.join(', ')})`;
}
