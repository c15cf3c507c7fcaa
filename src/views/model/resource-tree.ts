/** Tree of the declared resources of an organization, kept while the manifests stay the same. */
import type { Address } from '../../core/address.ts';
import type { Declared } from '../../core/resource.ts';
import { kinds } from '../../kinds/registry.ts';

type DeclaredResources = ReadonlyMap<Address, Declared>;

/** Trees by the manifests they are of: a tree of 100,000 resources takes longer to build than a page may take. */
const trees = new WeakMap<DeclaredResources, ResourceTree>();

/** Fields that place a resource below another one, by kind. */
const PARENT_FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  kinds.map(({ name, fields }) => [
    name,
    Object.entries(fields)
      .filter(([, rules]) => rules.placement === true || rules.parentRef === true)
      .map(([field]) => field),
  ]),
);
/** Kinds in the order of the tree: the organization and sites first, people last. */
const ORDER: ReadonlyMap<string, number> = new Map(kinds.toReversed().map(({ name }, index) => [name, index]));

/** Tree of resources. It has no object for each of them, and what few pages need is made when it is first read. */
export class ResourceTree {
  readonly #declared: DeclaredResources;
  /** Parents first, each followed by what it contains. A position is an index of this list. */
  readonly resources: readonly Declared[];
  /** Resources that are below themselves, which the manifests do not forbid, and are shown at the top. */
  readonly #loops: ReadonlySet<Declared>;
  #positions: ReadonlyMap<Address, number> | null = null;
  #kinds: ReadonlyMap<string, number> | null = null;
  #texts: readonly string[] | null = null;

  constructor(declared: DeclaredResources) {
    this.#declared = declared;
    const { resources, loops } = sortTree(declared);
    this.resources = resources;
    this.#loops = loops;
  }

  /** Number of resources of each kind. */
  get kinds(): ReadonlyMap<string, number> {
    this.#kinds ??= countKinds(this.resources);
    return this.#kinds;
  }

  /** Addresses and titles in lower case, by position, for searches. */
  get texts(): readonly string[] {
    this.#texts ??= this.resources.map((each) => `${each.address}\n${titleOf(each)}`.toLowerCase());
    return this.#texts;
  }

  /** Returns the position of a resource; undefined if it is not declared. */
  positionOf(address: Address): number | undefined {
    this.#positions ??= new Map(this.resources.map((each, position) => [each.address, position]));
    return this.#positions.get(address);
  }

  /** Returns what a resource is part of; null at the top. */
  parentOf(resource: Declared): Declared | null {
    const parent = this.#loops.has(resource) ? null : parentAddress(resource, this.#declared);
    return parent === null ? null : (this.#declared.get(parent) ?? null);
  }
}

/** Returns the tree of these resources. */
export function resourceTree(declared: DeclaredResources): ResourceTree {
  const known = trees.get(declared) ?? new ResourceTree(declared);
  trees.set(declared, known);
  return known;
}

/** Returns the title of a resource; empty if it has none. */
export function titleOf({ fields }: Pick<Declared, 'fields'>): string {
  const title = fields.title ?? fields.label;
  return typeof title === 'string' ? title : '';
}

type Children = ReadonlyMap<Address | null, readonly Declared[]>;

function sortTree(declared: DeclaredResources): { resources: readonly Declared[]; loops: ReadonlySet<Declared> } {
  const children = new Map<Address | null, Declared[]>();
  for (const resource of declared.values()) {
    const parent = parentAddress(resource, declared);
    const siblings = children.get(parent);
    if (siblings === undefined) {
      children.set(parent, [resource]);
    } else {
      siblings.push(resource);
    }
  }
  const resources: Declared[] = [];
  const loops = new Set<Declared>();
  addBelow(resources, children.get(null) ?? [], children);
  if (resources.length < declared.size) {
    const added = new Set(resources);
    for (const resource of declared.values()) {
      if (!added.has(resource)) {
        loops.add(resource);
        addBelow(resources, [resource], children, added);
      }
    }
  }
  return { resources, loops };
}

/** Adds resources with what they contain. `added`: those that were added before and are left out. */
function addBelow(
  resources: Declared[],
  roots: readonly Declared[],
  children: Children,
  added: Set<Declared> | null = null,
): void {
  const levels = [{ siblings: roots.toSorted(compareSiblings), next: 0 }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const resource = level.siblings[level.next];
    level.next += 1;
    if (resource === undefined) {
      levels.pop();
    } else if (added?.has(resource) !== true) {
      resources.push(resource);
      added?.add(resource);
      const inside = children.get(resource.address);
      if (inside !== undefined) {
        levels.push({ siblings: inside.toSorted(compareSiblings), next: 0 });
      }
    }
  }
}

/** Returns the address that a resource is below; null at the top. */
function parentAddress({ kind, fields, within }: Declared, declared: DeclaredResources): Address | null {
  const name = PARENT_FIELDS.get(kind)?.find((each) => typeof fields[each] === 'string');
  const parent = name === undefined ? undefined : (fields[name] as Address);
  if (parent !== undefined && declared.has(parent)) {
    return parent;
  }
  return within !== null && declared.has(within) ? within : null;
}

function compareSiblings(a: Declared, b: Declared): number {
  const order = a.kind === b.kind ? 0 : (ORDER.get(a.kind) ?? 0) - (ORDER.get(b.kind) ?? 0);
  return order || (a.place?.index ?? 0) - (b.place?.index ?? 0) || (a.address < b.address ? -1 : 1);
}

function countKinds(resources: readonly Declared[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { kind } of resources) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
