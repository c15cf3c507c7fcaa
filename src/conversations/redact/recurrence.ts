/** Finds values again that were found once in a conversation, wherever they recur and without what announced them. */
import { findDigitRuns, sequencesFrom } from './model/digits.ts';
import { type PrivateValue, replaceSpans } from './model/found.ts';
import { matchesIn } from './model/matches.ts';
import { placesOf, type Reading } from './model/reading.ts';

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Longest text between two words of a value that recurs, and most words of a value. */
const GAP = 4;
const MAX_WORDS = 24;
/** Fewest digits of a number that is removed in any notation, and most. */
const MIN_DIGITS = 6;
const MAX_DIGITS = 34;
/** Different lengths of values with one first word that are tried. */
const MAX_LENGTHS = 16;
const NUMBERS: ReadonlySet<string> = new Set(['phone', 'card', 'ssn', 'national_id', 'iban', 'birthdate']);

/** Types that are found by what announces them; the others have a format that is found everywhere. */
const ANNOUNCED: ReadonlySet<string> = new Set([...NUMBERS, 'secret', 'address', 'person']);

/** A value as it was found, with its text as displayed. */
export interface KnownValue {
  readonly found: PrivateValue;
  readonly text: string;
}

/** Finds values in a text. `found`: what is removed from it already, by position. */
export type RecurrenceFinder = (reading: Reading, found: readonly PrivateValue[]) => readonly PrivateValue[];

/**
 * Creates a finder for values that were found. They recur as whole words, in any case and with other signs between their
 * words; numbers of at least six digits with any separators. Values that could be words of prose are left out. Takes
 * linear time in the text and the values.
 */
export function recurrenceFinder(known: readonly KnownValue[]): RecurrenceFinder | null {
  const byWords = new Map<string, KnownValue>();
  const lengths = new Map<string, Set<number>>();
  const byDigits = new Map<string, KnownValue>();
  for (const each of known.filter(({ found: { type } }) => ANNOUNCED.has(type)).flatMap(partsOf)) {
    const words = wordsOf(each.text);
    const digits = NUMBERS.has(each.found.type) ? each.text.replaceAll(/\D/g, '') : '';
    if (digits.length >= MIN_DIGITS && !/\p{L}/u.test(each.text)) {
      byDigits.set(digits, each);
    }
    if (words.length <= MAX_WORDS && isDistinctive(each, words.length)) {
      const id = words.join(' ');
      const first = words[0] as string;
      byWords.set(id, byWords.get(id) ?? each);
      lengths.set(first, (lengths.get(first) ?? new Set()).add(words.length));
    }
  }
  return byWords.size + byDigits.size === 0
    ? null
    : (reading, removed) => {
        const rest = restOf(reading, removed);
        const found = [
          ...(placesOf(rest, lengths).length > 0 ? inWords(reading.text, byWords, lengths) : []),
          ...(byDigits.size > 0 && /\d/.test(rest) ? inDigits(reading, byDigits) : []),
        ];
        return found.map((each) => ({ ...each, ...reading.place(each.start, each.end) }));
      };
}

/** Returns what is left of a text without values, in lower case; the whole text if it is displayed differently. */
function restOf({ written, text }: Reading, removed: readonly PrivateValue[]): string {
  return (written === text ? replaceSpans(text, removed, () => '\n') : text).toLowerCase();
}

/** Returns a value and, of the user and password of a URL, the password. */
function partsOf({ found, text }: KnownValue): readonly KnownValue[] {
  const password = found.type === 'secret' ? text.slice(text.indexOf(':') + 1) : text;
  return password === text || password.includes(' ')
    ? [{ found, text }]
    : [
        { found, text },
        { found, text: password },
      ];
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

/** Reports whether a value is removed where it recurs: it must not be a word of prose or a short number. */
function isDistinctive({ found: { type }, text }: KnownValue, words: number): boolean {
  const bare = text.replaceAll(/[^\p{L}\p{N}]/gu, '');
  const hasDigit = /\d/.test(bare);
  const isMixed = hasDigit && /\p{L}/u.test(bare);
  switch (type) {
    case 'person':
      return words > 1 && bare.length >= 5;
    case 'address':
      return words > 1 && bare.length >= 8 && (hasDigit || words > 2);
    case 'secret':
      return (isMixed && bare.length >= 6) || (bare.length >= 8 && !/^\d{7}$|^\p{Lu}?\p{Ll}{0,15}$/u.test(text));
    case 'birthdate':
      return words > 1 && bare.length >= 6;
    default:
      return hasDigit && bare.length >= 6;
  }
}

function inWords(
  text: string,
  byWords: ReadonlyMap<string, KnownValue>,
  lengths: ReadonlyMap<string, ReadonlySet<number>>,
): readonly PrivateValue[] {
  const found: PrivateValue[] = [];
  let done = 0;
  for (const { index, 0: word } of byWords.size === 0 ? [] : matchesIn(text, WORD)) {
    const counts = index < done ? undefined : lengths.get(word.toLowerCase());
    if (counts !== undefined) {
      const near = wordsFrom(text, index, MAX_WORDS);
      const fitting = [...counts].filter((count) => count <= near.length).sort((a, b) => b - a);
      for (const count of fitting.slice(0, MAX_LENGTHS)) {
        const own = near.slice(0, count);
        const value = byWords.get(own.map(([each]) => each.toLowerCase()).join(' '));
        if (value !== undefined) {
          const last = own.at(-1) as RegExpExecArray;
          found.push(again(value, ...withSigns(text, index, last.index + last[0].length, value.text)));
          done = last.index + last[0].length;
          break;
        }
      }
    }
  }
  return found;
}

/** Returns the words from a position on that are close to each other, at most `count`. */
function wordsFrom(text: string, from: number, count: number): readonly RegExpExecArray[] {
  const near: RegExpExecArray[] = [];
  WORD.lastIndex = from;
  for (let end = from; near.length < count; ) {
    const match = WORD.exec(text);
    if (match === null || match.index - end > GAP) {
      break;
    }
    near.push(match);
    end = match.index + match[0].length;
  }
  return near;
}

/** Extends a span by the signs at the ends of the value that are also here: the `!` of a password. */
function withSigns(text: string, start: number, end: number, value: string): readonly [number, number] {
  const [before = ''] = /^[^\p{L}\p{N}]*/u.exec(value) ?? [];
  const [after = ''] = /[^\p{L}\p{M}\p{N}]*$/u.exec(value) ?? [];
  const from = text.endsWith(before, start) ? start - before.length : start;
  return [from, text.startsWith(after, end) ? end + after.length : end];
}

const SEPARATOR = { pattern: /^[ .()/+\u00a0-]{1,3}$/, longest: 3, known: new Map() };

function inDigits(reading: Reading, byDigits: ReadonlyMap<string, KnownValue>): readonly PrivateValue[] {
  const { text } = reading;
  const found: PrivateValue[] = [];
  for (const run of findDigitRuns(reading, SEPARATOR, MIN_DIGITS)) {
    for (let first = 0; first < run.groups.length; first += 1) {
      const match = sequencesFrom(text, run, first, MIN_DIGITS, MAX_DIGITS).find(
        ({ digits, start, end }) => byDigits.has(digits) && isApart(text, start, end),
      );
      if (match !== undefined) {
        found.push(again(byDigits.get(match.digits) as KnownValue, match.start, match.end));
        first = match.last;
      }
    }
  }
  return found;
}

function isApart(text: string, start: number, end: number): boolean {
  return (
    !/[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, start - 2), start)) &&
    !/^[\p{L}\p{N}]/u.test(text.slice(end, end + 2))
  );
}

function again({ found: { type, label, key } }: KnownValue, start: number, end: number): PrivateValue {
  return { type, label, key, start, end, rule: 'recurs in the conversation' };
}
