/** Names of passwords, PINs, keys and tokens (`data/credential-labels.json`), and the patterns of what follows them. */
import labels from '../data/credential-labels.json' with { type: 'json' };
import { fold } from '../model/fold.ts';
import { bitOf } from '../model/reading.ts';

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
const POSSESSIVES: ReadonlyMap<string, readonly string[]> = byWord(({ possessives = '' }) => possessives);

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

/** Names that are not in the tables. `pass` counts only before punctuation, and not in `compass` or `bypass`. */
const SHORT_NAMES: readonly CredentialName[] = ['pass', 'pw', 'creds'].map((name) => ({
  name,
  language: 'en',
  kind: name === 'creds' ? 'token' : 'password',
  isStem: false,
}));

/** Rows of the tables by folded name. */
export const NAMES: ReadonlyMap<string, readonly CredentialName[]> = Map.groupBy(
  [...CREDENTIAL_NAMES, ...SHORT_NAMES],
  ({ name }) => fold(name.replaceAll('\u200c', '')).text,
);
/** Bit of the readings of texts with the first word of a name, also inside of another word: `DBPASSWORD`. */
export const NAMED = bitOf(
  [...CREDENTIAL_NAMES.map(({ name }) => name)],
  new RegExp(
    [
      ...new Set(
        [...CREDENTIAL_NAMES.map(({ name }) => name), ...NAMES.keys()].map((name) => name.split(/[ _-]/, 1)[0]),
      ),
    ]
      .map((word) => escapeLiteral(word ?? ''))
      .join('|'),
  ),
);
const byLength = (a: string, b: string) => b.length - a.length || (a < b ? -1 : 1);
const isAscii = (name: string) => /^[ -~]+$/.test(name);
const anyOf = (names: readonly string[]) =>
  names
    .toSorted(byLength)
    .map((name) => escapeLiteral(name))
    .join('|');
/** Names in ASCII. */
export const ASCII_NAMES = new RegExp(anyOf([...NAMES.keys()].filter(isAscii)), 'g');
/** Names in all scripts. Those that start with a non-ASCII letter are tried only at such a letter. */
export const ALL_NAMES = new RegExp(
  `${anyOf([...NAMES.keys()].filter((name) => isAscii(name.slice(0, 1))))}|(?=[^ -~\\s])(?:${anyOf([...NAMES.keys()].filter((name) => !isAscii(name.slice(0, 1))))})`,
  'g',
);

/** Letters that folding does not convert to ASCII; most texts have none. */
export const OTHER_LETTERS = /[\u0370-\u1fff\u2c00-\ud7ff\uf900-\ufdff\ufe70-\ufefc]/;

function escapeLiteral(literal: string): string {
  return literal.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

/**
 * Returns the folded words as alternatives of a pattern, longest first: those of scripts without spaces, or the others.
 */
function folded(words: ReadonlyMap<string, readonly string[]>, isUnspaced: boolean): string {
  return [...words.keys()]
    .filter((word) => UNSPACED.test(word) === isUnspaced)
    .map((word) => escapeLiteral(fold(word).text))
    .toSorted(byLength)
    .join('|');
}

/** Scripts without spaces between a name, a particle and a value. */
export const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** Quotes and emphasis around names and values; a backslash where JSON is inside a string. */
const AROUND = '[\\\\"\'`*_]{0,4}';
const TAG =
  '<\\/?(?:b|i|u|em|strong|span|p|div|td|th|tr|br|dd|dt|li|code|pre|font|label|a|tt|kbd|samp|small|mark|h[1-6])(?:\\s[^<>\\r\\n]{0,120})?\\s?\\/?>';
/** Spaces, and the start of a line that is quoted in a reply. */
const GAP = '\\s{0,4}(?:\\n[ \\t]{0,3}(?:>[ \\t]?){1,4})?';
const TAGS = `(?:${GAP}${TAG}){0,6}`;
const PREPOSITION =
  'for|to|on|of|at|in|fur|vom|von|zum|zur|pour|de|du|des|au|del|do|da|no|na|para|per|della|dello|al|w|ke|voor|til|till|pro|dla|k|u|ze|для|от|до|від|з|к|на|за|icin|に|の';
const BETWEEN = [
  `${TAGS}(?:\\s{0,4}|[ \\t]{5,32})(?:->|→|=>|:=|={1,3}|:)(?:[ \\t]{5,32})?${GAP}${TAGS}${GAP}`,
  // The text of an element: <password>…</password>
  '>\\s{0,4}(?:<!\\[cdata\\[)?',
  `${TAGS}\\s{1,2}(?<is>${folded(LINK_WORDS, false)})(?:\\s(?:now|still|jetzt|agora|ahora|теперь))?(?:\\s(?:set|changed|reset))?(?:\\sto)?(?:\\s{0,2}:)?\\s{1,2}${TAGS}`,
  `\\s{0,2}(?:${folded(LINK_WORDS, true)})\\s{0,2}(?::\\s{0,2})?`,
  `[ \\t](?:${PREPOSITION})[ \\t](?:[^\\s:=]{1,40}[ \\t]){0,3}[^\\s:=]{1,40}(?:[ \\t]?[:=]\\s{1,4}|[ \\t][-–—][ \\t](?=[^\\s]{0,40}\\p{L})|[ \\t](?<was>${folded(LINK_WORDS, false)})[ \\t])`,
  // A list of names and values, such as the environment of a container, or the attributes of an element.
  '["\',]{0,3}\\s{1,20}["\']?value["\']?\\s{0,3}[:=]\\s{0,4}',
  `\\s{0,4}\\|\\s{0,4}`,
  '\\t{1,4}',
  `(?:\\s{0,3}${TAG}){1,6}\\s{0,3}`,
  '\\(\\s?(?=["\'`])',
  '(?<=["\'`]),\\s{0,3}(?=["\'`])',
  '\\s{1,2}[-–—]\\s{1,2}',
  '[ \\t]',
  '(?<=[^\\x00-\\x7f])(?=[!-~])',
  '(?=[“„«‹‘‚「『])',
].join('|');
const QUOTED =
  '\\\\{0,2}"((?:[^"\\\\\\r\\n]|\\\\(?!["\\s])[^\\r\\n]|\\\\"(?=[^,;}\\s\\\\)\\]])){1,512})|\\\\{0,2}\'([^\'\\r\\n]{1,512})|`([^`\\r\\n]{1,512})|[“„‟«‹‘‚「『]([^“”»›’」』\\r\\n]{1,256})';
/** The text of an element, which may have spaces: <password>…</password> */
const ELEMENT = '(?<=[>[])([^<>\\r\\n\\]]{1,256})(?=<\\/|\\]\\]>)';
/** Unquoted value. A quotation mark inside it is part of it; one at its end is not. */
const BARE = '((?:[^\\s"\'`<>“”„«»「」]|(?<=[\\w!@#$%^&*])["\'`](?=[\\w!@#$%^&*])){1,512})';
/** Environment or version at the end of a name: `DB_PASSWORD_PROD`, `password2`. */
const SUFFIX =
  '(?:[_-]?(?:\\d{1,2}|prod|production|dev|development|test|staging|live|main|new|old|value|plain|plaintext|raw|current|confirm|confirmation|again|again|repeat))?';

/** Words of other languages after a name that is also English: "password temporanea", "token de acces". */
const QUALIFIERS =
  "(?:temporane[ao]|temporaire|temporal|temporari[ao]|provis[a-z]{4,6}|inicial|initiale?|iniziale|sementara|tymczasow[ey]|docasne|actuel|attuale|atual|aktuell|d[ei] acces[os]{0,2}|d'acces|akses|dostepu|доступа|доступу|за достъп|دسترسی)";
/** Returns a pattern for words after a name that qualify it: "mot de passe temporaire", "hasło dostępu". */
const qualified = (words: string) =>
  `(?<kind>\\s${words}(?=\\s{0,2}(?:[([][^()[\\]\\r\\n]{1,40}[)\\]])?${AROUND}(?:${GAP}${TAG}){0,2}\\s{0,2}(?:[:=|\\t]|->|→)|\\s{0,2}<\\/t[dh]>|\\s(?:${folded(LINK_WORDS, false)})[\\s:]))?`;
const ANY_WORDS = "[\\p{L}\\p{M}'\\u200c-]{2,14}(?:\\s[\\p{L}\\p{M}'\\u200c-]{2,14}){0,2}";

const after = (inflection: string, qualifiers: string) =>
  new RegExp(
    `${inflection}${SUFFIX}[?!]?${AROUND}\\]?(?:\\s?(?:(?:${folded(POSSESSIVES, false)})(?![\\p{L}\\p{M}])|${folded(POSSESSIVES, true)}))?${qualified(qualifiers)}(?:\\s?[([][^()[\\]\\r\\n]{1,40}[)\\]])?(?<between>${BETWEEN})(?:(?<=:)[*_]{1,3}\\s{0,2})?(?:${QUOTED}|${ELEMENT}|${BARE})`,
    'dyu',
  );
/** Pattern after an English name: inflection, link and value. */
export const AFTER_ENGLISH = after('s?', QUALIFIERS);
/** Pattern after a name of another language. */
export const AFTER_NAME = after('s?', ANY_WORDS);
/** Pattern after a stem, which may be inflected. */
export const AFTER_STEM = after('\\p{L}{0,6}', ANY_WORDS);
