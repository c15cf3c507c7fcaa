import type { Address } from '../../core/address.ts';

/** Returns the cycles of a graph, each once, starting at its first address in sort order. */
export function findCycles(edges: ReadonlyMap<Address, readonly Address[]>): Address[][] {
  const done = new Set<Address>();
  const found = new Map<string, Address[]>();
  for (const start of [...edges.keys()].sort()) {
    walkFrom(start, edges, done, (cycle) => found.set(cycle.join('\n'), cycle));
  }
  return [...found.values()];
}

/** Depth-first search with an explicit stack, because a chain of references can exceed the call stack. */
function walkFrom(
  start: Address,
  edges: ReadonlyMap<Address, readonly Address[]>,
  done: Set<Address>,
  report: (cycle: Address[]) => void,
): void {
  const path: { readonly address: Address; next: number }[] = [];
  const onPath = new Map<Address, number>();
  const enter = (address: Address) => {
    onPath.set(address, path.length);
    path.push({ address, next: 0 });
  };
  if (!done.has(start)) {
    enter(start);
  }
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const target = edges.get(top.address)?.[top.next];
    top.next += 1;
    if (target === undefined) {
      done.add(top.address);
      onPath.delete(top.address);
      path.pop();
      continue;
    }
    const depth = onPath.get(target);
    if (depth !== undefined) {
      report(fromFirst(path.slice(depth).map(({ address }) => address)));
    } else if (!done.has(target)) {
      enter(target);
    }
  }
}

function fromFirst(cycle: readonly Address[]): Address[] {
  let first = 0;
  for (const [index, address] of cycle.entries()) {
    if (address < (cycle[first] ?? address)) {
      first = index;
    }
  }
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}
