/**
 * Returns the value after an update: absent keeps it, null clears it. Source: docs/platform-notes.md#writable-fields
 */
export function patched<T>(current: T | undefined, given: T | null | undefined): T | undefined {
  return given === undefined ? current : (given ?? undefined);
}

/** The given members that are there: an update leaves the rest alone. */
export function present<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Whether the text contains the other, in whatever case: how title filters match. */
export function containsText(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}
