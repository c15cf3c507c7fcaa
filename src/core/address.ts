/** Address of a resource: `team/writers`, `site-space/help/guides/en`; that of the organization is `organization`. */
export type Address = string;

/** Returns the address of a kind's resource with this key. */
export function addressOf(kind: string, key: string): Address {
  return key === '' ? kind : `${kind}/${key}`;
}

/** Returns the kind in an address. */
export function kindOf(address: Address): string {
  const slash = address.indexOf('/');
  return slash === -1 ? address : address.slice(0, slash);
}

/** Returns the key in an address; empty for the organization. */
export function keyOf(address: Address): string {
  const slash = address.indexOf('/');
  return slash === -1 ? '' : address.slice(slash + 1);
}

/** Returns the notation that replaces an address for a resource that no key declares. */
export function unboundAddress(id: string): Address {
  return `#${id}`;
}
