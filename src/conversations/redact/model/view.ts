/** A text as displayed, and the position of each character in the text as written. */
import { matchesIn } from './matches.ts';
export interface View {
  readonly text: string;
  /** Converts a span of the displayed text to one of the written text. */
  place(start: number, end: number): { readonly start: number; readonly end: number };
}

/** Quick test for text that may be displayed differently than written; most texts do not match. */
const DISGUISE = /[&%\u0080-\uffff]|=\r?\n|\\[uxnt_.@+-]|<(?:wbr|!--|br)|>[@.]</i;

/**
 * Escaped and disguised characters: entities (`&#64;`, also escaped twice), percent-encoded ASCII (`%40`, `%2540`),
 * escapes of JSON and JavaScript (`\u0040`, `\x40`), escaped punctuation of Markdown (`\.`), line ends and tabs of JSON
 * and HTML (`
 * `, `<br>`, `\t`), optional line breaks and empty comments of HTML, invisible characters, soft line ends of
 * quoted-printable, and characters that look like an ASCII character. Each represents at most one character. The
 * padding of base64 at the end of a line is not a soft line end: it is `==`, or a header follows.
 */
const ESCAPES =
  /&(?:amp;){0,4}(?:#0{0,4}(\d{2,6})|#[xX]0{0,4}([0-9a-fA-F]{1,5})|([A-Za-z]{2,10}));|%(?:25){0,4}([2-7][0-9a-fA-F])|\\{1,4}(?:u00|u\{|x)([2-7][0-9a-fA-F])\}?|\\{1,4}([_.@+-])|(\\{1,4}t|\\{1,4}(?:r\\{1,4})?n|<br ?\/?>(?:\r?\n)?)|<(?:span|b|i|em|strong)(?: [^<>\n]{0,40})?>([@.])<\/(?:span|b|i|em|strong)>|<wbr ?\/?>|<!--[^>\n]{0,20}-->|(?<!=)=\r?\n(?![A-Za-z][A-Za-z0-9-]{1,40}:[ \t])/u;
const BEYOND = '[\\u{1d400}-\\u{1d7ff}\\u{1f100}-\\u{1f1ff}\\u{e0000}-\\u{e01ef}]';

const NAMED: Readonly<Record<string, string>> = {
  commat: '@',
  period: '.',
  lowbar: '_',
  UnderBar: '_',
  dash: '-',
  hyphen: '-',
  plus: '+',
  nbsp: ' ',
  colon: ':',
  equals: '=',
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  sol: '/',
  num: '#',
  lpar: '(',
  rpar: ')',
  lsqb: '[',
  rsqb: ']',
  shy: '',
  zwj: '',
  zwnj: '',
};

/** Invisible characters: zero-width characters, soft hyphens, marks of direction, variation selectors. */
const INVISIBLE =
  /^(?:<.*|\u034f|\u200d|[\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]|[\u115f\u1160]|[\u17b4\u17b5]|[\u180b-\u180d]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e01ef}])$/u;
/**
 * Code points of zeros whose digits NFKC keeps: Arabic, Persian, Devanagari, Bengali, Gurmukhi, Gujarati, Tamil, Thai,
 * Lao, Myanmar, Khmer.
 */
const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xbe6, 0xe50, 0xed0, 0x1040, 0x17e0];
const HYPHENS = /^[\u2010-\u2013\u2212\ufe58\ufe63\uff0d]$/;

/** Decodes a text as it is displayed, so that values in another spelling are found and redacted in the written text. */
export function viewOf(written: string): View {
  const matches = DISGUISE.test(written) ? matchesIn(written, pieces()) : [];
  if (matches.length === 0) {
    return { text: written, place: (start, end) => ({ start, end }) };
  }
  const starts: number[] = [];
  const ends: number[] = [];
  let text = '';
  let from = 0;
  const take = (seen: string, start: number, end: number) => {
    for (const _unit of seen.split('')) {
      starts.push(start);
      ends.push(end);
    }
    text += seen;
  };
  const takePlain = (end: number) => {
    for (let index = from; index < end; index += 1) {
      starts.push(index);
      ends.push(index + 1);
    }
    text += written.slice(from, end);
  };
  for (const match of matches) {
    takePlain(match.index);
    from = match.index + match[0].length;
    take(seenOf(match), match.index, from);
  }
  takePlain(written.length);
  return {
    text,
    place: (start, end) => ({ start: starts[start] ?? written.length, end: ends[end - 1] ?? written.length }),
  };
}

let known: RegExp | undefined;

/** Returns the pattern of escapes and lookalike characters. Built from `plainest` on first use, in about 20 ms. */
function pieces(): RegExp {
  known ??= new RegExp(`${ESCAPES.source}|[${lookalikes()}]|${BEYOND}`, 'gu');
  return known;
}

/** Returns the characters of the Basic Multilingual Plane that `plainest` changes, as a character class. */
function lookalikes(): string {
  const hex = (point: number) => `\\u${point.toString(16).padStart(4, '0')}`;
  const ranges: string[] = [];
  for (let point = 0x80, first = -1; point <= 0x10000; point += 1) {
    const character = String.fromCodePoint(point);
    // Surrogates and U+10000 do not change.
    const changes = !isIdeograph(point) && plainest(character) !== character;
    if (changes && first < 0) {
      first = point;
    } else if (!changes && first >= 0) {
      ranges.push(`${hex(first)}-${hex(point - 1)}`);
      first = -1;
    }
  }
  return ranges.join('');
}

/** Reports whether a character is in a large block of ideographs, syllables or private use, which has no lookalikes. */
function isIdeograph(point: number): boolean {
  return (point >= 0x3400 && point < 0xa000) || (point >= 0xac00 && point < 0xf900);
}

function seenOf([piece, decimal, hex, name, percent, byEscape, escaped, lineEnd, tagged]:
  | RegExpExecArray
  | RegExpMatchArray): string {
  const code = decimal ?? hex ?? percent ?? byEscape;
  if (code !== undefined) {
    const point = Number.parseInt(code, decimal === undefined ? 16 : 10);
    const isCharacter = point > 31 && point < 0x110000 && !(point >= 0xd800 && point < 0xe000);
    return isCharacter ? plainest(String.fromCodePoint(point)) : (piece as string);
  }
  if (lineEnd !== undefined) {
    return lineEnd.endsWith('t') ? '\t' : '\n';
  }
  if (escaped !== undefined || tagged !== undefined) {
    return escaped ?? (tagged as string);
  }
  if (name !== undefined) {
    return NAMED[name] ?? (piece as string);
  }
  return (piece as string).startsWith('=') ? '' : plainest(piece as string);
}

/** Returns the ASCII character that a character looks like, an empty text for invisible ones, or the character itself. */
function plainest(character: string): string {
  if (INVISIBLE.test(character)) {
    return '';
  }
  if (HYPHENS.test(character)) {
    return '-';
  }
  const point = character.codePointAt(0) ?? 0;
  for (const zero of ZEROS) {
    if (point >= zero && point < zero + 10) {
      return String(point - zero);
    }
  }
  const plain = character.normalize('NFKC');
  return plain.length === 1 && plain < '\u0080' ? plain : character;
}
