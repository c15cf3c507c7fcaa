/** What JSON can say. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };
export type JsonObject = { readonly [key: string]: Json | undefined };

/** Whether a value is a plain mapping: not null, not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * JSON with keys sorted at every depth and absent members left out: equal values have equal text, whatever order they
 * were written in.
 */
export function canonicalJson(value: Json | undefined): string {
  if (Array.isArray(value)) {
    return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  }
  if (isObject(value)) {
    const members = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`);
    return `{${members.join(',')}}`;
  }
  return value === undefined ? 'null' : JSON.stringify(value);
}

/**
 * JSON for where people look too: it says the same, and no character in it acts on a terminal, turns the reading
 * direction, or is a command (`##[…]`) to the runner of a CI job.
 */
export function shownJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent)
    .replace(/[\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, escaped)
    .replace(/##(?=\w*\[)/g, `#${escaped('#')}`);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Whether two values say the same. Absent and null differ at the top only. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) {
    return true;
  }
  if (a === undefined || b === undefined) {
    return false;
  }
  return canonicalJson(a) === canonicalJson(b);
}
