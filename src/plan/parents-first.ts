import type { Declared } from '../core/resource.ts';

/** Resources of one kind with those they live in before them, so that a parent can decide between equals. */
export function parentsFirst(declared: readonly Declared[]): readonly Declared[] {
  const byAddress = new Map(declared.map((resource) => [resource.address, resource]));
  const ordered = new Set<Declared>();
  const visit = (resource: Declared): void => {
    const parent = resource.fields.parent;
    const holder = typeof parent === 'string' ? byAddress.get(parent) : undefined;
    if (holder !== undefined && !ordered.has(holder)) {
      visit(holder);
    }
    ordered.add(resource);
  };
  for (const resource of declared) {
    visit(resource);
  }
  return [...ordered];
}
