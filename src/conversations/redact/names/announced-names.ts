/** Finds names that a conversation announces: by a greeting, an honorific, a label, a role, a closing, "my name is". */

import type { Person } from '../../model/ticket.ts';
import data from '../data/name-words.json' with { type: 'json' };
import { fold, isAscii } from '../model/fold.ts';
import { ending, isBefore, matchesIn } from '../model/matches.ts';
import { bitOf, placesOf, type Reading, startsOf } from '../model/reading.ts';
import { namesInContext } from './cjk-names.ts';
import { labelledNames } from './labelled-names.ts';
import { isGivenName, isWordToo, nameIn, namePattern, plain, TOKEN } from './name-words.ts';

const NAME = namePattern(4);
const SHORT_NAME = namePattern(2);

/** Way in which a phrase announces a name. */
type Kind = keyof typeof LISTS;

const LISTS = {
  greeting: data.greetings,
  closing: data.closings,
  introduction: data.introductions,
  weak: data.weakIntroductions,
  honorific: data.honorifics,
  foreign: data.foreignHonorifics,
  later: data.laterHonorifics,
  role: data.roles,
  colleague: data.closeRoles,
  relation: data.relations,
} as const;

interface Phrase {
  readonly kind: Kind;
  /** Folded words after the first one. */
  readonly rest: readonly string[];
  readonly isCapital: boolean;
}

const WORD = /[\p{L}\p{M}](?:[\p{L}\p{M}'’]|["״](?=[\u05d0-\u05ea])){0,30}/gu;
const FIRST_WORD = new RegExp(WORD.source, 'uy');
const NEXT_WORD = /[ \u00a0'’.-]{1,2}([\p{L}\p{M}](?:[\p{L}\p{M}'’]|["״](?=[\u05d0-\u05ea])){0,30})/uy;

/** Phrases by their first word, the longest first. */
const PHRASES = new Map<string, Phrase[]>();
for (const [kind, lists] of Object.entries(LISTS) as [Kind, readonly string[]][]) {
  for (const phrase of lists.flatMap((list) => list.split('|'))) {
    const [first = '', ...rest] = phrase.match(WORD) ?? [];
    const same = PHRASES.get(key(first)) ?? [];
    same.push({ kind, rest: rest.map(key), isCapital: /^\p{Lu}/u.test(phrase) });
    PHRASES.set(key(first), same);
  }
}
for (const phrases of PHRASES.values()) {
  phrases.sort((a, b) => b.rest.length - a.rest.length);
}
const PHRASE = bitOf([...PHRASES.keys(), ...Object.values(LISTS).flatMap((lists) => lists.join('|').split('|'))]);

function key(word: string): string {
  const folded = plain(word);
  const same = isAscii(folded) ? folded : folded.replaceAll('’', "'").replaceAll('״', '"');
  return same.endsWith("'") ? same.slice(0, -1) : same;
}

const FOLLOWED =
  '(?=[ \\t]{0,3}(?:[,!:;.،，！—–?]|\\r?\\n|$| -| (?:and|und|et|y|e|og|och|en|&|и|і|i|a|ve|και|si|és|ja) ))';
/** A name after a greeting, up to punctuation or the end of the line. */
const GREETED = new RegExp(`[ \\t,،]{1,3}(${NAME})${FOLLOWED}`, 'uy');
/** A name that makes up a line, or starts a line with a role or a company. */
const SIGNED = new RegExp(`[ \\t>*_~–—-]{0,8}(${NAME})[*_]{0,2}[ \\t.]{0,3}(?=\\r?\\n|$|[,|(/•·–—]| [|–—-])`, 'uy');
const INTRODUCED = new RegExp(`[: ]{1,3}(${NAME})`, 'uy');
const HONORED = new RegExp(`\\.?[ \\u00a0]{1,2}(${SHORT_NAME})`, 'uy');
const RELATED = new RegExp(`,? (${SHORT_NAME})`, 'uy');
const WEAK = new RegExp(` (?:[oa] |η |ο )?(${namePattern(3)})`, 'uy');
/** Text after the name of a speaker: after a name of one word, and after a longer one. */
const FROM = 'here|calling|speaking|hier|from|von|vom|aus|från|fra|из|від|من|dari|从';
const SPEAKER_FROM = new RegExp(`[ ,]{1,2}(?:${FROM})(?![\\p{L}\\p{M}])`, 'uy');
const LONG_SPEAKER = new RegExp(
  `[ ,]{1,2}(?:${FROM}|of|at|with|bei|de|da|di|do|van|z|ze|от|з|із|από|מ|के|से)(?![\\p{L}\\p{M}])|[.,!]?(?:\\s|$)`,
  'uy',
);
/** Patterns of a name after a phrase, by the kind of the phrase. */
const AFTER: Readonly<Record<Exclude<Kind, 'later'>, RegExp>> = {
  greeting: GREETED,
  closing: GREETED,
  introduction: INTRODUCED,
  weak: WEAK,
  honorific: HONORED,
  foreign: HONORED,
  role: RELATED,
  colleague: RELATED,
  relation: RELATED,
};
/** The end of a name before an honorific that follows it: `Ayşe Hanım`. */
const EARLIER = new RegExp(`(?<![\\p{L}\\p{M}])(${TOKEN}(?: ${TOKEN})?) $`, 'u');
/** A signature after dashes: `— Maria`, or below `-- `. */
const DASH = /[–—~]|--|__/;
const DASHES = /^[ \t>]{0,4}(?:[–—~]|--|__)[ \t]{0,2}(?:\r?\n)?/gmu;
/** The end of the text before a phrase that opens a line, or a clause. */
const OPENS_LINE = ending(/(?:^|\n|[.!?…] )[ \t>*_~–—-]{0,8}/);
const OPENS_CLAUSE = ending(
  /(?:^|[\n.!?,;:()"“”«»>|*_–—-]|(?:^|\P{L})(?:and|und|et|y|e|og|och|en|и|і|hi|hello|hey|hallo|hola|bonjour|olá|ciao|merhaba|cześć|привет|привіт|so|but|here))[ \t>*_]{0,4}/iu,
);
const GERMAN_DETERMINER = ending(/(?<!\p{L})(?:(?:[mds]?ein|unser|ihr)(?:e[mnrs]?)?|d(?:er|ie|en|em)) /iu);
const ENGLISH = /(?<!\p{L})(?:the|and|with|is|to|for|of|in|my)(?!\p{L})/iu;
/** Maximum number of characters that are read around a phrase. */
const REACH = 120;
/** Longest line that counts as a closing, in characters. */
const MAX_CLOSING_LENGTH = 60;

/** Returns the names that any of the texts announces, without duplicates. */
export function announcedNames(readings: readonly Reading[], people: readonly Person[] = []): readonly string[] {
  const names = new Set<string>();
  for (const reading of readings) {
    const { text } = reading;
    let done = 0;
    for (const start of (reading.bits & PHRASE) === 0 ? [] : startsOf(reading, PHRASE)) {
      FIRST_WORD.lastIndex = start;
      const word = start < done ? undefined : FIRST_WORD.exec(text)?.[0];
      done = word === undefined ? done : start + word.length;
      for (const name of word === undefined ? [] : namesAfter(text, start, word)) {
        names.add(name);
      }
    }
    for (const { index, 0: dashes } of DASH.test(text) ? matchesIn(text, DASHES) : []) {
      const signed = match(SIGNED, text, index + dashes.length);
      // `--END` and `__DATA__` are marks in code.
      addName(names, /\S$/.test(dashes) && /^\p{Lu}{3,}$/u.test(signed ?? '') ? undefined : signed, 'strong');
    }
    for (const { name } of namesInContext(reading)) {
      if (name.length >= SHORTEST_FULL_NAME) {
        names.add(name);
      }
    }
    for (const name of labelledNames(reading)) {
      names.add(name);
    }
  }
  for (const name of withFamilyNames(readings, [...people.flatMap((person) => person.names), ...names])) {
    names.add(name);
  }
  return [...names];
}

/** Returns the first names that are known or announced, with the unknown family names after them. */
function withFamilyNames(readings: readonly Reading[], known: readonly string[]): ReadonlySet<string> {
  const words = known.map((name) => fold(name).text.split(' '));
  const firsts = new Set(
    words.map(([first = '']) => first).filter((first) => first.length >= SHORTEST_FIRST && !isWordToo(first)),
  );
  const pairs = new Set(words.map(([first, second]) => `${first} ${second}`));
  const names = new Set<string>();
  for (const { text } of firsts.size === 0 ? [] : readings) {
    const folded = fold(text);
    for (const { start: at, word: first } of placesOf(folded.text, firsts)) {
      const { start, end } = folded.place(at, at + first.length);
      const family = /^\p{Lu}/u.test(text.slice(start, start + 2)) ? match(FAMILY, text, end) : undefined;
      const name = family === undefined ? null : nameIn(family, 'weak');
      if (name !== null && !pairs.has(`${first} ${fold(name).text.split(' ', 1)[0]}`)) {
        names.add(`${text.slice(start, end)} ${name}`);
      }
    }
  }
  return names;
}

/** Shortest full name in Chinese, Japanese and Korean, in characters. */
const SHORTEST_FULL_NAME = 3;
/** Shortest first name that is searched for with another family name. */
const SHORTEST_FIRST = 3;
const FAMILY = new RegExp(`[ \\u00a0]((?:\\p{Lu}\\. )?${SHORT_NAME})(?!\\p{L})`, 'uy');

function addName(names: Set<string>, phrase: string | undefined, evidence: 'strong' | 'weak'): void {
  const name = phrase === undefined ? null : nameIn(phrase, evidence);
  if (name !== null) {
    names.add(name);
  }
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[1];
}

/** Returns the names that a phrase announces that starts with this word. */
function namesAfter(text: string, start: number, word: string): ReadonlySet<string> {
  const names = new Set<string>();
  let longest = 0;
  const next: NextWord[] = [];
  for (const { kind, rest, isCapital } of PHRASES.get(key(word)) ?? []) {
    const end = rest.length < longest ? -1 : endOfPhrase(text, start + word.length, rest, next);
    if (end < 0) {
      continue;
    }
    longest = rest.length;
    if (kind === 'later') {
      addName(names, nameBefore(text, start), 'weak');
    } else if (mayAnnounce(text, start, kind, isCapital)) {
      const phrase = withoutVerb(match(AFTER[kind], text, end));
      if (phrase !== undefined && isAccepted(text, phrase, AFTER[kind].lastIndex, kind)) {
        addName(names, phrase, STRONG.has(kind) ? 'strong' : 'weak');
      }
      if (kind === 'closing' && isClosing(text, start, end)) {
        LINE_BELOW.lastIndex = end;
        addName(names, LINE_BELOW.test(text) ? match(SIGNED, text, LINE_BELOW.lastIndex) : undefined, 'strong');
      }
    }
  }
  return names;
}

/** Removes what follows a Thai name, because only a space separates it from the sentence. */
function withoutVerb(phrase: string | undefined): string | undefined {
  return phrase !== undefined && /^\p{Script=Thai}/u.test(phrase) ? phrase.split(' ', 2).join(' ') : phrase;
}

/** Returns the name before an honorific, without a greeting. */
function nameBefore(text: string, start: number): string | undefined {
  const name = EARLIER.exec(text.slice(Math.max(0, start - REACH), start))?.[1];
  const [first = '', second] = name?.split(' ') ?? [];
  return second !== undefined && PHRASES.has(key(first)) ? second : name;
}

/** The rest of a line, and empty lines below it. */
const LINE_BELOW = /[^\n]{0,60}\n(?:[ \t>\r]{0,8}\n){0,2}/y;
const STRONG: ReadonlySet<Kind> = new Set(['greeting', 'closing', 'introduction']);

/** A word after the first one of a phrase; empty if there is none. */
interface NextWord {
  readonly key: string;
  readonly end: number;
}

/** Returns the end of a phrase whose first word ends here, or -1. `next` collects the words that were read. */
function endOfPhrase(text: string, from: number, rest: readonly string[], next: NextWord[]): number {
  let end = from;
  for (const [index, expected] of rest.entries()) {
    const word = next[index] ?? wordAfter(text, end);
    next[index] = word;
    if (word.key !== expected) {
      return -1;
    }
    end = word.end;
  }
  return end;
}

function wordAfter(text: string, from: number): NextWord {
  NEXT_WORD.lastIndex = from;
  const word = NEXT_WORD.exec(text)?.[1];
  return { key: word === undefined ? '' : key(word), end: NEXT_WORD.lastIndex };
}

/** Reports whether a phrase is at a place where it announces a name. */
function mayAnnounce(text: string, start: number, kind: Kind, isCapital: boolean): boolean {
  switch (kind) {
    case 'greeting':
    case 'closing':
      return isBefore(OPENS_LINE, text, start);
    case 'introduction':
    case 'weak':
      return (
        isBefore(OPENS_CLAUSE, text, start) ||
        (kind === 'introduction' && /^[\u0370-\uffff]/.test(text.slice(start, start + 1)))
      );
    case 'role':
    case 'colleague':
      return /^\P{Lu}/u.test(text.slice(start, start + 2)) || isBefore(GERMAN_DETERMINER, text, start);
    case 'foreign':
      return (
        (!isCapital || /^\p{Lu}/u.test(text.slice(start, start + 2))) &&
        !ENGLISH.test(text.slice(Math.max(0, start - REACH), start + REACH))
      );
    case 'honorific':
      // `ms` is a unit, `MS` a company and `MR` a request.
      return (
        !/\d ?$/.test(text.slice(Math.max(0, start - 2), start)) &&
        !/^(?:ms\W|(?:MS|MR|SR) \P{Lu}|(?:MS|MR|SR) \p{Lu}\p{Ll})/u.test(text.slice(start, start + 5))
      );
    default:
      return true;
  }
}

/** Reports whether a phrase looks enough like a name for what announces it. */
function isAccepted(text: string, phrase: string, end: number, kind: Kind): boolean {
  const [first = '', second] = phrase.split(' ');
  if (kind === 'colleague') {
    return !(PHRASES.get(key(first)) ?? []).some((each) => each.kind === 'role' || each.kind === 'colleague');
  }
  if (kind !== 'weak' && kind !== 'role' && kind !== 'relation') {
    return true;
  }
  if (isGivenName(first, second !== undefined)) {
    return true;
  }
  const isCapital = /^\p{Lu}\P{Lu}/u.test(first);
  if (kind !== 'weak') {
    // The name of a company ends with a word of another kind.
    return isCapital && second !== undefined && nameIn(phrase, 'weak') === phrase;
  }
  const follows = second === undefined ? SPEAKER_FROM : LONG_SPEAKER;
  follows.lastIndex = end;
  return isCapital && follows.test(text);
}

/** Reports whether a phrase makes up most of a line, so that the next line is a signature. */
function isClosing(text: string, start: number, end: number): boolean {
  const newline = text.indexOf('\n', end);
  return newline >= 0 && newline - start <= MAX_CLOSING_LENGTH;
}
