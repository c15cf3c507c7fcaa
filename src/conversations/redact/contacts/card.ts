// Finder for payment card numbers.

import { findDigitRuns, sequencesFrom } from '../model/digits.ts';
import type { Finder, PrivateValue } from '../model/found.ts';

/** Prefixes and lengths of the card numbers of each issuer (ISO/IEC 7812; Maestro by its known prefixes). */
const ISSUERS: readonly { readonly prefix: RegExp; readonly lengths: readonly number[] }[] = [
  { prefix: /^4/, lengths: [13, 16, 19] },
  { prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
  { prefix: /^3[47]/, lengths: [15] },
  { prefix: /^(?:6011|64[4-9]|65)/, lengths: [16, 17, 18, 19] },
  { prefix: /^(?:30[0-5]|3095|36|3[89])/, lengths: [14, 15, 16, 17, 18, 19] },
  { prefix: /^35(?:2[89]|[3-8])/, lengths: [16, 17, 18, 19] },
  { prefix: /^62/, lengths: [16, 17, 18, 19] },
  { prefix: /^(?:5018|5020|5038|5893|6304|6759|676[1-3])/, lengths: [13, 16, 18, 19] },
];

const FEWEST = 13;
const MOST = 19;
/** Separator between groups: a space or two, a dash, a dot or a line end; lines may be quoted. */
const SEPARATOR = /^(?: {1,2}|-|\.| - |\s?\r?\n[ >]{0,4})$/;

/** Finds payment cards by the issuer's prefix and length and the Luhn check digit (ISO/IEC 7812-1, annex B). */
export const findCards: Finder = (text) => {
  const found: PrivateValue[] = [];
  for (const run of findDigitRuns(text, SEPARATOR, 8)) {
    for (let first = 0; first < run.groups.length; first += 1) {
      const card = sequencesFrom(text, run, first, FEWEST, MOST).find(
        ({ digits, sizes, start, end }) => isShaped(sizes) && isAlone(text, start, end) && isCard(digits),
      );
      if (card !== undefined) {
        found.push({ type: 'card', label: 'CARD', start: card.start, end: card.end, key: card.digits });
        first = card.last;
      }
    }
  }
  return found;
};

function isCard(digits: string): boolean {
  const isIssued = ISSUERS.some(({ prefix, lengths }) => lengths.includes(digits.length) && prefix.test(digits));
  return isIssued && passesLuhn(digits);
}

/**
 * Reports whether the group sizes are those of a card number: at least three digits each except the last, and fewer
 * than three groups of three.
 */
function isShaped(sizes: readonly number[]): boolean {
  const threes = sizes.filter((size) => size === 3).length;
  return (
    sizes.length === 1 ||
    (threes < 3 && sizes.every((size, index) => size >= 3 || (size >= 1 && index === sizes.length - 1)))
  );
}

/** Reports whether a number is not part of an identifier, a decimal or a file name. */
function isAlone(text: string, start: number, end: number): boolean {
  return (
    !/(?:[A-Za-z0-9_]|[A-Za-z0-9][-.])$/.test(text.slice(Math.max(0, start - 2), start)) &&
    !/^(?:[A-Za-z0-9_]|[-.][A-Za-z0-9])/.test(text.slice(end, end + 2))
  );
}

export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const weighed = index % 2 === 1 ? digit * 2 : digit;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return sum % 10 === 0 && /[1-9]/.test(digits);
}
