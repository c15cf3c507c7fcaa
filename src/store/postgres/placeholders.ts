/** Converts the placeholders of shared SQL to those of PostgreSQL. */

/** Matches texts, quoted names and comments, which may contain `?`; then the placeholder itself. */
const PARTS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g;
/** Largest number of converted statements that are kept. */
const MAX_KEPT = 1000;

/** Statements with `?` for each value, converted to `$1`, `$2`, … once. */
export class PlaceholderCache {
  readonly #converted = new Map<string, string>();

  convert(statement: string): string {
    const known = this.#converted.get(statement);
    if (known !== undefined) {
      return known;
    }
    let number = 0;
    const converted = statement.replace(PARTS, (part) => {
      number += part === '?' ? 1 : 0;
      return part === '?' ? `$${number}` : part;
    });
    if (this.#converted.size >= MAX_KEPT) {
      this.#converted.clear();
    }
    this.#converted.set(statement, converted);
    return converted;
  }
}
