/** Tree of the declared resources of an organization, kept while the manifests stay the same. */
import type { Address } from '../../core/address.ts';
import type { Declared } from '../../core/resource.ts';
import { kinds } from '../../kinds/registry.ts';

/** A declared resource in the tree. */
export class TreeNode {
  readonly resource: Declared;
  readonly parent: TreeNode | null;
  /** Position in the order of the tree, parents first. */
  readonly position: number;
  #text: string | null = null;

  constructor(resource: Declared, parent: TreeNode | null, position: number) {
    this.resource = resource;
    this.parent = parent;
    this.position = position;
  }

  /** Title if it has one. */
  get title(): string {
    return titleOf(this.resource);
  }

  /** Address and title in lower case, for searches. Made by the first one, because most trees are never searched. */
  get text(): string {
    this.#text ??= `${this.resource.address}\n${this.title}`.toLowerCase();
    return this.#text;
  }
}

/** Tree of resources. Parts that few pages need are made when they are first read. */
export class ResourceTree {
  /** Parents first, each followed by what it contains. */
  readonly nodes: readonly TreeNode[];
  #byAddress: ReadonlyMap<Address, TreeNode> | null = null;
  #kinds: ReadonlyMap<string, number> | null = null;

  constructor(nodes: readonly TreeNode[]) {
    this.nodes = nodes;
  }

  get byAddress(): ReadonlyMap<Address, TreeNode> {
    this.#byAddress ??= new Map(this.nodes.map((node) => [node.resource.address, node]));
    return this.#byAddress;
  }

  /** Number of resources of each kind. */
  get kinds(): ReadonlyMap<string, number> {
    this.#kinds ??= countKinds(this.nodes);
    return this.#kinds;
  }
}

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
const NONE: readonly Declared[] = [];
/** Kinds in the order of the tree: the organization and sites first, people last. */
const ORDER: ReadonlyMap<string, number> = new Map(kinds.toReversed().map(({ name }, index) => [name, index]));

/** Returns the tree of these resources. */
export function resourceTree(declared: DeclaredResources): ResourceTree {
  const known = trees.get(declared) ?? build(declared);
  trees.set(declared, known);
  return known;
}

/** Returns the title of a resource; empty if it has none. */
export function titleOf({ fields }: Pick<Declared, 'fields'>): string {
  const title = fields.title ?? fields.label;
  return typeof title === 'string' ? title : '';
}

function build(declared: DeclaredResources): ResourceTree {
  const children = new Map<Address | null, Declared[]>();
  for (const resource of declared.values()) {
    const parent = parentOf(resource, declared);
    const siblings = children.get(parent);
    if (siblings === undefined) {
      children.set(parent, [resource]);
    } else {
      siblings.push(resource);
    }
  }
  const nodes: TreeNode[] = [];
  addBelow(nodes, children.get(null) ?? [], children);
  if (nodes.length < declared.size) {
    // What is left is below itself, which the manifests do not forbid.
    const added = new Set(nodes.map(({ resource }) => resource));
    for (const resource of declared.values()) {
      addBelow(nodes, [resource], children, added);
    }
  }
  return new ResourceTree(nodes);
}

/** Adds resources with what they contain, except those that were added before. */
function addBelow(
  nodes: TreeNode[],
  roots: readonly Declared[],
  children: ReadonlyMap<Address | null, readonly Declared[]>,
  added: Set<Declared> | null = null,
): void {
  const stack: { readonly resource: Declared; readonly parent: TreeNode | null }[] = [];
  const push = (resources: readonly Declared[], parent: TreeNode | null) => {
    for (const resource of resources.toSorted(compareSiblings).reverse()) {
      stack.push({ resource, parent });
    }
  };
  push(roots, null);
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (added?.has(next.resource) !== true) {
      const node = new TreeNode(next.resource, next.parent, nodes.length);
      nodes.push(node);
      added?.add(next.resource);
      push(children.get(next.resource.address) ?? NONE, node);
    }
  }
}

/** Returns the address that a resource is below; null at the top. */
function parentOf({ kind, fields, within }: Declared, declared: DeclaredResources): Address | null {
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

function countKinds(nodes: readonly TreeNode[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { resource } of nodes) {
    counts.set(resource.kind, (counts.get(resource.kind) ?? 0) + 1);
  }
  return counts;
}
