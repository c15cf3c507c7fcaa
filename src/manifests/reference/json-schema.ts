import { parse } from 'yaml';
import { z } from 'zod';
import { type Address, keyOf, kindOf } from '../../core/address.ts';
import type { Kind } from '../../kinds/model/kind.ts';
import { indexKinds, type SectionKind } from '../read/kind-index.ts';
import { type JsonSchema, type KeysOf, resolveNotes } from './schema-notes.ts';

/**
 * Returns the JSON Schema of a manifest document, generated from the kinds' schemas with descriptions, defaults and
 * examples. With addresses, references are limited to the declared keys, so that editors can complete them.
 *
 * Uses draft 7, the newest draft that the YAML language server of common editors fully supports.
 */
export function manifestJsonSchema(kinds: readonly Kind[], declared: Iterable<Address> | null = null): JsonSchema {
  const sections = [...indexKinds(kinds).sections.values()];
  const manifest = z.strictObject(
    Object.fromEntries(sections.map((kind) => [kind.manifest.section, sectionSchema(kind)])),
  );
  const schema = z.toJSONSchema(manifest, { target: 'draft-07', io: 'input', unrepresentable: 'any' });
  return {
    ...resolveNotes({ ...schema }, declared === null ? null : keysOf(declared)),
    title: 'Octavo manifest',
    description: 'A document of an Octavo manifest.',
  };
}

/** Returns the declared keys of each kind as references use them: for a part, only the last segment. */
function keysOf(declared: Iterable<Address>): KeysOf {
  const keys = new Map<string, Set<string>>();
  for (const address of declared) {
    const kind = kindOf(address);
    keys.set(kind, (keys.get(kind) ?? new Set()).add(keyOf(address).split('/').at(-1) ?? ''));
  }
  return (kind) => [...(keys.get(kind) ?? [])];
}

function sectionSchema(kind: SectionKind): z.ZodType {
  const { entry, key, single, summary, example } = kind.manifest;
  const help = { description: summary, examples: [parse(example)] };
  if (single) {
    return entry.nullable().optional().meta(help);
  }
  const keySchema = z.string().regex(key.pattern).describe(key.words);
  return z.record(keySchema, entry.nullable()).nullable().optional().meta(help);
}
