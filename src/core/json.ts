/** JSON: its types, parsing within limits, a canonical form, and a form that is safe to print. */
import { NotThePlatformError } from './errors.ts';

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };
/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json | undefined };

/** Returns true for an object that is neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Members of an object that are not undefined. */
export function present<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/**
 * Maximum number of values in a text from another machine. Values take up to a hundred times the memory of their text:
 * a million take up to 250 MB.
 */
const MAX_VALUES = 1_000_000;
/** Maximum depth of such a text: code that walks a value calls itself for each level. */
const MAX_DEPTH = 500;

/**
 * Parses JSON from another machine. Throws SyntaxError if it is not JSON, and NotThePlatformError without parsing it if
 * it has more than a million values or 500 levels; `what` names it, such as "GitHub: list issues: the response".
 */
export function parseBounded(text: string, what: string): unknown {
  const reason = findExceededLimit(text);
  if (reason !== null) {
    throw new NotThePlatformError(`${what} ${reason}, and is not read`);
  }
  return JSON.parse(text);
}

/**
 * Counts values and levels, of text that need not be JSON. Returns the limit of `parseBounded` that it exceeds, such as
 * "has more than 1000000 values", or null.
 */
export function findExceededLimit(text: string): string | null {
  if (text.length <= MAX_DEPTH) {
    return null;
  }
  let values = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === COMMA) {
      values += 1;
    } else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      values += 1;
      depth += 1;
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) {
      depth -= 1;
    }
    if (values > MAX_VALUES || depth > MAX_DEPTH) {
      return depth > MAX_DEPTH ? `is nested more than ${MAX_DEPTH} levels deep` : `has more than ${MAX_VALUES} values`;
    }
  }
  return null;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Returns the index of the quote that ends a string, or the length of the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      return at;
    }
    if (code === BACKSLASH) {
      at += 1;
    }
  }
  return text.length;
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
