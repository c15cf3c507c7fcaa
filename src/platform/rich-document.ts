import { documentFromMarkdown } from './rich-from-markdown.ts';
import { markdownFromDocument } from './rich-to-markdown.ts';

/** Any node of a rich document (supplement, section 9). Kinds that are not known are kept as they come. */
export interface RichNode {
  readonly object: string;
  readonly type?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly isVoid?: boolean;
  readonly nodes?: readonly RichNode[];
  readonly leaves?: readonly RichLeaf[];
  readonly [field: string]: unknown;
}

/** A piece of text with the same marks throughout. A line break is a newline in it. */
export interface RichLeaf {
  readonly object: 'leaf';
  readonly text: string;
  readonly marks: readonly RichMark[];
}

export interface RichMark {
  readonly object: 'mark';
  readonly type: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** What the platform writes descriptions and instructions in. */
export interface RichDocument {
  readonly object: 'document';
  readonly data: Record<string, unknown>;
  readonly nodes: RichNode[];
}

/**
 * Markdown (GitHub's) as a rich document. Headings below the third level become the third, tables lists, images
 * links, and HTML text.
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
