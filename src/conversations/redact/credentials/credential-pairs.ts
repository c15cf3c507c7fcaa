/** Finds passwords, keys and tokens by the name before them: `password: …`, `"token": "…"`, `la contraseña es …`. */
import { type Folded, fold } from '../model/fold.ts';
import type { NameKind } from './credential-labels.ts';
import {
  AFTER_ENGLISH,
  AFTER_NAME,
  AFTER_STEM,
  ALL_NAMES,
  ASCII_NAMES,
  LINK_WORDS,
  NAMES,
  OTHER_LETTERS,
  UNSPACED,
} from './credential-labels.ts';
import type { TextSpan } from './keys.ts';
import { isAlgorithm, isEnvironment, isExpression, isPlaceholder, isProse, isSentence } from './non-secrets.ts';

/** Names that are so short that they must be whole words. */
const WHOLE_WORDS = new Set(['pin', 'psk', 'mdp', 'sig', 'pw', 'pass']);

/** Words for "is" that are also English words: they only link names of a language that has them. */
const ENGLISH_WORDS = new Set(['to', 'on', 'da', 'ni', 'e', 'er']);
const LANGUAGES_OF: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...Map.groupBy(LINK_WORDS, ([word]) => fold(word).text)].map(([word, rows]) => [
    word,
    new Set(rows.flatMap(([, languages]) => languages)),
  ]),
);

/** "I changed the password to …", "reset my password to …". */
const CHANGED = /(?<![A-Za-z])(?:chang|set|reset|updat)[a-z]{0,5} (?:[A-Za-z]{1,20} ){0,4}$/i;

/** Finds pairs of name and value. Pure; takes linear time. */
export function findPairs(text: string, view: Folded): readonly TextSpan[] {
  const found: TextSpan[] = [];
  const names = OTHER_LETTERS.test(view.text) ? ALL_NAMES : ASCII_NAMES;
  names.lastIndex = 0;
  for (let match = names.exec(view.text); match !== null; match = names.exec(view.text)) {
    const pair = pairAt(text, view, match.index, match[0]) ?? valueBefore(text, view, match.index, match[0]);
    // A value may contain the next pair: `key=…&token=…`, "the password: token is …".
    names.lastIndex = Math.max(match.index + match[0].length, pair?.resume ?? 0);
    if (pair?.secret !== undefined) {
      found.push(pair.secret);
    }
  }
  return found;
}

interface Pair {
  readonly secret: TextSpan | undefined;
  /** Position at which the search continues, in the folded text. */
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
  const candidate: CredentialCandidate = {
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

/** "… is our API key", "… as password": the value precedes its name. */
const BEFORE =
  /(?<![\w+/=.-])([!-~]{8,128}?)["'`]?\s(?:is|was|as|ist|war|als|est|es|era|e)\s(?:(?:the|my|our|your|a|an|new|old|mein|unser|das|der|le|la|mon|ma|notre|el|mi)\s){0,2}$/;

function valueBefore(text: string, view: Folded, at: number, name: string): Pair | undefined {
  const from = Math.max(0, at - 160);
  const match = BEFORE.exec(view.text.slice(from, at));
  const [row] = NAMES.get(name) ?? [];
  if (match === null || row === undefined || !/\d/.test(match[1] ?? '')) {
    return undefined;
  }
  const start = from + match.index + match[0].indexOf(match[1] as string);
  const place = view.place(start, start + (match[1] as string).length);
  const value = text.slice(place.start, place.end);
  const isSecret = isSecretValue({ kind: row.kind, isPlural: false, value, isQuoted: false, link: 'word', rest: ' ' });
  return isSecret && /[A-Za-z]/.test(value) ? { secret: place, resume: at + name.length } : undefined;
}

/** Reports whether the value is itself the name of a credential, as in a translation file or in table headings. */
function isLabel(text: string): boolean {
  const [label = ''] = text.split(/[\r\n"'`<|,;()]/, 1);
  return NAMES.has(label.trim());
}

/** Reports whether the name is in "user/password: ana / …", whose second value `credential-files.ts` finds. */
function isAfterUser(text: string, at: number): boolean {
  return /[a-z]\s?[/&+]\s?$/.test(text.slice(Math.max(0, at - 6), at));
}

/** Reports whether the name is part of an existing placeholder: `[SECRET_1]`. */
function isInPlaceholder(text: string, at: number): boolean {
  const open = text.slice(Math.max(0, at - 25), at).lastIndexOf('[');
  return open >= 0 && PLACEHOLDER_END.test(text.slice(Math.max(0, at - 25) + open, at + 40));
}

const PLACEHOLDER_END = /^\[[a-z_]{1,48}_\d{1,6}\]/;

/** Reports whether a name is near the start of its word: up to 24 characters may precede it, as in `DB_PASSWORD`. */
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
  /** Word for "is" as written (`é` is not `e`); empty if there is none. */
  readonly is: string;
}

/** Returns the kind of link between a name and a value; undefined if there is none. */
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
  // `$pw->name` is a member in Perl and PHP.
  if (between === '->' && text.slice(Math.max(0, at - 1), at) === '$') {
    return undefined;
  }
  const hasSign = /[:=>→(]/.test(between.replaceAll(/<[^<>]*>/g, ''));
  // "PASS: suite" is a test result.
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

/** Text before the name in a command-line option: `--password VALUE`, `--admin-password VALUE`, `-Password VALUE`. */
const OPTION = /(?:^|[\s"'`([])--?(?:[A-Za-z0-9]{1,20}-){0,3}$/;

/** Reports whether it is a query parameter, an assignment in a shell or environment file, or a header with hyphens. */
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

/** Maximum length of a line in which quotation marks are counted. */
const MAX_LINE_LENGTH = 300;

/**
 * Reports whether a quotation mark opens a string and does not close the one around the name: `input("Password: ")`.
 */
function opensString(text: string, at: number): boolean {
  const quote = text[at] ?? '';
  if (!/["'`]/.test(quote)) {
    return true;
  }
  const isEscaped = text[at - 1] === '\\';
  let count = 0;
  for (let index = at - 1; index >= 0 && text[index] !== '\n'; index -= 1) {
    if (at - index > MAX_LINE_LENGTH) {
      return true;
    }
    const isApostrophe = quote === "'" && isLetter(text[index - 1]) && isLetter(text[index + 1]);
    if (text[index] === quote && (text[index - 1] === '\\') === isEscaped && !isApostrophe) {
      count += 1;
    }
  }
  return count % 2 === 0;
}

/** Returns the length of an unquoted value, without the end of a sentence, a list or a parameter after it. */
function bareLength(value: string, link: Link): number {
  const [head = ''] = value.split(
    link === 'cell' ? /\|/ : /&(?=[\w.-]{1,40}=)|[;,](?=[\w.-]{1,40}[=:])|\\[nrt]|[。、،؛।]|\)\]\(/,
    1,
  );
  // "비밀번호는 abc123입니다": text in a script without spaces is not part of the value.
  const own = /^[!-~]/.test(head) ? (/^[!-~]+/.exec(head)?.[0] ?? head) : head;
  const plain = UNSPACED.test(head.slice(own.length, own.length + 1)) ? own : head;
  return plain.replace(/(?:[.,;:)}\]]|\\){1,8}$/, '').length;
}

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
  // A signature of a function, `(options, handler)`, and a dotted name in quotes, `Token.Literal.Number`.
  if (
    value.length < 8 ||
    isIdentifier(value) ||
    SAMPLE.test(value) ||
    (!hasDigit && /\s|^[A-Za-z]+(?:\.[A-Za-z]+)+$/.test(value))
  ) {
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

/** Samples of tokens: `1234567890abcdef1234567890abcdef`, `…AccessToken00000000`. */
const SAMPLE = /^(?:0?1234567890?|abcdef){3}|(?:Access|Action)Token\d+$/i;

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
