/** Lists of any length: a long one must not be spread into the arguments of a call, which are on the call stack. */

/** Appends items to a list. */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) {
    list.push(item);
  }
}

/** The largest of some numbers, and at least `least`. */
export function largest(numbers: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let found = least;
  for (const number of numbers) {
    found = Math.max(found, number);
  }
  return found;
}

/** The smallest of some numbers, and at most `most`. */
export function smallest(numbers: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let found = most;
  for (const number of numbers) {
    found = Math.min(found, number);
  }
  return found;
}
