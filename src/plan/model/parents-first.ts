import type { Declared } from '../../core/resource.ts';

/** Orders the resources of one kind with parents first, so that a parent can decide between equal matches. */
export function parentsFirst(declared: readonly Declared[]): readonly Declared[] {
  if (!declared.some(({ fields: { parent } }) => typeof parent === 'string')) {
    return declared;
  }
  const byAddress = new Map(declared.map((resource) => [resource.address, resource]));
  const ordered = new Set<Declared>();
  const parentOf = ({ fields: { parent } }: Declared) =>
    typeof parent === 'string' ? byAddress.get(parent) : undefined;
  for (const resource of declared) {
    // A chain of parents may be longer than the call stack allows.
    const chain = new Set<Declared>();
    for (let at: Declared | undefined = resource; at !== undefined && !ordered.has(at); at = parentOf(at)) {
      if (chain.has(at)) {
        break;
      }
      chain.add(at);
    }
    for (const each of [...chain].reverse()) {
      ordered.add(each);
    }
  }
  return [...ordered];
}
