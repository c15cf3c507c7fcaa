import type { Operation } from '../model/operation.ts';

interface Node {
  readonly fixed: Map<string, Node>;
  named: { readonly name: string; readonly node: Node } | undefined;
  readonly operations: Map<string, Operation>;
}

/** An operation, and the ids its path names. */
export interface Match {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
}

const PREFIX = '/v1';

function emptyNode(): Node {
  return { fixed: new Map(), named: undefined, operations: new Map() };
}

/** Finds operations by method and path. Fixed segments win over ids. */
export class Router {
  readonly #root = emptyNode();

  constructor(operations: Iterable<Operation>) {
    for (const operation of operations) {
      this.#add(operation);
    }
  }

  /** Undefined when the API has no such operation. */
  find(method: string, path: string): Match | undefined {
    if (!path.startsWith(`${PREFIX}/`)) {
      return undefined;
    }
    const params: Record<string, string> = {};
    const node = descend(this.#root, path.slice(PREFIX.length + 1).split('/'), 0, params);
    const operation = node?.operations.get(method);
    return operation === undefined ? undefined : { operation, params };
  }

  #add(operation: Operation): void {
    let node = this.#root;
    for (const segment of operation.path.slice(1).split('/')) {
      node = segment.startsWith('{') ? namedChild(node, segment.slice(1, -1)) : fixedChild(node, segment);
    }
    if (node.operations.has(operation.method)) {
      throw new Error(`two operations for ${operation.method} ${operation.path}`);
    }
    node.operations.set(operation.method, operation);
  }
}

function fixedChild(node: Node, segment: string): Node {
  const child = node.fixed.get(segment) ?? emptyNode();
  node.fixed.set(segment, child);
  return child;
}

function namedChild(node: Node, name: string): Node {
  node.named ??= { name, node: emptyNode() };
  if (node.named.name !== name) {
    throw new Error(`the same place in a path is named both {${node.named.name}} and {${name}}`);
  }
  return node.named.node;
}

function descend(
  node: Node,
  segments: readonly string[],
  at: number,
  params: Record<string, string>,
): Node | undefined {
  const segment = segments[at];
  if (segment === undefined) {
    return node;
  }
  const fixed = node.fixed.get(segment);
  if (fixed !== undefined) {
    return descend(fixed, segments, at + 1, params);
  }
  if (node.named === undefined || segment === '') {
    return undefined;
  }
  params[node.named.name] = decode(segment);
  return descend(node.named.node, segments, at + 1, params);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
