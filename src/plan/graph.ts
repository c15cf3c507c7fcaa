/** Graph of changes that come before others. */

/** An edge: `node` comes after `before`. */
interface Edge {
  readonly node: number;
  readonly before: number;
  readonly strength: 'required' | 'requiredIfAcyclic' | 'preferred';
}

/** Limit on the nodes that cycle checks visit, per node and edge. Beyond it, optional edges follow a fixed order. */
const VISITS = 20;

/**
 * Directed acyclic graph of what comes before what. Edges are collected first and settled together in
 * linear time: an optional edge outside every strongly connected component cannot close a cycle, and only the others
 * are checked one by one, in the order in which they were added.
 */
export class Graph {
  readonly #names: string[] = [];
  readonly #places = new Map<string, number>();
  readonly #edges: Edge[] = [];
  readonly #visits: number | null;

  /**
   * @param nodes in the order to keep where no edge decides
   * @param visits nodes that cycle checks may visit altogether; by default in proportion to the graph
   */
  constructor(nodes: readonly string[], visits: number | null = null) {
    this.#visits = visits;
    for (const node of nodes) {
      this.add(node);
    }
  }

  /** Adds a node after the others, unless it exists already. */
  add(node: string): void {
    if (!this.#places.has(node)) {
      this.#places.set(node, this.#names.length);
      this.#names.push(node);
    }
  }

  has(node: string): boolean {
    return this.#places.has(node);
  }

  /** Orders `node` after `before`, and requires `before`. For edges that cannot be part of a cycle. */
  require(node: string, before: string): void {
    this.#connect(node, before, 'required');
  }

  /** Like {@link require}, but dropped if the edge would close a cycle. */
  requireIfAcyclic(node: string, before: string): void {
    this.#connect(node, before, 'requiredIfAcyclic');
  }

  /** Orders `node` after `before`, even if `before` fails. Dropped if the edge would close a cycle. */
  prefer(node: string, before: string): void {
    this.#connect(node, before, 'preferred');
  }

  /** Returns the accepted edges, by the node that comes after, and all nodes in topological order. */
  settle(): Settled {
    const count = this.#names.length;
    const edges = accept(count, this.#edges, this.#visits ?? VISITS * (count + this.#edges.length));
    const [required, preferred] = [edges.filter((edge) => !isPreferred(edge)), edges.filter(isPreferred)];
    return {
      hard: this.#byName(required),
      soft: this.#byName(preferred),
      sequence: topological(count, [...required, ...preferred]).map((node) => this.#names[node] ?? ''),
    };
  }

  /** Returns the nodes that come after one of these by any path. */
  after(nodes: Iterable<string>): ReadonlySet<string> {
    const reversed = this.#edges.map(({ node, before, strength }) => ({ node: before, before: node, strength }));
    const followers = adjacency(this.#names.length, reversed);
    const found = new Set<number>();
    const stack = [...nodes].flatMap((name) => this.#places.get(name) ?? []);
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      for (const next of followers[at] ?? []) {
        if (!found.has(next)) {
          found.add(next);
          stack.push(next);
        }
      }
    }
    return new Set([...found].map((node) => this.#names[node] ?? ''));
  }

  #connect(node: string, before: string, strength: Edge['strength']): void {
    const [from, to] = [this.#places.get(node), this.#places.get(before)];
    if (from !== undefined && to !== undefined && from !== to) {
      this.#edges.push({ node: from, before: to, strength });
    }
  }

  #byName(edges: readonly Edge[]): ReadonlyMap<string, readonly string[]> {
    const sets = new Map<string, Set<string>>();
    for (const { node, before } of edges) {
      const name = this.#names[node] ?? '';
      const set = sets.get(name) ?? new Set();
      sets.set(name, set.add(this.#names[before] ?? ''));
    }
    return new Map([...sets].map(([name, set]) => [name, [...set]]));
  }
}

interface Settled {
  /** Nodes that each node requires. */
  readonly hard: ReadonlyMap<string, readonly string[]>;
  /** Nodes that each node prefers to come after. */
  readonly soft: ReadonlyMap<string, readonly string[]>;
  /** All nodes in topological order; where no edge decides, in the order given. */
  readonly sequence: readonly string[];
}

function isPreferred({ strength }: Edge): boolean {
  return strength === 'preferred';
}

/** Returns the accepted edges: all but optional ones that would close a cycle with required or earlier ones. */
function accept(count: number, edges: readonly Edge[], visits: number): readonly Edge[] {
  const component = components(count, edges);
  const isInside = ({ node, before }: Edge) => component[node] === component[before];
  const accepted = new Set(edges.filter((edge) => edge.strength === 'required' || !isInside(edge)));
  /** Accepted edges inside components, by node: only these can be part of a cycle. */
  const inside = adjacency(
    count,
    edges.filter((edge) => accepted.has(edge) && isInside(edge)),
  );
  let left = visits;
  /** Position of each node in a topological order, once no visits are left. */
  let order: ReadonlyMap<number, number> | null = null;
  for (const edge of edges.filter((each) => !accepted.has(each))) {
    const { node, before } = edge;
    if (order === null) {
      const { found, visited } = reaches(inside, before, node, left);
      left -= visited;
      if (found === true) {
        continue;
      }
      order = found === null ? new Map(topological(count, [...accepted]).map((each, at) => [each, at])) : null;
    }
    if (order === null || (order.get(before) ?? 0) < (order.get(node) ?? 0)) {
      accepted.add(edge);
      addEdge(inside, edge);
    }
  }
  return edges.filter((edge) => accepted.has(edge));
}

/** Returns true if `from` comes after `to` by any path; null after more than `most` visits. */
function reaches(
  before: Readonly<Adjacency>,
  from: number,
  to: number,
  most: number,
): { readonly found: boolean | null; readonly visited: number } {
  const seen = new Set([from]);
  const stack = [from];
  let visited = 0;
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (at === to) {
      return { found: true, visited };
    }
    for (const next of before[at] ?? []) {
      visited += 1;
      if (visited > most) {
        return { found: null, visited };
      }
      if (!seen.has(next)) {
        seen.add(next);
        stack.push(next);
      }
    }
  }
  return { found: false, visited };
}

/** Returns the strongly connected component of each node (Tarjan's algorithm, without recursion). */
function components(count: number, edges: readonly Edge[]): readonly number[] {
  const before = adjacency(count, edges);
  const component = new Array<number>(count).fill(-1);
  const index = new Array<number>(count).fill(-1);
  const low = new Array<number>(count).fill(0);
  const open: number[] = [];
  let next = 0;
  let found = 0;
  for (let start = 0; start < count; start += 1) {
    const path: { readonly node: number; at: number }[] = [];
    const enter = (node: number) => {
      index[node] = next;
      low[node] = next;
      next += 1;
      open.push(node);
      path.push({ node, at: 0 });
    };
    if (index[start] === -1) {
      enter(start);
    }
    for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
      const { node } = frame;
      const to = before[node]?.[frame.at];
      frame.at += 1;
      if (to === undefined) {
        path.pop();
        const parent = path.at(-1)?.node;
        if (parent !== undefined) {
          low[parent] = Math.min(low[parent] ?? 0, low[node] ?? 0);
        }
        if (low[node] === index[node]) {
          for (let member = open.pop(); member !== undefined; member = member === node ? undefined : open.pop()) {
            component[member] = found;
          }
          found += 1;
        }
      } else if (index[to] === -1) {
        enter(to);
      } else if (component[to] === -1) {
        low[node] = Math.min(low[node] ?? 0, index[to] ?? 0);
      }
    }
  }
  return component;
}

/** Returns all nodes in topological order; where no edge decides, by number. */
function topological(count: number, edges: readonly Edge[]): readonly number[] {
  const before = adjacency(count, edges);
  const done: number[] = [];
  const entered = new Array<boolean>(count).fill(false);
  for (let start = 0; start < count; start += 1) {
    const path: { readonly node: number; at: number }[] = [];
    const enter = (node: number) => {
      if (!entered[node]) {
        entered[node] = true;
        path.push({ node, at: 0 });
      }
    };
    enter(start);
    for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
      const to = before[frame.node]?.[frame.at];
      frame.at += 1;
      if (to === undefined) {
        done.push(frame.node);
        path.pop();
      } else {
        enter(to);
      }
    }
  }
  return done;
}

/** Predecessors of each node. Nodes without edges have no list: most have none. */
type Adjacency = (number[] | undefined)[];

function adjacency(count: number, edges: readonly Edge[]): Adjacency {
  const lists: Adjacency = new Array(count).fill(undefined);
  for (const edge of edges) {
    addEdge(lists, edge);
  }
  return lists;
}

function addEdge(lists: Adjacency, { node, before }: Edge): void {
  lists[node] ??= [];
  lists[node].push(before);
}
