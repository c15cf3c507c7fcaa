/** Finds passwords, keys and tokens by the name before them: `password: …`, `"token": "…"`, `la contraseña es …`. */

import { type Folded, fold } from '../model/fold.ts';
import { CREDENTIAL_NAMES, type CredentialName, LINK_WORDS, POSSESSIVES } from './credential-names.ts';
import { type Candidate, isSecretValue, type Link } from './credential-values.ts';
import type { Stretch } from './key-shapes.ts';

/** Names that are too short to be part of a longer word. */
const WHOLE_WORDS = new Set(['pin', 'psk', 'mdp', 'sig', 'pw', 'pass']);
/** Names of which the table has no row: the first only with a sign behind it, and not in `compass` or `bypass`. */
const SHORT_NAMES: readonly CredentialName[] = ['pass', 'pw', 'creds'].map((name) => ({
  name,
  language: 'en',
  kind: name === 'creds' ? 'token' : 'password',
  isStem: false,
}));

const NAMES: ReadonlyMap<string, readonly CredentialName[]> = Map.groupBy(
  [...CREDENTIAL_NAMES, ...SHORT_NAMES],
  ({ name }) => fold(name.replaceAll('\u200c', '')).text,
);
const byLength = (a: string, b: string) => b.length - a.length || (a < b ? -1 : 1);
const isAscii = (name: string) => /^[ -~]+$/.test(name);
const anyOf = (names: readonly string[]) =>
  names
    .toSorted(byLength)
    .map((name) => escapeLiteral(name))
    .join('|');
const ASCII_NAMES = new RegExp(anyOf([...NAMES.keys()].filter(isAscii)), 'g');
/** Names that start with another letter are tried only where there is one. */
const ALL_NAMES = new RegExp(
  `${anyOf([...NAMES.keys()].filter((name) => isAscii(name.slice(0, 1))))}|(?=[^ -~\\s])(?:${anyOf([...NAMES.keys()].filter((name) => !isAscii(name.slice(0, 1))))})`,
  'g',
);

/** Letters that folding does not make ASCII; most texts have none, only dashes and quotation marks. */
const OTHER_LETTERS = /[\u0370-\u1fff\u2c00-\ud7ff\uf900-\ufdff\ufe70-\ufefc]/;

function escapeLiteral(literal: string): string {
  return literal.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

/** Words as they read when folded, the longest first. */
function folded(words: ReadonlyMap<string, readonly string[]>, isGlued: boolean): string {
  return [...words.keys()]
    .filter((word) => GLUED.test(word) === isGlued)
    .map((word) => escapeLiteral(fold(word).text))
    .toSorted(byLength)
    .join('|');
}

/** Scripts that put no space between a name, a particle and a value. */
const GLUED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

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
/** A quotation mark inside a value is part of it; one at its end is not. */
const BARE = '((?:[^\\s"\'`<>“”„«»「」]|(?<=[\\w!@#$%^&*])["\'`](?=[\\w!@#$%^&*])){1,512})';
/** Environments and versions at the end of a name: `DB_PASSWORD_PROD`, `password2`. */
const SUFFIX =
  '(?:[_-]?(?:\\d{1,2}|prod|production|dev|development|test|staging|live|main|new|old|value|plain|plaintext|raw|current|confirm|confirmation|again|again|repeat))?';

/** Words of other languages that qualify a name which they share with English: "password temporanea", "token de acces". */
const QUALIFIERS =
  "(?:temporane[ao]|temporaire|temporal|temporari[ao]|provis[a-z]{4,6}|inicial|initiale?|iniziale|sementara|tymczasow[ey]|docasne|actuel|attuale|atual|aktuell|d[ei] acces[os]{0,2}|d'acces|akses|dostepu|доступа|доступу|за достъп|دسترسی)";
/** Other languages put adjectives and the like behind the name: "mot de passe temporaire", "hasło dostępu". */
const qualified = (words: string) =>
  `(?<kind>\\s${words}(?=\\s{0,2}(?:[([][^()[\\]\\r\\n]{1,40}[)\\]])?${AROUND}(?:${GAP}${TAG}){0,2}\\s{0,2}(?:[:=|\\t]|->|→)|\\s{0,2}<\\/t[dh]>|\\s(?:${folded(LINK_WORDS, false)})[\\s:]))?`;
const ANY_WORDS = "[\\p{L}\\p{M}'\\u200c-]{2,14}(?:\\s[\\p{L}\\p{M}'\\u200c-]{2,14}){0,2}";

const after = (inflection: string, qualifiers: string) =>
  new RegExp(
    `${inflection}${SUFFIX}[?!]?${AROUND}\\]?(?:\\s?(?:(?:${folded(POSSESSIVES, false)})(?![\\p{L}\\p{M}])|${folded(POSSESSIVES, true)}))?${qualified(qualifiers)}(?:\\s?[([][^()[\\]\\r\\n]{1,40}[)\\]])?(?<between>${BETWEEN})(?:(?<=:)[*_]{1,3}\\s{0,2})?(?:${QUOTED}|${ELEMENT}|${BARE})`,
    'dyu',
  );
const AFTER_ENGLISH = after('s?', QUALIFIERS);
const AFTER_NAME = after('s?', ANY_WORDS);
const AFTER_STEM = after('\\p{L}{0,6}', ANY_WORDS);

/** English words that mean "is" elsewhere: they link only a name of a language that has them. */
const ENGLISH_WORDS = new Set(['to', 'on', 'da', 'ni', 'e', 'er']);
const LANGUAGES_OF: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...Map.groupBy(LINK_WORDS, ([word]) => fold(word).text)].map(([word, rows]) => [
    word,
    new Set(rows.flatMap(([, languages]) => languages)),
  ]),
);

/** "I changed the password to …", "reset my password to …". */
const CHANGED = /(?<![A-Za-z])(?:chang|set|reset|updat)[a-z]{0,5} (?:[A-Za-z]{1,20} ){0,4}$/i;

/** Pure, and in time linear in the text. */
export function findPairs(text: string, view: Folded): readonly Stretch[] {
  const found: Stretch[] = [];
  const names = OTHER_LETTERS.test(view.text) ? ALL_NAMES : ASCII_NAMES;
  names.lastIndex = 0;
  for (let match = names.exec(view.text); match !== null; match = names.exec(view.text)) {
    const pair = pairAt(text, view, match.index, match[0]);
    // What was read as a value may contain the next pair: `key=…&token=…`, "the password: token is …".
    names.lastIndex = Math.max(match.index + match[0].length, pair?.resume ?? 0);
    if (pair?.secret !== undefined) {
      found.push(pair.secret);
    }
  }
  return found;
}

interface Pair {
  readonly secret: Stretch | undefined;
  /** Where the search goes on, in the folded text. */
  readonly resume: number;
}

function pairAt(text: string, view: Folded, at: number, name: string): Pair | undefined {
  const rows = NAMES.get(name) ?? [];
  const [first] = rows;
  if (first === undefined || !startsWord(view.text, at, name) || isInPlaceholder(view.text, at)) {
    return undefined;
  }
  const isEnglish = rows.some(({ language }) => language === 'en');
  const pattern = first.isStem ? AFTER_STEM : isEnglish ? AFTER_ENGLISH : AFTER_NAME;
  pattern.lastIndex = at + name.length;
  const match = pattern.exec(view.text);
  if (match === null) {
    return undefined;
  }
  const groups = match.length - 1;
  const group = match.findLastIndex((part) => part !== undefined);
  const isBare = group === groups;
  const [start, until] = match.indices?.[group] ?? [0, 0];
  const between = match.groups?.between ?? '';
  const { start: written } = view.place(at, at + 1);
  const [isStart, isEnd] = match.indices?.groups?.is ?? match.indices?.groups?.was ?? [0, 0];
  const is = view.place(isStart, isEnd);
  const linked = linkOf(text, { at: written, name, between, is: text.slice(is.start, is.end).toLowerCase() });
  const isQualified = match.groups?.kind !== undefined && (linked === 'sign' || linked === 'line');
  const link = isQualified ? 'word' : linked;
  const isElement = group === groups - 1;
  if (link === undefined || !(isBare || isElement || opensString(view.text, start - 1))) {
    return undefined;
  }
  if (isElement && !between.startsWith('>') && /\s/.test(view.text.slice(start, until))) {
    return undefined;
  }
  const end = isBare ? start + bareLength(view.text.slice(start, until), link) : until;
  if (end <= start || (between.startsWith('>') && !/^(?:<\/|\]\]>)/.test(view.text.slice(end, end + 3)))) {
    return undefined;
  }
  const rest = view.text.slice(end, end + 40);
  const place = view.place(start, end);
  const candidate: Candidate = {
    kind: first.kind,
    isPlural: view.text[at + name.length] === 's',
    value: text.slice(place.start, place.end),
    isQuoted: !isBare,
    link,
    rest,
  };
  const isElsewhere = () =>
    isLabel(view.text.slice(start, end) + rest) || (isAfterUser(view.text, at) && /^\s{0,2}[/:]\s{0,2}\S/.test(rest));
  return isSecretValue(candidate) && !isElsewhere() ? { secret: place, resume: end } : undefined;
}

/** A name of a credential where its value would stand: a file of translations, the headings of a table. */
function isLabel(text: string): boolean {
  const [label = ''] = text.split(/[\r\n"'`<|,;()]/, 1);
  return NAMES.has(label.trim());
}

/** "user/password: ana / …": the value is the second one, and is found with the excerpts of files. */
function isAfterUser(text: string, at: number): boolean {
  return /[a-z]\s?[/&+]\s?$/.test(text.slice(Math.max(0, at - 6), at));
}

/** `[SECRET_1]` was put there by an earlier pass. */
function isInPlaceholder(text: string, at: number): boolean {
  const open = text.slice(Math.max(0, at - 25), at).lastIndexOf('[');
  return open >= 0 && PLACEHOLDER_END.test(text.slice(Math.max(0, at - 25) + open, at + 40));
}

const PLACEHOLDER_END = /^\[[a-z_]{1,48}_\d{1,6}\]/;

/** Up to 24 letters and digits may precede a name in its word (`DB_PASSWORD`, `Datenbankpasswort`), more do not. */
function startsWord(text: string, at: number, name: string): boolean {
  const before = /[a-z0-9]{0,25}$/.exec(text.slice(Math.max(0, at - 25), at))?.[0] ?? '';
  if (name === 'pass') {
    return !/(?:com|by|sur|tres|over|under|tress)$/.test(before) && before.length <= 24;
  }
  return WHOLE_WORDS.has(name) ? before === '' && !isLetter(text[at + name.length]) : before.length <= 24;
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /\p{L}/u.test(character);
}

interface Linked {
  readonly at: number;
  readonly name: string;
  readonly between: string;
  /** The word that links them as it is written: `é` is not `e`. Empty where there is none. */
  readonly is: string;
}

/** The link of a name and a value; undefined where there is none. */
function linkOf(text: string, { at, name, between, is }: Linked): Link | undefined {
  if (is === 'to' && CHANGED.test(text.slice(Math.max(0, at - 60), at))) {
    return 'word';
  }
  if (ENGLISH_WORDS.has(is)) {
    const languages = LANGUAGES_OF.get(fold(is).text);
    return (NAMES.get(name) ?? []).some(({ language }) => languages?.has(language) === true) ? 'word' : undefined;
  }
  if (/^[ \t]/.test(between) && OPTION.test(text.slice(Math.max(0, at - 60), at))) {
    return 'option';
  }
  const hasSign = /[:=>→(]/.test(between.replaceAll(/<[^<>]*>/g, ''));
  // "PASS: suite" is the result of a test.
  if (name === 'pass' && (!hasSign || text.startsWith('PASS: ', at))) {
    return undefined;
  }
  if (hasSign) {
    return isStrong(text, at, between) ? 'strong' : /[\r\n]/.test(between) && !/value/.test(between) ? 'line' : 'sign';
  }
  if (/[|\t]|<\/?(?:t[dhr]|d[dt]|br|p|div|li)\b/.test(between)) {
    return 'cell';
  }
  return /[^\s<>]/.test(between.replaceAll(/<[^<>]*>/g, '')) || between === '' ? 'word' : 'space';
}

/** What precedes the name of a command-line option: `--password VALUE`, `--admin-password VALUE`, `-Password VALUE`. */
const OPTION = /(?:^|[\s"'`([])--?(?:[A-Za-z0-9]{1,20}-){0,3}$/;

/** A query parameter, an assignment in a shell or an environment file, a header with hyphens in its name. */
function isStrong(text: string, at: number, between: string): boolean {
  const before = text.slice(Math.max(0, at - 60), at);
  return (
    (between === '=' &&
      (/[?&][\w.-]{0,40}$/.test(before) ||
        (/(?:^|[\s"'`;])(?:[A-Z0-9]{1,24}_){0,4}$/.test(before) &&
          /^[A-Z]{2,}_?[A-Z]*/.test(text.slice(at, at + 8))))) ||
    (between.startsWith(':') && /(?:^|[\s"'`])[Xx]-(?:[A-Za-z0-9]{1,24}-){0,3}$/.test(before))
  );
}

/** How far back the quotes of a line are counted, in characters. */
const LONGEST_LINE = 300;

/** A quotation mark that opens a string, and does not close the one that the name is in: `input("Password: ")`. */
function opensString(text: string, at: number): boolean {
  const quote = text[at] ?? '';
  if (!/["'`]/.test(quote)) {
    return true;
  }
  const isEscaped = text[at - 1] === '\\';
  let count = 0;
  for (let index = at - 1; index >= 0 && text[index] !== '\n'; index -= 1) {
    if (at - index > LONGEST_LINE) {
      return true;
    }
    const isApostrophe = quote === "'" && isLetter(text[index - 1]) && isLetter(text[index + 1]);
    if (text[index] === quote && (text[index - 1] === '\\') === isEscaped && !isApostrophe) {
      count += 1;
    }
  }
  return count % 2 === 0;
}

/** The length of a value without quotes, without the end of a sentence, of a list or of a parameter. */
function bareLength(value: string, link: Link): number {
  const [head = ''] = value.split(
    link === 'cell' ? /\|/ : /&(?=[\w.-]{1,40}=)|[;,](?=[\w.-]{1,40}[=:])|\\[nrt]|[。、،؛।]/,
    1,
  );
  // "비밀번호는 abc123입니다": what follows in a script without spaces is no part of the value.
  const own = /^[!-~]/.test(head) ? (/^[!-~]+/.exec(head)?.[0] ?? head) : head;
  const plain = GLUED.test(head.slice(own.length, own.length + 1)) ? own : head;
  return plain.replace(/(?:[.,;:)}\]]|\\){1,8}$/, '').length;
}
