import { documentFromMarkdown } from './from-markdown.ts';
import type { RichDocument } from './node.ts';
import { markdownFromDocument } from './to-markdown.ts';

export type { RichDocument } from './node.ts';

/**
 * Converts GitHub's Markdown to a rich document that is valid for any input. Headings below the third level become the
 * third, tables become lists, images become links, HTML becomes text, and HTML comments are removed. Links to absolute
 * `http`, `https`, `mailto` and `tel` URLs are kept; others become text followed by the URL.
 * Source: docs/platform-notes.md#rich-documents
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
