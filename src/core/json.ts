/** JSON: its types, a canonical form, and a form that is safe to print. */

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };
/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json | undefined };

/** Returns true for an object that is neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Formats a value as JSON with sorted keys at every depth and without undefined members, so that equal values have
 * equal text. An undefined value, or an undefined item of an array, becomes null.
 */
export function canonicalJson(value: unknown): string {
  // Most values are in order already, and V8 formats a whole value much faster than its members one by one.
  return hasSortedKeys(value) ? (JSON.stringify(value) ?? 'null') : sortedJson(value);
}

function hasSortedKeys(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return true;
  }
  if (Array.isArray(value)) {
    return value.every(hasSortedKeys);
  }
  let before = '';
  for (const key of Object.keys(value)) {
    if (key < before || !hasSortedKeys((value as JsonObject)[key])) {
      return false;
    }
    before = key;
  }
  return true;
}

function sortedJson(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map((item) => sortedJson(item)).join(',')}]`;
  }
  if (isObject(value)) {
    const members = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${sortedJson(value[key])}`);
    return `{${members.join(',')}}`;
  }
  return value === undefined ? 'null' : JSON.stringify(value);
}

/**
 * Formats a value as JSON that is safe in a terminal and in the log of a CI job: control and bidirectional characters,
 * and runner commands (`##[…]`), are escaped. Parsing the text returns the same value.
 */
export function shownJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent)
    .replace(/[\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, escaped)
    .replace(/##(?=\w*\[)/g, `#${escaped('#')}`);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns true if both values have the same canonical JSON, except that undefined differs from null. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) {
    return true;
  }
  if (a === undefined || b === undefined) {
    return false;
  }
  return canonicalJson(a) === canonicalJson(b);
}
