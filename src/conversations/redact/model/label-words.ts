/** Reads the words before a position in a text, to recognize a label such as "date of birth:". */
import { isAscii } from './fold.ts';
import { endsPlaceholder } from './placeholder.ts';
import { bitOf } from './reading.ts';

/** Words of labels, lower case: `date of birth`, `生年月日`. */
export interface Labels {
  /** Whole labels in scripts with spaces between words. */
  readonly phrases: ReadonlySet<string>;
  /** Labels in scripts without spaces: characters that end in one form a label. */
  readonly glyphs: ReadonlySet<string>;
  /** Last words of all phrases, for a quick test that excludes most words. */
  readonly lastWords: ReadonlySet<string>;
  /** Bit of the readings of texts with such a word. */
  readonly bit: number;
}

/** Longest label, in words and in characters of a script without spaces. */
const WORDS = 5;
const GLYPHS = 20;
/** Longest distance from a label to its value, in characters. */
const REACH = 64;

/** Maximum number of punctuation characters and spaces between a label and its value. */
const SIGNS = 40;

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Thai}\p{Script=Hangul}]/u;

/** Parses a list of labels, separated by `|`; accents are ignored. */
export function labelsFrom(list: string): Labels {
  const all = list
    .split('|')
    .map((label) => plainWord(label.trim()))
    .filter((label) => label !== '');
  const phrases = all.filter((label) => !UNSPACED.test(label) || label.includes(' '));
  const glyphs = all.filter((label) => UNSPACED.test(label)).map((label) => label.replaceAll(' ', ''));
  const bare = phrases.map((phrase) => phrase.split(/[^\p{L}\p{M}\p{N}]+/u).findLast((word) => word !== '') ?? '');
  return {
    phrases: new Set(phrases),
    glyphs: new Set(glyphs),
    lastWords: new Set([...bare, ...phrases.map((phrase) => phrase.slice(phrase.lastIndexOf(' ') + 1))]),
    bit: bitOf([...bare, ...glyphs]),
  };
}

function plainWord(word: string): string {
  const lower = word.toLowerCase().replaceAll('’', "'");
  // Decomposed Hangul would be different characters; only Latin, Greek and Cyrillic have accents that people omit.
  return isAscii(lower)
    ? lower
    : lower
        .normalize('NFD')
        .replaceAll(/[\u0300-\u036f]/g, '')
        .normalize('NFC');
}

/** Words between a label and its value: forms of "is" and of "number". */
const FILLERS = new Set(
  (
    'is are was the my our your his her number numbers no nr num n nº nummer numero numeros numer numeru numéro num\u00b0 code id # ' +
    'ist lautet est es sono e er ar ar on jest je este sa si som to ne bir new current now jetzt following follows as at in of on the der die das den dem le el il lo pe am um om den det ' +
    'номер номера № это є είναι αριθμος هو رقم הוא מספר है नंबर là số adalah nomor numarasi numarası 号 号码 號碼 番号 번호'
  )
    .split(' ')
    .map(plainWord),
);
const GLYPH_FILLER = /(?:号码|號碼|番号|번호|号|號|[はがもの은는이가]|是|为|為|คือ)$/u;

/**
 * Returns the label before a position, as written in the list, or null. Punctuation (`: " | **`) and a few words such
 * as "is" and "number" may be in between.
 */
export function labelBefore(text: string, at: number, labels: Labels): string | null {
  if (!mayEndLabel(text, at, labels.lastWords)) {
    return null;
  }
  let words = nearWords(text, at);
  while (words.length > 0) {
    const found = longest(words, labels);
    if (found !== null) {
      return found;
    }
    const word = words.at(-1) as string;
    if (!FILLERS.has(word) && !/^\d$/.test(word)) {
      return null;
    }
    words = words.slice(0, -1);
  }
  return null;
}

/** Reports whether the heading of a column is a label: `date_of_birth`, `Geburtsdatum`. */
export function isHeading(heading: string, labels: Labels): boolean {
  return labelBefore(`${heading}:`, heading.length + 1, labels) !== null;
}

/** Returns the folded words of the line before a position, nearest last; none unless the nearest one is in `last`. */
export function phraseBefore(text: string, at: number, last: ReadonlySet<string>): readonly string[] {
  return mayEndLabel(text, at, last) ? nearWords(text, at) : [];
}

/**
 * Tests quickly whether the word before a position may end a label. Words with non-ASCII letters or inner capitals may.
 */
export function mayEndLabel(text: string, at: number, lastWords: ReadonlySet<string>): boolean {
  const end = endOfWord(text, at);
  if (end < 0) {
    return false;
  }
  let start = end;
  let capitals = 0;
  while (start > 0 && end - start < MAX_WORD_LENGTH) {
    const code = text.charCodeAt(start - 1);
    if (code > 127 || code === CLOSING_TAG) {
      return true;
    }
    if (!isAsciiLetter(code)) {
      break;
    }
    capitals += code < 97 ? 1 : 0;
    start -= 1;
  }
  const word = text.slice(start, end).toLowerCase();
  return (
    lastWords.has(word) || FILLERS.has(word) || (capitals > 0 && capitals < word.length && text.charCodeAt(start) > 90)
  );
}

const MAX_WORD_LENGTH = 24;
const CLOSING_BRACKET = ']'.charCodeAt(0);
const CLOSING_TAG = '<'.charCodeAt(0);

function isAsciiLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

/**
 * Returns the end of the word before a position, across punctuation and spaces but not across a number; -1 if none is
 * near.
 */
function endOfWord(text: string, at: number): number {
  let inTag = false;
  let nearest = at;
  for (let index = at - 1; index >= Math.max(0, at - REACH) && index > nearest - SIGNS; index -= 1) {
    const code = text.charCodeAt(index);
    if (code === CLOSING_BRACKET && endsPlaceholder(text, index + 1)) {
      return -1;
    }
    if (inTag || code === 62 || code === 41) {
      // The content of a tag or of brackets in between does not count.
      inTag = !(code === 60 || code === 40 || code === 10);
      continue;
    }
    if (code >= 48 && code <= 57) {
      // "Phone 2: …", but not a number before a number.
      const before = text.charCodeAt(index - 1);
      if ((before >= 48 && before <= 57) || before === 46 || before === 45) {
        return -1;
      }
      nearest = index;
    } else if (code > 127 || isAsciiLetter(code)) {
      return index + 1;
    }
  }
  return -1;
}

function longest(words: readonly string[], { phrases, glyphs, lastWords }: Labels): string | null {
  const last = words.at(-1) ?? '';
  if (!lastWords.has(last)) {
    return glyphs.size === 0 ? null : glyphEnd(last, glyphs);
  }
  for (let count = Math.min(WORDS, words.length); count > 0; count -= 1) {
    const phrase = words.slice(-count).join(' ');
    if (phrases.has(phrase)) {
      return phrase;
    }
  }
  return null;
}

function glyphEnd(word: string, glyphs: ReadonlySet<string>): string | null {
  if (word.charCodeAt(word.length - 1) < 0x300 || !UNSPACED.test(word)) {
    return null;
  }
  for (let rest = word; rest !== ''; ) {
    for (let length = Math.min(GLYPHS, rest.length); length > 0; length -= 1) {
      const end = rest.slice(-length);
      if (glyphs.has(end)) {
        return end;
      }
    }
    const shorter = rest.replace(GLYPH_FILLER, '');
    if (shorter === rest) {
      return null;
    }
    rest = shorter;
  }
  return null;
}

const WORD = /[\p{L}\p{M}\p{N}№#º°]+(?:['’´.][\p{L}\p{M}\p{N}]+)*/gu;

/** Tags around a label, and hints in brackets: `<b>DOB</b> (DD/MM/YYYY)`. */
const ASIDE = /<\/?[a-z]{1,8}(?: [^<>]{0,20})?>|\([^()]{0,24}\)|（[^（）]{0,24}）/gi;

/** Words before positions of the last long text: several finders read the same ones in turn. */
const last = { text: '', words: new Map<number, readonly string[]>() };

/** Returns the words of the line before a position. */
function nearWords(text: string, at: number): readonly string[] {
  if (text.length <= REACH) {
    return wordsBefore(text.slice(0, at));
  }
  if (last.text !== text) {
    last.words.clear();
  }
  // Equal texts are compared in full until they are the same one.
  last.text = text;
  const words = last.words.get(at) ?? wordsBefore(text.slice(Math.max(0, at - REACH), at));
  last.words.set(at, words);
  return words;
}

/** Returns the folded words after the last end of a phrase; `dateOfBirth` and `date_of_birth` are three words. */
function wordsBefore(before: string): readonly string[] {
  const line = before.slice(lastBreak(before) + 1);
  const plain = line.replaceAll(ASIDE, ' ').replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2');
  return (plain.match(WORD) ?? []).slice(-WORDS - 4).map((word) => plainWord(word));
}

const BREAKS = new Set([...'\n;,{}!?。、，'].map((sign) => sign.charCodeAt(0)));

/**
 * Returns the end of the last sentence, cell or bracket before the value, ignoring the separator between label and
 * value.
 */
function lastBreak(before: string): number {
  // The line before may be the label of this one.
  let index = before.trimEnd().length - 1;
  while (index >= 0 && !BREAKS.has(before.charCodeAt(index)) && !endsPlaceholder(before, index + 1)) {
    index -= 1;
  }
  return index;
}
