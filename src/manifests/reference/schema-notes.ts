import { isObject } from '../../core/json.ts';
import type { SchemaNotes } from '../../kinds/model/schema.ts';

/** A JSON Schema as far as it is made and read here. */
export interface JsonSchema {
  readonly [member: string]: unknown;
}

/** The keys that are declared of a kind, as references have them. */
export type KeysOf = (kind: string) => readonly string[];

const ONE = ['items', 'additionalProperties', 'propertyNames'];
const SEVERAL = ['anyOf', 'oneOf', 'allOf'];
const NAMED = ['properties', 'definitions'];

/**
 * Takes out of a schema what the kinds' schemas note for it. Where keys are known, a reference has to be one of those,
 * and what only suggests some may still be another.
 */
export function resolveNotes(schema: JsonSchema, keysOf: KeysOf | null): JsonSchema {
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

/** A member of a schema, with the schemas in it. */
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
