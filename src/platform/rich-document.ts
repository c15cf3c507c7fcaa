import { documentFromMarkdown } from './rich-from-markdown.ts';
import type { RichDocument } from './rich-node.ts';
import { markdownFromDocument } from './rich-to-markdown.ts';

export type { RichDocument } from './rich-node.ts';

/**
 * Markdown (GitHub's) as a rich document (platform API supplement, section 9), valid whatever the Markdown is. Headings
 * below the third level become the third, tables lists, images links, and HTML text; comments in HTML are left out.
 * Links lead to absolute `http`, `https`, `mailto` and `tel` addresses; others stay text with the address after it.
 */
export function toDocument(markdown: string): RichDocument {
  return documentFromMarkdown(markdown);
}

/** A rich document as Markdown; what Markdown cannot say stays as readable text. */
export function toMarkdown(document: unknown): string {
  return markdownFromDocument(document);
}

/** Rounds after which the text is taken as it is. One nearly always does; escapes of odd input need another. */
const MOST_ROUNDS = 10;

/** The one way to write what this Markdown says, as far as a rich document can: equal meaning, equal text. */
export function normalizeMarkdown(markdown: string): string {
  let text = toMarkdown(toDocument(markdown));
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const next = toMarkdown(toDocument(text));
    if (next === text) {
      break;
    }
    text = next;
  }
  return text;
}
