/** Values of queries. */

/** Reads a whole number; `otherwise` if it is missing or something else. */
export function wholeNumber<T>(text: string | undefined, otherwise: T): number | T {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : otherwise;
}
