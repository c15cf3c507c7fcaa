/** Names a resource everywhere: `team/writers`, `site-space/help/guides/en`; the organization is just `organization`. */
export type Address = string;

/** The address of a kind's resource with this key. */
export function addressOf(kind: string, key: string): Address {
  return key === '' ? kind : `${kind}/${key}`;
}

/** The kind an address names. */
export function kindOf(address: Address): string {
  const slash = address.indexOf('/');
  return slash === -1 ? address : address.slice(0, slash);
}

/** The key an address names; empty for the organization. */
export function keyOf(address: Address): string {
  const slash = address.indexOf('/');
  return slash === -1 ? '' : address.slice(slash + 1);
}

/** How a resource that no key declares is written where an address is expected: by its id. */
export function unboundAddress(id: string): Address {
  return `#${id}`;
}
