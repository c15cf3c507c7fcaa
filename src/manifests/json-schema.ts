/** JSON Schema of manifests, generated from the schemas of the kinds. */
import { parse } from 'yaml';
import { z } from 'zod';
import { type Address, keyOf, kindOf } from '../core/address.ts';
import { isObject } from '../core/json.ts';
import type { Kind } from '../kinds/model/kind.ts';
import type { SchemaNotes } from '../kinds/model/schema.ts';
import { indexKinds, type SectionKind } from './kind-index.ts';

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

/** A JSON Schema. */
export interface JsonSchema {
  readonly [member: string]: unknown;
}

/** Returns the declared keys of a kind, as references use them. */
type KeysOf = (kind: string) => readonly string[];

const ONE = ['items', 'additionalProperties', 'propertyNames'];
const SEVERAL = ['anyOf', 'oneOf', 'allOf'];
const NAMED = ['properties', 'definitions'];

/**
 * Removes the notes of the kinds' schemas from a schema. If the declared keys are known, `refersTo` limits the value to
 * them, and `suggests` offers them but allows other values.
 */
function resolveNotes(schema: JsonSchema, keysOf: KeysOf | null): JsonSchema {
  const { refersTo, suggests, ...rest } = schema as JsonSchema & SchemaNotes;
  const inside = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, resolved(name, value, keysOf)]));
  const keys = keysOf === null ? [] : [...new Set((refersTo ?? suggests ?? []).flatMap(keysOf))].sort();
  if (keys.length === 0) {
    return inside;
  }
  const { pattern, ...open } = inside;
  return refersTo === undefined
    ? { ...open, anyOf: [{ enum: keys }, { type: open.type, pattern }] }
    : { ...open, enum: keys };
}

/** Resolves the notes in the schemas that a member of a schema contains. */
function resolved(name: string, value: unknown, keysOf: KeysOf | null): unknown {
  if (ONE.includes(name) && isObject(value)) {
    return resolveNotes(value, keysOf);
  }
  if (SEVERAL.includes(name) && Array.isArray(value)) {
    return value.map((each) => resolveNotes(each as JsonSchema, keysOf));
  }
  if (NAMED.includes(name) && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, resolveNotes(each as JsonSchema, keysOf)]),
    );
  }
  return value;
}
