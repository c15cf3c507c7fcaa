/** A directed graph of what comes before what, kept free of cycles. */
export class Graph {
  readonly hard = new Map<string, string[]>();
  readonly soft = new Map<string, string[]>();
  readonly #nodes: readonly string[];
  readonly #known: ReadonlySet<string>;

  /** @param nodes in the order they are wanted in where nothing else decides */
  constructor(nodes: readonly string[]) {
    this.#nodes = nodes;
    this.#known = new Set(nodes);
  }

  /** `node` comes after `before`, and not at all without it. For what cannot be part of a cycle. */
  require(node: string, before: string): void {
    this.#add(this.hard, node, before);
  }

  /** Like {@link require}, but gives way where it would close a cycle. */
  requireIfAcyclic(node: string, before: string): void {
    if (!this.#reaches(before, node)) {
      this.#add(this.hard, node, before);
    }
  }

  /** `node` comes after `before`, however that ends; gives way where it would close a cycle. */
  prefer(node: string, before: string): void {
    if (!this.#reaches(before, node)) {
      this.#add(this.soft, node, before);
    }
  }

  /** All nodes, each after those it comes after, otherwise in the order given. */
  sequence(): readonly string[] {
    const done = new Set<string>();
    const visit = (start: string): void => {
      const stack: { node: string; before: readonly string[]; next: number }[] = [this.#frame(start)];
      const open = new Set([start]);
      while (stack.length > 0) {
        const frame = stack.at(-1);
        const before = frame?.before[frame.next];
        if (frame === undefined) {
          break;
        }
        frame.next += 1;
        if (before === undefined) {
          done.add(frame.node);
          open.delete(frame.node);
          stack.pop();
        } else if (!done.has(before) && !open.has(before)) {
          open.add(before);
          stack.push(this.#frame(before));
        }
      }
    };
    for (const node of this.#nodes) {
      if (!done.has(node)) {
        visit(node);
      }
    }
    return [...done];
  }

  #frame(node: string): { node: string; before: readonly string[]; next: number } {
    return { node, before: this.#before(node), next: 0 };
  }

  #before(node: string): readonly string[] {
    return [...(this.hard.get(node) ?? []), ...(this.soft.get(node) ?? [])];
  }

  #add(edges: Map<string, string[]>, node: string, before: string): void {
    if (node === before || !this.#known.has(node) || !this.#known.has(before)) {
      return;
    }
    const list = edges.get(node);
    if (list === undefined) {
      edges.set(node, [before]);
    } else if (!list.includes(before)) {
      list.push(before);
    }
  }

  /** Whether `from` comes, by any path, after `to`. */
  #reaches(from: string, to: string): boolean {
    const seen = new Set([from]);
    const stack = [from];
    while (stack.length > 0) {
      const node = stack.pop() ?? '';
      if (node === to) {
        return true;
      }
      for (const next of this.#before(node)) {
        if (!seen.has(next)) {
          seen.add(next);
          stack.push(next);
        }
      }
    }
    return false;
  }
}
