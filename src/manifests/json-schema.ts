import { z } from 'zod';
import type { Kind } from '../kinds/kind.ts';
import { indexKinds, type SectionKind } from './kind-index.ts';

/** A JSON Schema as far as it is made and read here. */
export interface JsonSchema {
  readonly [member: string]: unknown;
}

/**
 * The JSON Schema of one manifest document, made from the kinds' own schemas. Draft 7: the newest that the YAML language
 * server of the common editors understands in full.
 */
export function manifestJsonSchema(kinds: readonly Kind[]): JsonSchema {
  const sections = [...indexKinds(kinds).sections.values()];
  const manifest = z.strictObject(
    Object.fromEntries(sections.map((kind) => [kind.manifest.section, sectionSchema(kind)])),
  );
  const schema = z.toJSONSchema(manifest, { target: 'draft-07', io: 'input', unrepresentable: 'any' });
  return { ...schema, title: 'Octavo manifest', description: 'A document of an Octavo manifest.' };
}

function sectionSchema(kind: SectionKind): z.ZodType {
  const { entry, key, single, summary } = kind.manifest;
  if (single) {
    return entry.nullable().optional().describe(summary);
  }
  const keySchema = z.string().regex(key.pattern).describe(key.words);
  return z.record(keySchema, entry.nullable()).nullable().optional().describe(summary);
}
