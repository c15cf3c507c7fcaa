/**
 * Any text as Markdown (GitHub's) that says exactly this text, on one line: no marks, no links, no HTML, no blocks, and
 * addresses in it stay text. It may be put anywhere in Markdown where text may be, table cells and link texts included,
 * but not between backticks, where Markdown knows no escapes.
 *
 * Line breaks and other control characters become a space together with the space around them, and the space at both
 * ends goes, as on a page.
 */
export function escapeMarkdown(text: string): string {
  const line = text.toWellFormed().replaceAll(/[\s\p{Cc}]+/gu, (space) => (BREAKS.test(space) ? ' ' : space));
  return line.trim().replaceAll(/[!-/:-@[-`{-~]/g, (character) => ENTITIES[character] ?? `\\${character}`);
}

/** What ends a line somewhere, or is not shown at all. */
const BREAKS = /[\p{Cc}\u2028\u2029]/u;

/**
 * Everything else that could mean something is escaped by a backslash. In table cells a bar ends the cell whatever
 * comes before it, and a backslash before that is not what it is elsewhere.
 */
const ENTITIES: Readonly<Record<string, string>> = { '|': '&#124;', '\\': '&#92;' };
