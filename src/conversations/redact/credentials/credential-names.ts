/** Names of passwords, PINs, keys and tokens in all languages, and the words that link them to a value. */
import labels from '../data/credential-labels.json' with { type: 'json' };

/** Credential names of one language, and the words that link them to a value. */
interface CredentialLanguage {
  readonly language: string;
  /** Alternatives are separated by `|`. A trailing star marks a stem: up to six letters of inflection may follow. */
  readonly password: string;
  /** Names of short numeric codes. */
  readonly pin?: string;
  /** Names of keys, tokens and secrets. */
  readonly token?: string;
  /** Forms of "is" between a name and its value. */
  readonly is?: string;
  /** Possessives that may follow the name: "mật khẩu của tôi". */
  readonly possessives?: string;
}

const LANGUAGES: readonly CredentialLanguage[] = labels;

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
