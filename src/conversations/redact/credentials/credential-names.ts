/** Names of passwords, PINs, keys and tokens in all languages, and the words that link them to a value. */
import type { CredentialLanguage } from './credential-language.ts';
import { LATIN_LANGUAGES } from './credential-languages-latin.ts';
import { OTHER_LANGUAGES } from './credential-languages-other.ts';

const LANGUAGES: readonly CredentialLanguage[] = [...LATIN_LANGUAGES, ...OTHER_LANGUAGES];

export type NameKind = 'password' | 'pin' | 'token';

/** A name in one spelling: `api key`, `api_key`, `api-key` and `apikey` are four names. */
export interface CredentialName {
  readonly name: string;
  readonly language: string;
  readonly kind: NameKind;
  /** True if up to six letters of inflection may follow. */
  readonly isStem: boolean;
}

export const CREDENTIAL_NAMES: readonly CredentialName[] = LANGUAGES.flatMap(
  ({ language, password, pin = '', token = '' }) => [
    ...spellings(password, 'password', language),
    ...spellings(pin, 'pin', language),
    ...spellings(token, 'token', language),
  ],
);

/** Forms of "is", each with the languages that have it. */
export const LINK_WORDS: ReadonlyMap<string, readonly string[]> = byWord(({ is = '' }) => is);
/** Possessives, each with the languages that have it. */
export const POSSESSIVES: ReadonlyMap<string, readonly string[]> = byWord(({ possessives = '' }) => possessives);

function byWord(list: (language: CredentialLanguage) => string): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, string[]>();
  for (const each of LANGUAGES) {
    for (const word of alternatives(list(each))) {
      words.set(word, [...(words.get(word) ?? []), each.language]);
    }
  }
  return words;
}

function alternatives(list: string): readonly string[] {
  return list.split('|').filter((each) => each !== '');
}

function spellings(list: string, kind: NameKind, language: string): readonly CredentialName[] {
  return alternatives(list).flatMap((each) => {
    const isStem = each.endsWith('*');
    const words = each.replace(/\*$/, '').split(/[ -]/);
    const joints = words.length === 1 ? [''] : [' ', '_', '-', ''];
    return joints.map((joint) => ({ name: words.join(joint), language, kind, isStem }));
  });
}
