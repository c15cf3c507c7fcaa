/** Helpers for lists of any length, which must not be spread into the arguments of a call: arguments use the stack. */

/** Appends items to a list. */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) {
    list.push(item);
  }
}

/** Returns the largest number, at least `least`. */
export function largest(numbers: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let found = least;
  for (const number of numbers) {
    found = Math.max(found, number);
  }
  return found;
}

/** Returns the smallest number, at most `most`. */
export function smallest(numbers: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let found = most;
  for (const number of numbers) {
    found = Math.min(found, number);
  }
  return found;
}

/** Formats the first items of a list for a message, and counts the others: `a, b, c and 1997 more`. */
export function enumerated(items: readonly string[], separator = ', ', most = 10): string {
  const more = items.length - most;
  const named = items.slice(0, most).join(separator);
  return more > 0 ? `${named} and ${more} more` : named;
}

/** Returns at most `most` lines; of more, the first ones, and then the number of the rest: `and 1997 more`. */
export function firstLines(lines: readonly string[], most: number): readonly string[] {
  const shown = lines.length <= most ? lines : lines.slice(0, most - 1);
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, `and ${rest} more`] : shown;
}

/** Compares two texts by their UTF-16 code units, for sorting. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
