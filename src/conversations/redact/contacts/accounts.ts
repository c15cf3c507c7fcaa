/** Finds numbers of payment cards and bank accounts, which check digits prove. */

import cardTypes from 'credit-card-type';
import { countrySpecs, isValidIBAN } from 'ibantools';
import { findDigitRuns, sequencesFrom } from '../model/digits.ts';
import type { Finder, PrivateValue } from '../model/found.ts';
import { matchesIn } from '../model/matches.ts';

/** Number of digits of a card (ISO/IEC 7812). Old cards of Visa have the fewest; other such numbers are mostly products. */
const FEWEST = 13;
const MOST = 19;
/** Separator between groups: a space or two, a dash, a dot or a line end; lines may be quoted. */
const CARD_SEPARATOR = { pattern: /^(?: {1,2}|-|\.| - |\s?\r?\n[ >]{0,4})$/, longest: 8, known: new Map() };

/** Finds payment cards by the issuer's prefix and length and the Luhn check digit. */
export const findCards: Finder = (reading) => {
  const { text } = reading;
  const found: PrivateValue[] = [];
  for (const run of findDigitRuns(reading, CARD_SEPARATOR, FEWEST)) {
    for (let first = 0; first < run.groups.length; first += 1) {
      const card = sequencesFrom(text, run, first, FEWEST, MOST).find(
        ({ digits, sizes, start, end }) =>
          passesLuhn(digits) &&
          isShaped(sizes) &&
          isAlone(text, start, end) &&
          !isInList(text, start, end) &&
          isIssued(digits),
      );
      if (card !== undefined) {
        found.push({
          type: 'card',
          label: 'CARD',
          rule: 'card number',
          start: card.start,
          end: card.end,
          key: card.digits,
        });
        first = card.last;
      }
    }
  }
  return found;
};

/** Reports whether an issuer has numbers with this prefix and length. */
function isIssued(digits: string): boolean {
  return digits.length === FEWEST ? digits.startsWith('4') : lengthsOf(digits.slice(0, PREFIX)).includes(digits.length);
}

/** Longest prefix of an issuer, in digits. */
const PREFIX = 8;
/** Lengths of the numbers with a prefix; the library copies all issuers for each number. */
const lengths = new Map<string, readonly number[]>();
const REMEMBERED = 1000;

function lengthsOf(prefix: string): readonly number[] {
  const known = lengths.get(prefix) ?? cardTypes(prefix).flatMap((type) => type.lengths);
  if (lengths.size < REMEMBERED) {
    lengths.set(prefix, known);
  }
  return known;
}

/**
 * Reports whether the group sizes are those of a card number: at least three digits each except the last, and fewer
 * than three groups of three.
 */
function isShaped(sizes: readonly number[]): boolean {
  return (
    sizes.length === 1 ||
    (sizes.filter((size) => size === 3).length < 3 &&
      sizes.every((size, index) => size >= 3 || index === sizes.length - 1))
  );
}

/** Reports whether the groups are items of a list of numbers: on more than two lines, or among groups of the same kind. */
function isInList(text: string, start: number, end: number): boolean {
  const lines = text.slice(start, end).split('\n').length;
  return (
    lines > 2 ||
    (/[ \n]/.test(text.slice(start, end)) &&
      /(?<![\dA-F])[\dA-F]{3,6}\s{1,2}$/.test(text.slice(Math.max(0, start - 10), start)) &&
      /^\s{1,2}[\dA-F]{3,6}(?![\dA-F])/.test(text.slice(end, end + 10)))
  );
}

/** Reports whether a number is not part of an identifier, a decimal or a file name. */
function isAlone(text: string, start: number, end: number): boolean {
  return (
    !/(?:[A-Za-z0-9_]|[A-Za-z0-9][-.])$/.test(text.slice(Math.max(0, start - 2), start)) &&
    !/^(?:[A-Za-z0-9_]|[-.][A-Za-z0-9])/.test(text.slice(end, end + 2))
  );
}

/** Checks the last digit of a number (ISO/IEC 7812-1, annex B). Zeros alone do not count. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const weighed = index % 2 === 1 ? digit * 2 : digit;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return sum % 10 === 0 && /[1-9]/.test(digits);
}

const IBAN = /(?<![A-Za-z0-9])(?:IBAN[ :]{0,2})?([A-Za-z]{2}[ -]?\d{2})/dg;
/** Separator between two characters of an account number. */
const IBAN_SEPARATOR = /^(?:[ .-]{1,2}|\s?\r?\n[ >]{0,4})/;

/** Finds international bank account numbers by the length for the country and the check digits (ISO 13616, mod 97). */
export const findIbans: Finder = ({ text }) => {
  const found: PrivateValue[] = [];
  for (const { 1: head, indices } of matchesIn(text, IBAN)) {
    const start = indices?.[1]?.[0] ?? 0;
    const length = countrySpecs[(head ?? '').slice(0, 2).toUpperCase()]?.chars;
    const iban = typeof length === 'number' ? take(text, start, length) : null;
    if (iban !== null && isValidIBAN(iban.value)) {
      found.push({ type: 'iban', label: 'IBAN', rule: 'IBAN', start, end: iban.end, key: iban.value });
    }
  }
  return found;
};

/** Reads `length` letters and digits across separators; null if there are fewer. */
function take(text: string, start: number, length: number): { readonly value: string; readonly end: number } | null {
  let value = '';
  let at = start;
  while (value.length < length) {
    const character = text[at] ?? '';
    const isPart = /^[A-Za-z0-9]$/.test(character);
    const gap = isPart ? 1 : (IBAN_SEPARATOR.exec(text.slice(at, at + 8))?.[0].length ?? 0);
    if (gap === 0) {
      return null;
    }
    value += isPart ? character.toUpperCase() : '';
    at += gap;
  }
  return /^[A-Za-z0-9]/.test(text.slice(at, at + 1)) ? null : { value, end: at };
}
