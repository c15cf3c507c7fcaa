/** Locales of the generator: faker's data, the language of the phrases, and the phone numbers of the region. */
import type { CountryCode } from 'libphonenumber-js';
import type { LanguageCode } from './languages.ts';
import locales from './locales.json' with { type: 'json' };

export interface Locale {
  /** Names of faker's locales, the most specific first. */
  readonly definitions: readonly string[];
  readonly language: LanguageCode;
  readonly region: CountryCode;
  /** Mobile numbers: number of digits, possible first digits, and local spellings of the digits `#`. */
  readonly digits: number;
  readonly prefixes: readonly string[];
  readonly styles: readonly string[];
}

export type LocaleName = keyof typeof locales;
export const LOCALES = locales as Record<LocaleName, Locale>;
export const LOCALE_NAMES = Object.keys(LOCALES) as LocaleName[];

/** Regions of an organization with customers in many countries. */
export const SIXTEEN_REGIONS = 'US GB DE FR ES IT BR PT NL PL TR JP KR CN IN MX'.split(' ') as CountryCode[];
