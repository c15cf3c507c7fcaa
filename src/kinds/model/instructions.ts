/** Field of instructions that people write in Markdown and the platform stores as a rich document. */
import { toDocument } from '../../platform/rich-text/from-markdown.ts';
import { normalizeMarkdown, toMarkdown } from '../../platform/rich-text/to-markdown.ts';
import type { Field } from './field-table.ts';
import { textOrFile } from './schema.ts';

/** Instructions in Markdown. `max`: greatest number of characters. Source: docs/platform-notes.md#rich-documents */
export function instructionsField(
  description: string,
  { max, example }: { readonly max: number; readonly example: string },
): Field<{ readonly instructions?: unknown }> {
  return {
    schema: textOrFile({ max, example }).describe(`${description}, in Markdown; inline or as \`{ file: path }\`.`),
    parameter: 'instructions',
    normalize: (value) => (typeof value === 'string' ? normalizeMarkdown(value) : value),
    read: ({ instructions }) => (instructions ? toMarkdown(instructions) : null),
    // Normalized as for comparison, because the platform does not keep what Markdown cannot express.
    toEntry: (value, { includeDefaults }) =>
      (typeof value === 'string' ? normalizeMarkdown(value) : '') || (includeDefaults ? '' : undefined),
    toParameter: (value) => ({ ...toDocument(String(value)) }),
  };
}
