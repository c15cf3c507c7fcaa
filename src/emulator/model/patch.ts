/**
 * Returns the value after an update: absent keeps it, null clears it. Source: docs/platform-notes.md#writable-fields
 */
export function patched<T>(current: T | undefined, given: T | null | undefined): T | undefined {
  return given === undefined ? current : (given ?? undefined);
}

/** Returns the members that are not undefined. */
export function omitUndefined<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Reports whether a text contains another, in any case, as title filters do. */
export function containsText(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

/** Returns an object with some members of a record, for views. */
export function pick<T extends object, K extends keyof T>(record: T, ...names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, record[name]])) as Pick<T, K>;
}
