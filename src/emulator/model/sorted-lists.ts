/** Sorted lists of a store, kept while it does not change. */
import type { EmulatorStore } from './store.ts';

/** Lists that are kept: those that several clients page through at a time. */
const MAX_LISTS = 8;

interface SortedList {
  readonly items: readonly unknown[];
  readonly sorted: readonly unknown[];
}

/** Lists in the order of their last request, so that each is sorted once and not for every page. */
class SortedLists {
  readonly #lists = new Map<string, SortedList>();

  /** Returns the items in the order of their numbers. `name` identifies the list. */
  sort<T>(name: string, items: readonly T[], number: (item: T) => number): readonly T[] {
    const known = this.#lists.get(name);
    if (known !== undefined && isSame(known.items, items)) {
      return known.sorted as readonly T[];
    }
    const sorted = items.toSorted((a, b) => number(a) - number(b));
    this.#lists.delete(name);
    this.#lists.set(name, { items, sorted });
    for (const oldest of [...this.#lists.keys()].slice(0, -MAX_LISTS)) {
      this.#lists.delete(oldest);
    }
    return sorted;
  }
}

/** Records are replaced and never changed, so that the same records have the same order. */
function isSame(before: readonly unknown[], items: readonly unknown[]): boolean {
  return before === items || (before.length === items.length && before.every((item, index) => item === items[index]));
}

/** Returns the sorted lists of a store. */
export function sortedLists(store: EmulatorStore): SortedLists {
  return store.derive('sorted lists', () => new SortedLists());
}
