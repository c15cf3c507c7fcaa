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

/** Items that a message names one by one. */
const NAMED = 10;

/** A list for a message, with an upper bound: `a, b, c and 1,997 more`. */
export function enumerated(items: readonly string[], separator = ', '): string {
  const more = items.length - NAMED;
  const named = items.slice(0, NAMED).join(separator);
  return more > 0 ? `${named} and ${more.toLocaleString('en')} more` : named;
}
