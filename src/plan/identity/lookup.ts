import { type Address, unboundAddress } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import { isIdRef } from '../../core/resource.ts';

/** Returns the address that an id of one of these kinds is bound to, or `#id` if there is none. */
export function addressOfId(kinds: readonly string[], id: string, addresses: ReadonlyMap<string, Address>): Address {
  for (const kind of kinds) {
    const address = addresses.get(`${kind} ${id}`);
    if (address !== undefined) {
      return address;
    }
  }
  return unboundAddress(id);
}

/** Replaces every reference by id with the address that the id is bound to. */
export function lookUp(value: Json | undefined, addresses: ReadonlyMap<string, Address>): Json | undefined {
  if (value === null || typeof value !== 'object') {
    return value;
  }
  if (isIdRef(value)) {
    return addressOfId(value.kinds, value.$id, addresses);
  }
  if (Array.isArray(value)) {
    return value.map((item) => lookUp(item, addresses) ?? null);
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, lookUp(member as Json, addresses)]));
}
