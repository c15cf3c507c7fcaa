/** Binary heap with the smallest item first. `push` and `pop` take O(log n). */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  /** `before` returns true if `a` comes out before `b`. */
  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let index = items.length;
    items.push(item);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const other = items[above] as T;
      if (!this.#before(item, other)) {
        break;
      }
      items[index] = other;
      index = above;
    }
    items[index] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length > 0 && last !== undefined) {
      this.#sink(last);
    }
    return first;
  }

  #sink(item: T): void {
    const items = this.#items;
    let index = 0;
    for (;;) {
      let below = 2 * index + 1;
      if (below >= items.length) {
        break;
      }
      if (below + 1 < items.length && this.#before(items[below + 1] as T, items[below] as T)) {
        below += 1;
      }
      const other = items[below] as T;
      if (!this.#before(other, item)) {
        break;
      }
      items[index] = other;
      index = below;
    }
    items[index] = item;
  }
}
