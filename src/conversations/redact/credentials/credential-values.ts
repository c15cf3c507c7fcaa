/** Decides whether the value after a credential name is a secret. */
import type { NameKind } from './credential-names.ts';
import { isAlgorithm, isEnvironment, isExpression, isPlaceholder, isProse, isSentence } from './non-secrets.ts';

/**
 * Link between a name and its value: `strong` (query parameter, environment variable, header), `sign` (`:`, `=`),
 * `word` ("is"), `cell` (the next cell of a table), `line` (a sign, and the value on the next line), `option` (a space after an
 * option of a command) or `space`.
 */
export type Link = 'strong' | 'sign' | 'word' | 'cell' | 'line' | 'option' | 'space';

export interface CredentialCandidate {
  readonly kind: NameKind;
  /** True if the name is a plural: `tokens`. */
  readonly isPlural: boolean;
  readonly value: string;
  readonly isQuoted: boolean;
  readonly link: Link;
  /** First characters of the text after the value. */
  readonly rest: string;
}

export function isSecretValue(candidate: CredentialCandidate): boolean {
  const { kind, value, isQuoted } = candidate;
  if (!/[\p{L}\p{N}]/u.test(value) || isPlaceholder(value) || isAlgorithm(value) || isProseValue(candidate)) {
    return false;
  }
  if (isQuoted ? isEnvironment(value) : isExpression(value + signAfter(candidate.rest))) {
    return false;
  }
  return kind === 'password' ? isPassword(candidate) : kind === 'pin' ? isPin(candidate) : isToken(candidate);
}

/** Returns the character directly after a value, which may identify a call or a path in code. */
function signAfter(rest: string): string {
  return rest.startsWith('::') ? '::' : rest.slice(0, 1).trim();
}

/** Reports whether a value is a word of prose. A quoted value in mixed case is not. */
function isProseValue({ value, isQuoted }: CredentialCandidate): boolean {
  return isQuoted ? (isProse(value) && value === value.toLowerCase()) || isSentence(value) : isProse(value);
}

const ADDRESS = /^(?:https?:\/\/|(?:~|\.{1,2})?\/[\w.-]+(?:\/|$)|[A-Za-z]:\\)/i;

function isPassword({ value, isQuoted, link, rest }: CredentialCandidate): boolean {
  const hasDigit = /\d/.test(value);
  if (link === 'space') {
    return value.length >= 6 && ((hasDigit && /\p{L}/u.test(value)) || isOddlyCased(value)) && !/[/:]/.test(value);
  }
  if (isQuoted && link !== 'cell') {
    return true;
  }
  if (ADDRESS.test(value) || /^\d{1,3}(?:\+|[-–]\d{1,3})?$/.test(value) || value.length < 3) {
    return false;
  }
  if (link === 'option') {
    return !value.startsWith('-');
  }
  if (link === 'sign' || link === 'strong') {
    return !(/^[a-z]+$/.test(value) && /^,? [a-z]+ [a-z]+/.test(rest));
  }
  // "The password is wrong": the value must not look like a word.
  return value.length >= 4 && (/\d|[^\p{L}\p{N}'’-]/u.test(value) || isOddlyCased(value));
}

/** Reports whether a value has inner capitals and is not in camel case: `jWiMZhFnO`, but not `userName` or `OAuth`. */
function isOddlyCased(value: string): boolean {
  return (
    value.length >= 8 &&
    /[a-z]/.test(value) &&
    /[a-z][A-Z]|[A-Z]{2}[a-z]/.test(value) &&
    !/^[a-z]*(?:[A-Z][a-z]{2,})*$/.test(value)
  );
}

/**
 * Reports whether a value is a PIN (at least four digits) or a password, because some languages use one word for both.
 */
function isPin(candidate: CredentialCandidate): boolean {
  const { value, link, rest } = candidate;
  if (/\d/.test(value) && /\p{L}/u.test(value) && value.length >= 8 && /^(?:sign|cell|line|word)$/.test(link)) {
    return isPassword({ ...candidate, link: 'word' });
  }
  return link !== 'space' && /^\d{4,12}$/.test(value) && !/^(?:px|ms|\.\d|[ -]?(?:chars|characters|bytes))/.test(rest);
}

function isToken({ value, isPlural, isQuoted, link }: CredentialCandidate): boolean {
  if (/^https?:\/\//i.test(value) || ADDRESS.test(value)) {
    return false;
  }
  const hasLetter = /\p{L}/u.test(value);
  const hasDigit = /\d/.test(value);
  if (!hasLetter) {
    return !isPlural && link !== 'space' && link !== 'word' && /^\d{6,}$/.test(value);
  }
  if (link === 'strong') {
    return value.length >= 6 || (value.length >= 4 && hasDigit);
  }
  if (value.length < 8 || isIdentifier(value)) {
    return false;
  }
  if (link === 'space') {
    return value.length >= 16 && /^[\w+/=~.-]+$/.test(value) && !FIELD.test(value) && looksRandom(value);
  }
  if (hasDigit) {
    return (
      !value.startsWith('-') &&
      (isQuoted || link === 'sign' || link === 'option' || value.length >= (link === 'word' ? 10 : 8))
    );
  }
  return isOddlyCased(value) || looksRandom(value);
}

/** Another field of a log line: `trace_id=…`. */
const FIELD = /^[A-Za-z][\w.-]{1,40}=[^=]/;

/** Reports whether a value is the name of a resource: hyphenated words, with at most a number at the end. */
function isIdentifier(value: string): boolean {
  return /^(?:[a-z]{2,16}[-_./]){1,6}(?:[a-z]{2,16}|v?\d{1,3})$/.test(value);
}

/** Reports whether a value has a digit, or is long and neither a word nor words in camel case. */
function looksRandom(value: string): boolean {
  if (/\d/.test(value)) {
    return true;
  }
  const mixed = /[a-z]/.test(value) && /[A-Z]/.test(value) && !/^(?:[A-Z]?[a-z]+){1,4}$/.test(value);
  return value.length >= 16 && (mixed || entropy(value.slice(0, 64)) > 3.9);
}

/** Returns the Shannon entropy in bits per character. */
function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  let bits = 0;
  for (const count of counts.values()) {
    bits -= (count / value.length) * Math.log2(count / value.length);
  }
  return bits;
}
