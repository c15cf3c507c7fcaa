import type { Address } from '../core/address.ts';
import type { Change } from '../core/change.ts';
import type { Declared } from '../core/resource.ts';
import type { Kind } from '../kinds/kind.ts';
import { identify } from '../plan/identity.ts';
import type { Reader } from '../platform/client.ts';
import { platformSource } from './actual-source.ts';
import { observe } from './observe.ts';
import type { Bindings } from './sending.ts';

/**
 * Looks up by natural key what a creation has made whose answer was lost, among what no other key means, and binds it
 * with what came into being inside it. Null where it made nothing. It reads everything again: a lost answer is rare,
 * and what was made since the plan must be known by its key to be told apart.
 */
export async function locateCreated(
  change: Change,
  bindings: Bindings,
  declared: ReadonlyMap<Address, Declared>,
  kinds: readonly Kind[],
  reader: Reader,
): Promise<string | null> {
  // By its id is known what has not got its new title yet, and so what lies in it.
  const known = new Map([...declared].map(([address, resource]) => [address, withId(resource, bindings)]));
  const observation = await observe({ kinds, declared: known, base: null, source: platformSource(reader) });
  const { bound } = identify(kinds, known, null, observation);
  const made = bound.get(change.address);
  if (made === undefined) {
    return null;
  }
  bindings.set(change.address, made.id);
  for (const [address, actual] of bound) {
    if (known.get(address)?.place?.list === change.address && !bindings.has(address)) {
      bindings.set(address, actual.id);
    }
  }
  return made.id;
}

function withId(resource: Declared, bindings: Bindings): Declared {
  const id = bindings.get(resource.address);
  return id === undefined ? resource : { ...resource, id };
}
