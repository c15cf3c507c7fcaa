/** Items that a message names one by one. */
const NAMED = 10;

/** A list for a message, with an upper bound: `a, b, c and 1,997 more`. */
export function enumerated(items: readonly string[], separator = ', '): string {
  const more = items.length - NAMED;
  const named = items.slice(0, NAMED).join(separator);
  return more > 0 ? `${named} and ${more.toLocaleString('en')} more` : named;
}
