/** One reading of a text, which all finders share: its numbers, and the words that announce something in it. */
import { fold, isAscii } from './fold.ts';
import { matchesIn } from './matches.ts';
import { endOfPlaceholder } from './placeholder.ts';
import { type View, viewOf } from './view.ts';

/** A text as displayed, with what a single pass over it saw. */
export interface Reading extends View {
  readonly written: string;
  /** Bits of all words of the text; a finder whose bit is missing has nothing to find. See `bitOf`. */
  readonly bits: number;
  /** Words with a bit: start, end and bits of each, one after the other. */
  readonly words: readonly number[];
  /** Groups of ASCII digits, of at most 64 each: start and end, one after the other. */
  readonly digits: readonly number[];
}

/** Kinds of UTF-16 units. A word ends at half of a surrogate pair. */
const LETTER = 1;
const DIGIT = 2;
const KINDS = kindsOfUnits();

function kindsOfUnits(): Uint8Array {
  const kinds = new Uint8Array(0x10000);
  const units = Array.from({ length: 0x10000 }, (_, unit) => (isSurrogate(unit) ? ' ' : String.fromCharCode(unit)));
  for (const { index, 0: letters } of units.join('').matchAll(/[\p{L}\p{M}]+/gu)) {
    kinds.fill(LETTER, index, index + letters.length);
  }
  return kinds.fill(DIGIT, 48, 58);
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000;
}

/** Longest group of digits: a longer one is several. */
const LONGEST_GROUP = 64;
const BRACKET = '['.charCodeAt(0);
const APOSTROPHE = 39;
const CURLY_APOSTROPHE = 0x2019;

/** Reads a text once, in linear time. Placeholders are not read. */
export function readingOf(written: string): Reading {
  const { text, place } = viewOf(written);
  const words: number[] = [];
  const digits: number[] = [];
  let bits = always;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    const kind = KINDS[unit];
    const start = at;
    at += 1;
    if (kind === LETTER) {
      for (; at < text.length; at += 1) {
        const next = text.charCodeAt(at);
        if (KINDS[next] !== LETTER && next !== APOSTROPHE && next !== CURLY_APOSTROPHE) {
          break;
        }
      }
      const own = bitsOfWord(text.slice(start, at));
      if (own !== 0) {
        bits |= own;
        words.push(start, at, own);
      }
    } else if (kind === DIGIT) {
      while (at < text.length && at - start < LONGEST_GROUP && KINDS[text.charCodeAt(at)] === DIGIT) {
        at += 1;
      }
      digits.push(start, at);
    } else if (unit === BRACKET) {
      at = Math.max(at, endOfPlaceholder(text, start));
    }
  }
  return { written, text, place, bits, words, digits };
}

/** Returns the positions of words with a bit, also after an apostrophe: `l'utilisateur`. */
export function startsOf({ text, words }: Reading, bit: number): readonly number[] {
  const starts: number[] = [];
  for (let word = 0; word < words.length; word += 3) {
    if (((words[word + 2] as number) & bit) !== 0) {
      const start = words[word] as number;
      const end = words[word + 1] as number;
      starts.push(start);
      for (let at = start + 1; at < end - 1; at += 1) {
        if (KINDS[text.charCodeAt(at)] !== LETTER) {
          starts.push(at + 1);
        }
      }
    }
  }
  return starts;
}

/**
 * Returns a test whether a word with a bit starts before a position, within `reach` characters. The positions that are
 * asked for must ascend.
 */
export function nearAfter(reading: Reading, bit: number, reach: number): (at: number) => boolean {
  const starts = (reading.bits & bit) === 0 ? [] : startsOf(reading, bit);
  let next = 0;
  return (at) => {
    while (next < starts.length && (starts[next] as number) < at - reach) {
      next += 1;
    }
    return next < starts.length && (starts[next] as number) < at;
  };
}

/** A word at a position in a text. */
export interface WordPlace {
  readonly start: number;
  readonly word: string;
}

/** Maximum number of words that are searched for one by one, which is faster than checking every word. */
const FEW = 64;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** Returns where words of a list are in a text, by position. Text and words have the same case. */
export function placesOf(
  text: string,
  words: Pick<ReadonlySet<string>, 'size' | 'has' | 'keys'>,
): readonly WordPlace[] {
  if (words.size > FEW) {
    return matchesIn(text, WORD).flatMap(({ index, 0: word }) => (words.has(word) ? [{ start: index, word }] : []));
  }
  const places: WordPlace[] = [];
  for (const word of words.keys()) {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      if (!isWordAt(text, at - 1) && !isWordAt(text, at + word.length)) {
        places.push({ start: at, word });
      }
    }
  }
  return places.sort((a, b) => a.start - b.start);
}

/** Reports whether there is a letter, a mark or an ASCII digit at a position. */
export function isWordAt(text: string, at: number): boolean {
  return KINDS[text.charCodeAt(at)] !== 0 && at >= 0 && at < text.length;
}

/** Bits by folded word, by character of a script without spaces, and by pattern. Filled while the modules load. */
const byWord = new Map<string, number>();
const byGlyph = new Map<string, number>();
const byPattern: { readonly pattern: RegExp; readonly bit: number }[] = [];
let always = 0;
let given = 0;

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Thai}\p{Script=Hangul}]/u;
const LETTERS = /[\p{L}\p{M}]+/gu;

/**
 * Returns a bit that the reading of a text has if one of these words is in it: alone, or as a part of a longer word that
 * capitals, apostrophes or other signs separate. Accents do not count. Of a phrase, its first word decides. A word of a
 * script without spaces decides by its last character, which may be anywhere. `pattern` selects further words.
 */
export function bitOf(words: Iterable<string>, pattern?: RegExp): number {
  const bit = 1 << given;
  given += 1;
  for (const word of words) {
    const [first] = word.match(LETTERS) ?? [];
    if (first === undefined) {
      always |= bit;
    } else if (UNSPACED.test(first)) {
      const glyph = first.slice(-1);
      byGlyph.set(glyph, (byGlyph.get(glyph) ?? 0) | bit);
    } else {
      const folded = withoutAccents(first.toLowerCase());
      byWord.set(folded, (byWord.get(folded) ?? 0) | bit);
    }
  }
  if (pattern !== undefined) {
    byPattern.push({ pattern, bit });
  }
  return bit;
}

/** Removes accents of Latin, Greek and Cyrillic letters. */
function withoutAccents(word: string): string {
  return isAscii(word)
    ? word
    : word
        .normalize('NFD')
        .replaceAll(/[\u0300-\u036f]/g, '')
        .normalize('NFC');
}

/** Bits of words as written. Cleared when it is full: a text can have any number of words. */
const known = new Map<string, number>();
const REMEMBERED = 20_000;
const LONGEST_REMEMBERED = 40;

function bitsOfWord(word: string): number {
  const bits = known.get(word);
  if (bits !== undefined) {
    return bits;
  }
  const own = bitsOfNew(word);
  if (word.length <= LONGEST_REMEMBERED) {
    if (known.size >= REMEMBERED) {
      known.clear();
    }
    known.set(word, own);
  }
  return own;
}

/** Parts of a word that may be words: between apostrophes, before an inner capital, and its ASCII letters. */
const PARTS = /[^'’]+/g;
const CAMEL = /\p{Ll}\p{M}*(?=\p{Lu})/u;

function bitsOfNew(word: string): number {
  let bits = 0;
  for (const [part] of word.matchAll(PARTS)) {
    bits |= byWord.get(withoutAccents(part.toLowerCase())) ?? 0;
    for (const piece of CAMEL.test(part) ? part.split(/(?<=\p{Ll}\p{M}*)(?=\p{Lu})/u) : []) {
      bits |= byWord.get(withoutAccents(piece.toLowerCase())) ?? 0;
    }
    const folded = fold(part).text;
    bits |= byWord.get(folded) ?? 0;
    if (!isAscii(part)) {
      for (const [piece] of part.matchAll(/[A-Za-z]+/g)) {
        bits |= byWord.get(piece.toLowerCase()) ?? 0;
      }
      for (const letter of part) {
        bits |= byGlyph.get(letter) ?? 0;
      }
    }
    for (const { pattern, bit } of byPattern) {
      bits |= pattern.test(part) || pattern.test(folded) ? bit : 0;
    }
  }
  return bits;
}
