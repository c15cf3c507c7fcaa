// Finder for international bank account numbers.

import { countrySpecs, isValidIBAN } from 'ibantools';
import type { Finder, PrivateValue } from '../model/found.ts';

const START = /(?<![A-Za-z0-9])(?:IBAN[ :]{0,2})?([A-Za-z]{2}[ -]?\d{2})/dg;
/** Separator between two characters of an account number. */
const SEPARATOR = /^(?:[ .-]{1,2}|\s?\r?\n[ >]{0,4})/;

/** Finds international bank account numbers by the length for the country and the check digits (ISO 13616, mod 97). */
export const findIbans: Finder = (text) => {
  const found: PrivateValue[] = [];
  for (const { 1: head, indices } of text.matchAll(START)) {
    const start = indices?.[1]?.[0] ?? 0;
    const length = countrySpecs[(head ?? '').slice(0, 2).toUpperCase()]?.chars;
    const iban = typeof length === 'number' ? take(text, start, length) : null;
    if (iban !== null && isValidIBAN(iban.value)) {
      found.push({ type: 'iban', label: 'IBAN', start, end: iban.end, key: iban.value });
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
    if (/^[A-Za-z0-9]$/.test(character)) {
      value += character.toUpperCase();
      at += 1;
      continue;
    }
    const gap = SEPARATOR.exec(text.slice(at, at + 8));
    if (gap === null) {
      return null;
    }
    at += gap[0].length;
  }
  return /^[A-Za-z0-9]/.test(text.slice(at, at + 1)) ? null : { value, end: at };
}
