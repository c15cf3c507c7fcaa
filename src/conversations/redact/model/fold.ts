/** Folds a text for comparison with words and names: lower case, without accents, with one spelling per character. */
/** A folded text, and the mapping of its spans to the original text. */
export interface Folded {
  readonly text: string;
  place(start: number, end: number): { readonly start: number; readonly end: number };
}

/** A character with its combining marks, conjoining jamo, half-width kana with their voicing marks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
const CLUSTER = /[\u1100-\u11ff]{1,64}|[\uff61-\uff9f]{1,64}|[^\x00-\x7f]\p{M}{0,16}/uy;

function clusterAt(text: string, at: number): string {
  const next = text.charCodeAt(at + 1);
  if (next < 128 || Number.isNaN(next)) {
    return text.charAt(at);
  }
  CLUSTER.lastIndex = at;
  return CLUSTER.exec(text)?.[0] ?? text.charAt(at);
}

/** Accents, Hebrew points, Arabic vowel signs and the Arabic elongation mark. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0640\u0670]/g;
/** Letters that do not decompose into a base letter and a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ə: 'e',
  ς: 'σ',
  ك: 'ک',
  ي: 'ی',
  ى: 'ی',
  '’': "'",
  '‘': "'",
  ʻ: "'",
};

/** Cyrillic and Greek letters that look like a Latin letter, and count as that letter next to Latin letters. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  а: 'a',
  в: 'b',
  с: 'c',
  ԁ: 'd',
  е: 'e',
  һ: 'h',
  і: 'i',
  ј: 'j',
  к: 'k',
  м: 'm',
  о: 'o',
  ο: 'o',
  р: 'p',
  ѕ: 's',
  т: 't',
  ѵ: 'v',
  ѡ: 'w',
  ԝ: 'w',
  х: 'x',
  у: 'y',
};

/** The last long text that was folded: several finders fold the same one in turn. */
let last: { readonly text: string; readonly folded: Folded } | undefined;

/** Folds a text. An ASCII text keeps its length, so positions are the same. */
export function fold(text: string): Folded {
  if (text.length < 64) {
    return folded(text);
  }
  if (last?.text !== text) {
    last = { text, folded: folded(text) };
  }
  return last.folded;
}

function folded(text: string): Folded {
  if (isAscii(text)) {
    return { text: text.toLowerCase(), place: (start, end) => ({ start, end }) };
  }
  const pieces: string[] = [];
  // Ends of clusters whose length changes: in the folded text, and in the text.
  const shifts: Shift[] = [];
  let from = 0;
  let length = 0;
  for (let at = 0; at < text.length; ) {
    if (text.charCodeAt(at) < 128) {
      at += 1;
      continue;
    }
    const cluster = clusterAt(text, at);
    const end = at + cluster.length;
    const plain = foldCluster(cluster, isLatin(text, at - 1) || isLatin(text, end));
    if (plain !== cluster) {
      pieces.push(text.slice(from, at).toLowerCase(), plain);
      length += at - from;
      if (plain.length !== cluster.length) {
        shifts.push({ start: length, end: length + plain.length, from: at, to: end });
      }
      length += plain.length;
      from = end;
    }
    at = end;
  }
  pieces.push(text.slice(from).toLowerCase());
  return {
    text: pieces.join(''),
    place: (start, end) => ({
      start: originOf(shifts, start).start,
      end: end > start ? originOf(shifts, end - 1).end : originOf(shifts, start).start,
    }),
  };
}

/** A cluster whose length changes: from `start` to `end` in the folded text, from `from` to `to` in the original. */
interface Shift {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** Returns the span of the original text for one unit of the folded text. */
function originOf(shifts: readonly Shift[], at: number): { readonly start: number; readonly end: number } {
  let low = 0;
  let high = shifts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shifts[middle]?.start ?? 0) <= at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const shift = shifts[low - 1];
  if (shift === undefined) {
    return { start: at, end: at + 1 };
  }
  if (at < shift.end) {
    return { start: shift.from, end: shift.to };
  }
  const origin = shift.to + at - shift.end;
  return { start: origin, end: origin + 1 };
}

/** Reports whether a text has only ASCII characters. */
export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) > 127) {
      return false;
    }
  }
  return true;
}

/** Reports whether there is a letter of ASCII at a position. */
function isLatin(text: string, at: number): boolean {
  const lower = text.charCodeAt(at) | 32;
  return lower >= 97 && lower <= 122;
}

function foldCluster(cluster: string, isBesideLatin: boolean): string {
  if (cluster.length === 1 && isPlain(cluster.charCodeAt(0))) {
    return cluster;
  }
  const plain = known.get(cluster) ?? remember(cluster);
  return (isBesideLatin ? LOOKALIKES[plain] : undefined) ?? LETTERS[plain] ?? plain;
}

/** Clusters without case and accents. No more are added when it is full: a text can have any number of them. */
const known = new Map<string, string>();
const REMEMBERED = 4096;

function remember(cluster: string): string {
  const plain = cluster.normalize('NFKD').replaceAll(MARKS, '').normalize('NFC').toLowerCase();
  if (known.size < REMEMBERED) {
    known.set(cluster, plain);
  }
  return plain;
}

/** Reports whether a non-ASCII character needs no folding: dashes, quotation marks, ideographs, composed syllables. */
function isPlain(unit: number): boolean {
  return (
    (unit >= 0x2010 && unit <= 0x2027 && unit !== 0x2018 && unit !== 0x2019) ||
    (unit >= 0x4e00 && unit <= 0x9fff) ||
    (unit >= 0xac00 && unit <= 0xd7a3) ||
    (unit >= 0x3041 && unit <= 0x30fa)
  );
}
