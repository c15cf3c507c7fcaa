import { NotThePlatformError } from '../core/errors.ts';

const MAX_ITEMS = 1_000_000;
const MAX_PAGES = 10_000;
/** Maximum number of consecutive empty pages. The last page may be empty, and so may one that was just deleted. */
const MAX_EMPTY = 3;
/** Maximum length of a cursor in characters: it is sent in a URL. */
const MAX_CURSOR = 8_192;

/** Progress through the pages of a list, which detects that the platform does not end it. */
export class ListProgress {
  readonly #name: string;
  readonly #cursors = new Set<string>();
  #items = 0;
  #empty = 0;

  /** `name`: name of the operation in messages. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Adds a page with its number of items and the cursor of the next page. Throws NotThePlatformError. */
  add(items: number, next: string | null | undefined): void {
    if (!next) {
      return;
    }
    this.#items += items;
    this.#empty = items === 0 ? this.#empty + 1 : 0;
    const reason = this.#findReason(next);
    if (reason !== null) {
      throw new NotThePlatformError(`${this.#name}: the list does not end: ${reason}`);
    }
    this.#cursors.add(next);
  }

  #findReason(next: string): string | null {
    if (this.#cursors.has(next)) {
      return 'the platform names the same next page twice';
    }
    if (this.#empty >= MAX_EMPTY) {
      return `${MAX_EMPTY} empty pages in a row name a next page`;
    }
    if (this.#cursors.size + 1 >= MAX_PAGES || this.#items >= MAX_ITEMS) {
      return `it has more than ${MAX_PAGES} pages or ${MAX_ITEMS} items`;
    }
    return next.length > MAX_CURSOR ? `the cursor of a page has more than ${MAX_CURSOR} characters` : null;
  }
}
