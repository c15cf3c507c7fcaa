// Finder for the names of people that a conversation is known to have.

import { smallest } from '../../../core/lists.ts';
import type { Person } from '../../model/ticket.ts';
import { type Folded, fold } from '../model/fold.ts';
import type { Finder, PrivateValue } from '../model/found.ts';
import { matchesIn } from '../model/matches.ts';
import { isWordAt, placesOf, type Reading } from '../model/reading.ts';
import { hasCjk, namesInContext, patternsOfName } from './cjk-names.ts';
import { isCommon, isParticle, isWordToo, NEVER } from './name-words.ts';

/** Gap between two words of a name. */
const GAP = /^(?:['’`´.\-_ \t]|\s?\r?\n[ \t>]?|, ?|\. ){0,3}$/;
/** Matcher for names and addresses of people; all those of one person share a placeholder such as `[PERSON_1]`. */
export interface PeopleMatcher {
  readonly finder: Finder;
  /** Returns the key of the person to whom an address belongs, or undefined. */
  ownerOf(email: string): string | undefined;
}

/** Matcher without people, for redaction that does not search for names. */
export const noPeople: PeopleMatcher = { finder: () => [], ownerOf: () => undefined };

/** Phrases that start with one word, by their words with a space in between. */
interface Phrases {
  readonly byWords: Map<string, Phrase>;
  /** Number of words in the longest one. */
  longest: number;
}

interface Names {
  /** Names of one word in languages with cases, by their stem. */
  readonly stems: Map<string, Phrase>;
  /** Phrases by their first word. */
  readonly phrases: Map<string, Phrases>;
  readonly known: Map<string, string>;
  readonly patterns: { readonly pattern: RegExp; readonly key: string }[];
}

/**
 * Creates a matcher for the names of the ticket's people, as whole words regardless of case, accents and line ends.
 * Names that the conversation announces match only if they are capitalized and placed like names.
 */
export function createPeopleMatcher(
  people: readonly Person[],
  isAllowed: (value: string) => boolean,
  announced: readonly string[] = [],
): PeopleMatcher {
  const owners = new Map<string, string>();
  const names: Names = { stems: new Map(), phrases: new Map(), known: new Map(), patterns: [] };
  const named = new Map<string, number>();
  for (const [index, person] of people.entries()) {
    for (const name of fullNamesOf(person)) {
      named.set(name, named.get(name) ?? index);
    }
    const emails = person.emails
      .map((email) => email.trim().normalize('NFC').toLowerCase())
      .filter((email) => email !== '');
    const key =
      emails.map((email) => owners.get(email)).find((owner) => owner !== undefined) ?? keyOf(person, index, named);
    for (const email of emails) {
      owners.set(email, owners.get(email) ?? key);
    }
    for (const name of person.names.filter((each) => !each.includes('@') && !isAllowed(each))) {
      addName(names, name, key, false);
    }
  }
  for (const name of announced.filter((each) => !isAllowed(each))) {
    addName(names, name, announcedKey(names, name), true);
  }
  return { finder: (reading) => findPeople(reading, names), ownerOf: (email) => owners.get(email) };
}

/**
 * Returns the key of an announced name: that of the known person with this name or a part of it, otherwise a new one.
 */
function announcedKey({ known }: Names, name: string): string {
  const words = phrasesOf(name);
  return words.map((each) => known.get(each.join(' '))).find((key) => key !== undefined) ?? `person ${name}`;
}

function addName({ stems, phrases, known, patterns }: Names, name: string, key: string, isAnnounced: boolean): void {
  if (isThing(name)) {
    return;
  }
  for (const source of patternsOfName(name)) {
    patterns.push({ pattern: new RegExp(source, 'gu'), key });
  }
  // Names of two letters match only if the conversation announces them.
  const short = isAnnounced && /^\p{Lu}\p{Ll}$/u.test(name) ? [[name.toLowerCase()]] : [];
  for (const words of [...phrasesOf(name), ...short]) {
    const id = words.join(' ');
    if (!known.has(id)) {
      known.set(id, key);
      const first = words[0] as string;
      const needs =
        words.length > 1
          ? 'nothing'
          : isWordToo(first) || isCommon(first) || first.length < 3
            ? 'place'
            : isAnnounced
              ? 'capital'
              : 'nothing';
      const phrase: Phrase = { words, key, needs };
      const same = phrases.get(first) ?? { byWords: new Map(), longest: 0 };
      same.byWords.set(id, phrase);
      same.longest = Math.max(same.longest, words.length);
      phrases.set(first, same);
      for (const stem of words.length > 1 || needs === 'place' ? [] : stemsOf(first)) {
        stems.set(stem, stems.get(stem) ?? { ...phrase, needs: 'capital' });
      }
    }
  }
}

/** Reports whether a name consists of words such as "Error" and "API": it is that of no person. */
function isThing(name: string): boolean {
  const words = wordsOf(fold(name).text);
  return words.every((word) => isCommon(word) && !isWordToo(word));
}

/**
 * Returns the key of a person. Entries with the same name and without different addresses are the same person. `named`
 * has the first person with each name.
 */
function keyOf(person: Person, index: number, named: ReadonlyMap<string, number>): string {
  return `person ${smallest(
    fullNamesOf(person).map((name) => named.get(name) ?? index),
    index,
  )}`;
}

function fullNamesOf({ names }: Person): readonly string[] {
  return names.map((name) => fold(name).text.trim()).filter((name) => name.includes(' '));
}

function findPeople(reading: Reading, { stems, phrases, patterns }: Names): readonly PrivateValue[] {
  const { text } = reading;
  const cjk = hasCjk(reading) ? findCjk(reading, patterns) : [];
  if (phrases.size === 0) {
    return cjk;
  }
  const folded = fold(text);
  const found: PrivateValue[] = [...cjk, ...inflected(text, folded, stems)];
  let done = 0;
  for (const { start, word } of placesOf(folded.text, phrases)) {
    if (start < done) {
      continue;
    }
    const longest = longestAt(folded.text, start, word, phrases.get(word));
    const place = longest === null ? null : folded.place(start, longest.end);
    if (longest !== null && place !== null && isUsedAsName(longest.phrase, text, place.start, place.end)) {
      found.push({ type: 'person', label: 'PERSON', key: longest.phrase.key, ...place });
      done = longest.end;
    }
  }
  return found;
}

/** Letters of languages that inflect names: Cyrillic, Greek, and those of Polish, Czech and their neighbors. */
const INFLECTING = /[\u0370-\u03ff\u0400-\u04ffąćęłńśźżčďěňřšťůžđ]/iu;
/** Endings of the cases of names, without accents, the longest first. */
const ENDINGS =
  /(?:ового|овому|ового|ского|скому|ого|ому|ыми|ими|ами|ями|ові|еві|єві|ою|ею|еи|ои|ии|ыи|ая|яя|ым|им|ых|их|ую|юю|ом|ем|ам|ям|ах|ях|а|я|у|ю|е|і|ы|и|о|ь|є|οσ|ου|ον|ησ|ασ|εσ|ων|ο|η|α|ε|owie|owi|ovi|iego|iemu|ego|emu|iej|iem|ami|ach|ich|ej|em|om|ou|im|ym|ie|ia|iu|a|u|e|y|i|o)$/u;

/** Returns what the cases of a folded name have in common: \`kowalsk\` of \`kowalska\`, \`mark\` of \`marek\`. */
function stemsOf(name: string): readonly string[] {
  const stem = name.replace(ENDINGS, '');
  const fewest = /^[a-z]/.test(name) ? 4 : 2;
  const shorter = /^(.{2,})[eео]([kcлц])$/u.exec(stem);
  return [stem, ...(shorter === null ? [] : [`${shorter[1]}${shorter[2]}`])].filter(({ length }) => length >= fewest);
}

/** Returns the names in other cases than the known one, in texts of languages that have them. */
function inflected(text: string, folded: Folded, stems: Names['stems']): readonly PrivateValue[] {
  if (stems.size === 0 || !INFLECTING.test(text)) {
    return [];
  }
  return matchesIn(folded.text, WORD).flatMap(({ index, 0: word }): readonly PrivateValue[] => {
    const phrase = stems.get(word.replace(ENDINGS, ''));
    const place = phrase === undefined ? null : folded.place(index, index + word.length);
    return phrase !== undefined && place !== null && isUsedAsName(phrase, text, place.start, place.end)
      ? [{ type: 'person', label: 'PERSON', key: phrase.key, ...place }]
      : [];
  });
}

function findCjk(reading: Reading, patterns: Names['patterns']): readonly PrivateValue[] {
  const known = patterns.flatMap(({ pattern, key }) =>
    matchesIn(reading.text, pattern)
      .filter(([value]) => value !== '')
      .map(
        ({ index, 0: value }): PrivateValue => ({
          type: 'person',
          label: 'PERSON',
          key,
          start: index,
          end: index + value.length,
        }),
      ),
  );
  const inContext = namesInContext(reading).map(
    ({ name, start, end }): PrivateValue => ({ type: 'person', label: 'PERSON', key: `person ${name}`, start, end }),
  );
  return [...known, ...inContext];
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** Returns the longest phrase that starts with this word, and its end; null if other words follow. */
function longestAt(
  text: string,
  start: number,
  first: string,
  phrases: Phrases | undefined,
): { readonly phrase: Phrase; readonly end: number } | null {
  let end = start + first.length;
  let words = first;
  let found: { readonly phrase: Phrase; readonly end: number } | null = null;
  for (let count = 1; phrases !== undefined; count += 1) {
    const phrase = phrases.byWords.get(words);
    found = phrase === undefined ? found : { phrase, end };
    const from = end + gapAt(text, end);
    if (count >= phrases.longest || !GAP.test(text.slice(end, from))) {
      break;
    }
    end = endOfWord(text, from);
    words += ` ${text.slice(from, end)}`;
  }
  return found;
}

function endOfWord(text: string, from: number): number {
  let end = from;
  while (isWordAt(text, end)) {
    end += 1;
  }
  return end;
}

/** Returns the distance to the next word if it is small enough within a name. */
function gapAt(text: string, from: number): number {
  let gap = 0;
  while (gap < 8 && from + gap < text.length && !isWordAt(text, from + gap)) {
    gap += 1;
  }
  return gap;
}

/** Minimum length of a first or last name that is searched for on its own; a syllable of Hangul counts as its letters. */
const FEWEST = 3;
/** Shortest name after an initial that is searched for as one word. */
const MIN_LOGIN = 5;

/** A name as a list of folded words. */
interface Phrase {
  readonly words: readonly string[];
  readonly key: string;
  /** Evidence that is required for a match: none, a capital letter, or also the position. */
  readonly needs: 'nothing' | 'capital' | 'place';
}

/** Returns the spellings of a name: complete, joined, with umlauts spelled out, and each part that is long enough. */
function phrasesOf(name: string): readonly (readonly string[])[] {
  const spellings = [name, name.replaceAll(/[äöüÄÖÜ]/g, (umlaut) => `${fold(umlaut).text}e`)];
  return [...new Set(spellings)].flatMap((spelling) => phrasesOfSpelling(spelling));
}

function phrasesOfSpelling(spelling: string): readonly (readonly string[])[] {
  const parts = spelling
    .split(/[\s,;()"]+/)
    .map((part) => wordsOf(fold(part).text))
    .filter((part) => part.length > 0);
  const whole = parts.flat();
  const isRole = whole.every((word) => NEVER.has(word));
  const all = isRole || whole.length < 2 ? [] : [whole, [whole.join('')], [...whole.slice(1), whole[0] as string]];
  const single = parts.filter(
    (part) => part.join('').normalize('NFD').length >= FEWEST && !part.every((word) => NEVER.has(word)),
  );
  const bare = single.flatMap((part) => withoutArticle(part));
  const joined = single.filter((part) => part.length > 1).map((part) => [part.join('')]);
  return [...all, ...withInitial(parts), ...withParticles(parts), ...single, ...joined, ...bare];
}

/** Returns the last name after the initial of the first one: `J. Moreau`, `jmoreau`. */
function withInitial(parts: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const initial = parts[0]?.[0]?.slice(0, 1) ?? '';
  const last = parts.at(-1) ?? [];
  const joined = `${initial}${last.join('')}`;
  const isLong = parts.length > 1 && last.join('').length >= FEWEST && !last.every((word) => NEVER.has(word));
  return isLong ? [[initial, ...last], ...(joined.length > MIN_LOGIN ? [[joined]] : [])] : [];
}

/** Returns a last name with its particles: `van der Heyden`, `v.d. Heyden`, `vanderheyden`, `de la Cruz`. */
function withParticles(parts: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return parts.flatMap((part, index) => {
    let from = index;
    while (from > 0 && isParticle((parts[from - 1] as readonly string[]).join(''))) {
      from -= 1;
    }
    const particles = parts.slice(from, index).flat();
    if (particles.length === 0 || isParticle(part.join(''))) {
      return [];
    }
    const shorter = particles.map((_, at) => [...particles.slice(at), ...part]);
    const initials = particles.map((particle) => particle.slice(0, 1));
    return [
      ...shorter,
      [...initials, ...part],
      [...particles, ...part].length > 1 ? [[...particles, ...part].join('')] : part,
    ];
  });
}

/** Returns a name without its article: `Rashid` for `Al-Rashid`. */
function withoutArticle(part: readonly string[]): readonly (readonly string[])[] {
  const [first = '', ...rest] = part;
  return /^(?:al|el|abd|ben|bin)$/.test(first) && rest.join('').length > FEWEST ? [rest] : [];
}

function wordsOf(text: string): readonly string[] {
  return text.match(WORD) ?? [];
}

const GREETING =
  /(?:^|\W)(?:hi|hello|hey|dear|hallo|liebe[r]?|bonjour|hola|thanks|thank you|thx|cheers|regards|mr|mrs|ms|dr|from|by|with|to|for|cc|ask|tell|told|@)[,:.]?\s{1,3}$/i;

/** Reports whether a phrase is used as a name here. */
function isUsedAsName({ needs }: Phrase, text: string, start: number, end: number): boolean {
  return (
    needs === 'nothing' ||
    (needs === 'capital' && /^[\p{Lu}\p{Lo}]/u.test(text.slice(start, start + 2))) ||
    isNameHere(text, start, end)
  );
}

/** Reports whether a word is used as a name: capitalized in a sentence, greeted, possessive, or alone on its line. */
function isNameHere(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 30), start);
  const after = text.slice(end, end + 8);
  const isCapital = /^\p{Lu}\p{Ll}/u.test(text.slice(start, end)) || /^\p{Lo}/u.test(text.slice(start, end));
  const isAlone =
    /(?:^|\n)[\s>*_~–—-]{0,6}$/.test(before) && /^[\s,.!*_]{0,3}(?:\r?\n|$)/.test(text.slice(end, end + 6));
  if (!isCapital) {
    return isAlone || /(?:^|\W)(?:hi|hello|hey|dear|hallo) $/i.test(before);
  }
  const opensSentence = /(?:^|[.!?:\n"“(*>-])\s{0,3}$/.test(before);
  return (
    !opensSentence ||
    isAlone ||
    (/(?:^|\n)[ \t>*_]{0,6}$/.test(before) && /^\*{0,2}(?:[:：]|[ \t]{1,3}[[(]?\d{1,2}[:.]\d)/.test(after)) ||
    /^['’]s/.test(after) ||
    GREETING.test(before)
  );
}
