// Finder for the names of people that a conversation is known to have.

import { smallest } from '../../../core/lists.ts';
import type { Person } from '../../model/ticket.ts';
import type { Finder, PrivateValue } from '../model/found.ts';
import { hasCjk, namesInContext, patternsOfName } from './cjk-names.ts';
import { fold } from './fold-name.ts';
import { isUsedAsName, type Phrase, phrasesOf } from './name-phrases.ts';
import { isWordToo } from './name-words.ts';

/** Gap between two words of a name. */
const GAP = /^(?:['’`´.\-_ \t]|\s?\r?\n[ \t>]?|, ?|\. ){0,3}$/;
/**
 * Maximum number of distinct first words that are searched for one by one, which is faster than checking every word.
 */
const FEW = 64;

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
  const names: Names = { phrases: new Map(), known: new Map(), patterns: [] };
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
  return { finder: (text) => findPeople(text, names), ownerOf: (email) => owners.get(email) };
}

/**
 * Returns the key of an announced name: that of the known person with this name or a part of it, otherwise a new one.
 */
function announcedKey({ known }: Names, name: string): string {
  const words = phrasesOf(name);
  return words.map((each) => known.get(each.join(' '))).find((key) => key !== undefined) ?? `person ${name}`;
}

function addName({ phrases, known, patterns }: Names, name: string, key: string, isAnnounced: boolean): void {
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
          : isWordToo(first) || first.length < 3
            ? 'place'
            : isAnnounced
              ? 'capital'
              : 'nothing';
      const phrase: Phrase = { words, key, needs };
      const same = phrases.get(first) ?? { byWords: new Map(), longest: 0 };
      same.byWords.set(id, phrase);
      same.longest = Math.max(same.longest, words.length);
      phrases.set(first, same);
    }
  }
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

function findPeople(text: string, { phrases, patterns }: Names): readonly PrivateValue[] {
  const cjk = hasCjk(text) ? findCjk(text, patterns) : [];
  if (phrases.size === 0) {
    return cjk;
  }
  const folded = fold(text);
  const found: PrivateValue[] = [...cjk];
  let done = 0;
  for (const { start, word } of startsOf(folded.text, phrases)) {
    if (start < done) {
      continue;
    }
    const longest = longestAt(folded.text, start, word, phrases.get(word));
    if (longest !== null && isUsedAsName(longest.phrase, text, folded.from(start), folded.to(longest.end))) {
      found.push({
        type: 'person',
        label: 'PERSON',
        key: longest.phrase.key,
        start: folded.from(start),
        end: folded.to(longest.end),
      });
      done = longest.end;
    }
  }
  return found;
}

function findCjk(text: string, patterns: Names['patterns']): readonly PrivateValue[] {
  const known = patterns.flatMap(({ pattern, key }) =>
    [...text.matchAll(pattern)]
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
  const inContext = namesInContext(text).map(
    ({ name, start, end }): PrivateValue => ({ type: 'person', label: 'PERSON', key: `person ${name}`, start, end }),
  );
  return [...known, ...inContext];
}

const WORD = /[\p{L}\p{N}]+/gu;
const LETTER = /[\p{L}\p{N}]/u;

interface Start {
  readonly start: number;
  readonly word: string;
}

/** Yields the positions of the first words as whole words, in order. */
function startsOf(text: string, phrases: ReadonlyMap<string, unknown>): readonly Start[] {
  if (phrases.size > FEW) {
    return [...text.matchAll(WORD)]
      .filter(([word]) => phrases.has(word))
      .map(({ index, 0: word }) => ({ start: index, word }));
  }
  const starts: Start[] = [];
  for (const word of phrases.keys()) {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      if (!isLetter(text, at - 1) && !isLetter(text, at + word.length)) {
        starts.push({ start: at, word });
      }
    }
  }
  return starts.sort((a, b) => a.start - b.start);
}

function isLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (!(code >= 0xd800 && code < 0xe000)) {
    return code >= 0 && LETTER.test(text[at] as string);
  }
  const from = code >= 0xdc00 ? at - 1 : at;
  return LETTER.test(String.fromCodePoint(text.codePointAt(from) ?? 0));
}

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
  while (isLetter(text, end)) {
    end += 1;
  }
  return end;
}

/** Returns the distance to the next word if it is small enough within a name. */
function gapAt(text: string, from: number): number {
  let gap = 0;
  while (gap < 8 && from + gap < text.length && !isLetter(text, from + gap)) {
    gap += 1;
  }
  return gap;
}
