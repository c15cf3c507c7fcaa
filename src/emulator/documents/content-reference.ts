/** Content references and parameters of templates. */

import { z } from 'zod';
import { id } from '../model/schema.ts';

/** A content reference of any kind. Source: docs/platform-notes.md#content-references */
export const contentRef = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('file'), file: id, space: id.optional() }),
  z.strictObject({ kind: z.literal('url'), url: z.string() }),
  z.strictObject({ kind: z.literal('page'), page: id, space: id.optional() }),
  z.strictObject({ kind: z.literal('anchor'), anchor: z.string(), page: id.optional(), space: id.optional() }),
  z.strictObject({ kind: z.literal('user'), user: id }),
  z.strictObject({ kind: z.literal('collection'), collection: id }),
  z.strictObject({ kind: z.literal('space'), space: id }),
  z.strictObject({ kind: z.literal('reusable-content'), reusableContent: id, space: id.optional() }),
  z.strictObject({ kind: z.literal('openapi'), spec: id }),
  // From 0.167.
  z.strictObject({ kind: z.literal('tag'), tag: id, space: id.optional() }),
]);

export type ContentRef = z.output<typeof contentRef>;

/** Parameters of a template. Source: docs/platform-notes.md#content */
export const templateParams = z.strictObject({ contentRefs: z.record(z.string(), contentRef).optional() });

export type TemplateParams = z.output<typeof templateParams>;

/** Returns the kinds of all references in a request, and any other `kind`. */
export function referenceKinds(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  return [...('kind' in value ? [value.kind] : []), ...Object.values(value).flatMap(referenceKinds)];
}
