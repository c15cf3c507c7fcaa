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

/** Converts a rich document to Markdown; content that Markdown cannot express becomes readable text. */
export function toMarkdown(document: unknown): string {
  return markdownFromDocument(document);
}

/** Maximum rounds of normalization. One is nearly always enough; unusual escapes need another. */
const MAX_ROUNDS = 10;

/** Normalizes Markdown through a rich document, so that texts with the same meaning become equal. */
export function normalizeMarkdown(markdown: string): string {
  let text = toMarkdown(toDocument(markdown));
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = toMarkdown(toDocument(text));
    if (next === text) {
      break;
    }
    text = next;
  }
  return text;
}
