import { isObject } from '../../core/json.ts';
import type { SchemaNotes } from '../../kinds/model/schema.ts';

/** A JSON Schema. */
export interface JsonSchema {
  readonly [member: string]: unknown;
}

/** Returns the declared keys of a kind, as references use them. */
export type KeysOf = (kind: string) => readonly string[];

const ONE = ['items', 'additionalProperties', 'propertyNames'];
const SEVERAL = ['anyOf', 'oneOf', 'allOf'];
const NAMED = ['properties', 'definitions'];

/**
 * Removes the notes of the kinds' schemas from a schema. If the declared keys are known, `refersTo` limits the value to
 * them, and `suggests` offers them but allows other values.
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
