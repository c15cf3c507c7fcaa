/** Tree of the declared resources of an organization, kept while the manifests stay the same. */
import type { Address } from '../../core/address.ts';
import type { Declared } from '../../core/resource.ts';
import { kinds } from '../../kinds/registry.ts';

/** A declared resource in the tree. */
export interface TreeNode {
  readonly resource: Declared;
  /** Title if it has one. */
  readonly title: string;
  readonly parent: TreeNode | null;
  readonly depth: number;
  /** Position in the order of the tree, parents first. */
  readonly position: number;
  /** Address and title in lower case, for searches. */
  readonly text: string;
}

export interface ResourceTree {
  /** Parents first, each followed by what it contains. */
  readonly nodes: readonly TreeNode[];
  readonly byAddress: ReadonlyMap<Address, TreeNode>;
  /** Number of resources of each kind. */
  readonly kinds: ReadonlyMap<string, number>;
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
  const byAddress = new Map<Address, TreeNode>();
  const addAll = (roots: readonly Declared[]) => {
    const stack: { readonly resource: Declared; readonly parent: TreeNode | null }[] = [];
    const push = (resources: readonly Declared[], parent: TreeNode | null) => {
      for (const resource of resources.toSorted(compareSiblings).reverse()) {
        stack.push({ resource, parent });
      }
    };
    push(roots, null);
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (!byAddress.has(next.resource.address)) {
        const node = nodeOf(next.resource, next.parent, nodes.length);
        nodes.push(node);
        byAddress.set(node.resource.address, node);
        push(children.get(node.resource.address) ?? [], node);
      }
    }
  };
  addAll(children.get(null) ?? []);
  // What is left is below itself, which the manifests do not forbid.
  for (const resource of nodes.length < declared.size ? declared.values() : []) {
    addAll([resource]);
  }
  return { nodes, byAddress, kinds: countKinds(nodes) };
}

function nodeOf(resource: Declared, parent: TreeNode | null, position: number): TreeNode {
  const title = titleOf(resource);
  const text = `${resource.address}\n${title}`.toLowerCase();
  return { resource, title, parent, depth: parent === null ? 0 : parent.depth + 1, position, text };
}

/** Returns the address that a resource is below; null at the top. */
function parentOf({ kind, fields, within }: Declared, declared: DeclaredResources): Address | null {
  const field = (PARENT_FIELDS.get(kind) ?? []).map((name) => fields[name]).find((value) => typeof value === 'string');
  if (typeof field === 'string' && declared.has(field)) {
    return field;
  }
  return within !== null && declared.has(within) ? within : null;
}

function compareSiblings(a: Declared, b: Declared): number {
  const order = (ORDER.get(a.kind) ?? 0) - (ORDER.get(b.kind) ?? 0);
  return order || (a.place?.index ?? 0) - (b.place?.index ?? 0) || (a.address < b.address ? -1 : 1);
}

function countKinds(nodes: readonly TreeNode[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { resource } of nodes) {
    counts.set(resource.kind, (counts.get(resource.kind) ?? 0) + 1);
  }
  return counts;
}
