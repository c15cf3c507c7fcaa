/** The text that replaces a value. Its word announces nothing, so that redacting twice changes nothing. */

/** A placeholder, new or existing: `[EMAIL_1]`. It is not scanned. */
export const PLACEHOLDER = /\[([A-Z][A-Z0-9_]{0,39})_([1-9]\d{0,6})\]/g;

const HERE = new RegExp(PLACEHOLDER.source, 'y');
const LAST = new RegExp(`(?<=${PLACEHOLDER.source})`, 'y');

/** Returns the end of the placeholder that starts at a position; -1 if there is none. */
export function endOfPlaceholder(text: string, at: number): number {
  HERE.lastIndex = at;
  return HERE.test(text) ? HERE.lastIndex : -1;
}

/** Reports whether a placeholder ends at a position. */
export function endsPlaceholder(text: string, at: number): boolean {
  LAST.lastIndex = at;
  return text[at - 1] === ']' && LAST.test(text);
}
