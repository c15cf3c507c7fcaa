/** Finds postal addresses by the label before them, on one line or on several, or by a phrase such as "I live at". */
import data from '../data/labels.json' with { type: 'json' };
import type { Finder, PrivateValue } from '../model/found.ts';
import { labelBefore, labelsFrom, phraseBefore } from '../model/label-words.ts';
import { matchesIn } from '../model/matches.ts';
import { bitOf, nearAfter, type Reading, startsOf } from '../model/reading.ts';
import { cellsUnder, isTechnicalTable } from '../model/table-columns.ts';
import { addressKey } from './street-addresses.ts';

/** Mark of an address: a number, or a word for a street, a square or a district. */
const PLACE =
  /[\p{L}].*\d|\d.*[\p{L}]|[省市区區县縣镇鎮乡鄉村街路巷弄号號楼樓室都道府県町丁目番地]|[시군구동읍면리로길]\s|(?:street|road|avenue|lane|straße|strasse|platz|weg|rue|avenida|calle|praça|piazza|via|ulica|улица|проспект)/iu;
/** Marks of text that is not an address: code, links, hexadecimal numbers, placeholders, machine-written text. */
const NO_PLACE =
  /[{}<>=;\\`$*]|:\/\/|0x[\da-f]|\(\)|^\W*\[|^\w+(?:\.\w+)+\(|^(?:family|mac|internal|scope_?id|cidr|netmask|port|protocol) ?:|^(?:true|false|null|none|undefined|string|text|object|required|optional|localhost)\b|^[\d.:]+$|^[\da-f:]{11,}$|@|^\S+\.\S+$|^\S+$(?<![\p{Script=Han}\p{Script=Hangul}\p{L}]\d.*|\d[\p{Script=Han}].*)/iu;
/** Punctuation and words between a label and its value. */
const SEPARATOR =
  /[:：=|\t\n]|<\/(?:th|td|dt|b|strong|label|span)>| (?:[-–—]|is|ist|lautet|est|es|é|è|er|är|on|jest|je|este|adalah|là)(?=[ :])|[は是为為은는]/g;
/** Longest distance from the start of a label to its sign, in characters. */
const LABEL_REACH = 100;
const MAX_LENGTH = 240;
/** Maximum number of lines of an address below its label. */
const LINES = 5;

/** Finds postal addresses by the label before them, up to the end of the line, the cell or the quotes. */
export const findAddresses: Finder = (reading) => {
  const { text, bits } = reading;
  const hasLabel = (bits & LABEL) !== 0;
  const mayFollow = nearAfter(reading, LABEL, LABEL_REACH);
  const found: PrivateValue[] = [];
  const add = ({ start, end }: Value) => {
    const key = addressKey(text.slice(start, end));
    found.push({ type: 'address', label: 'ADDRESS', rule: 'label of an address', start, end, key });
    return end;
  };
  let done = 0;
  for (const { index, 0: sign } of hasLabel ? matchesIn(text, SEPARATOR) : []) {
    const isOnLine = sign !== '\n';
    if (mayFollow(index) && index >= done && (isOnLine || isEndOfLabel(text, index)) && isAddressLabel(text, index)) {
      const value = valueAfter(text, isOnLine ? index + sign.length : index);
      done = value === null ? done : add(value);
    }
  }
  for (const { index } of (bits & LIVING_BIT) !== 0 && isLiving(reading) ? matchesIn(text, DIGITS) : []) {
    const phrase =
      index < done ? undefined : LIVING_BEFORE.exec(text.slice(Math.max(0, index - LIVING_REACH), index))?.[1];
    const value = phrase === undefined ? null : valueAfter(text, index - phrase.length);
    done = value === null ? done : add(value);
  }
  const cells = hasLabel
    ? cellsUnder(
        text,
        (heading, headings) => isAddressLabel(`${heading}:`, heading.length + 1) && !isTechnicalTable(headings),
      )
    : [];
  for (const { cell } of cells) {
    if (isPlace(cell.text)) {
      add(cell);
    }
  }
  return found;
};

function isPlace(text: string): boolean {
  return text.length >= 6 && PLACE.test(text) && !NO_PLACE.test(text);
}

const { address } = data;
const LABELS = labelsFrom(address.labels.join('|'));
/** Words for an address, and those at the end of its label, folded as labels are. */
const ADDRESS_WORDS = new Set(address.words.split(' '));
const LAST_WORDS = new Set([...LABELS.lastWords, ...ADDRESS_WORDS, ...address.lastWords.split(' ')]);
/** Words of the addresses of machines, programs and links, in any language. */
const TECHNICAL = new Set(address.technical.split(' '));
const NOT_POSTAL = new RegExp(
  `(?:^|[^\\p{L}])(?:${address.notPostal})(?:[ \\t_.-]{1,2}(?:of |de |d['’]|di |da )?(?:the )?\\p{L}{0,12}|addr\\p{L}*)$`,
  'iu',
);
/** Maximum number of words in a label with a word for an address. */
const PHRASE = 4;
/** Word for an address in Thai, which has no spaces between words; the label starts with it. */
const THAI = 'ที่อยู่';
const LABEL = LABELS.bit | bitOf([...ADDRESS_WORDS, THAI]);

/** Reports whether a label precedes: a few words, one of them for an address, as in `Adres do faktury`. */
function isAddressLabel(text: string, at: number): boolean {
  const all = phraseBefore(text, at, LAST_WORDS);
  const words = all.length > PHRASE ? afterColon(text, at, all) : all;
  if (
    words.length === 0 ||
    words.some((word) => TECHNICAL.has(word)) ||
    /(?<!\p{L})to address (?:the|this|these|those|an?|your|our)\s{0,2}$/iu.test(text.slice(Math.max(0, at - 24), at))
  ) {
    return false;
  }
  const isPostal =
    labelBefore(text, at, LABELS) !== null ||
    (words.length <= PHRASE && words.some((word) => ADDRESS_WORDS.has(word) || word.startsWith(THAI)));
  return isPostal && !NOT_POSTAL.test(text.slice(Math.max(0, at - 32), at).replace(/["'*_\s)\]]+$/, ''));
}

/** Returns the words after the name of the speaker: `Ana Smith: Billing address: …`. */
function afterColon(text: string, at: number, words: readonly string[]): readonly string[] {
  const pieces = text.slice(Math.max(0, at - 40), at).split(/[:：\]|] /);
  return words.slice(-Math.max(1, (pieces.at(-1) ?? '').trim().split(/\s+/).length));
}

/** Reports whether a whole line may be a label: it ends in a letter, ignoring markup. */
function isEndOfLabel(text: string, at: number): boolean {
  return /[\p{L}\p{M}][*_ \r]{0,4}$/u.test(text.slice(Math.max(0, at - 8), at));
}

const DIGITS = /(?<!\d)\d{1,5}(?!\d)/g;
/** Longest distance from the introducing phrase to the first number of an address, in characters. */
const LIVING_REACH = 64;
/** Phrases before an address. */
const LIVING =
  /(?:(?<![\p{L}])(?:live at|reside at|residing at|[Ss]hip(?: it)? to|[Dd]eliver(?: it)? to|[Ww]ohnhaft in|[Ii]ch wohne in|j['’]habite(?: au)?|demeurant(?: au)?|[Vv]ivo en|[Mm]oro na|[Rr]esidente in|[Aa]bito in|أسكن في|أعيش في|أقيم في|אני גר ב|אני גרה ב|mieszkam w|bydlím na|jag bor på|jeg bor på|jeg bor i|проживаю по адресу|ik woon op|asun osoitteessa|mieszkam przy|[Mm]ój adres to|[Aa]dresim|[Ss]end (?:it|them|this) to|(?:[Pp]ostal|[Hh]ome|[Mm]ailing|[Ss]hipping|[Bb]illing|[Dd]elivery|[Ss]treet) address)[ :：]{1,3}|(?:居住在|住在)[ :：]{0,2})/u;
/** The first words of these phrases. */
const LIVING_BIT = bitOf(
  "live reside residing ship deliver wohnhaft ich j'habite demeurant vivo moro residente abito أسكن أعيش أقيم אני mieszkam bydlím jag jeg проживаю ik asun mój adresim send postal home mailing shipping billing delivery street 在".split(
    ' ',
  ),
);
const LIVING_HERE = new RegExp(LIVING.source, 'uy');

function isLiving(reading: Reading): boolean {
  const { text } = reading;
  return (
    text.includes('住在') ||
    startsOf(reading, LIVING_BIT).some((start) => {
      LIVING_HERE.lastIndex = start;
      return LIVING_HERE.test(text);
    })
  );
}

/** A phrase, and the address up to its first number. */
const LIVING_BEFORE = new RegExp(`${LIVING.source}([^\\n\\d:：]{0,32})$`, 'u');

interface Value {
  readonly start: number;
  readonly end: number;
}

/** Characters between a label and its value: signs, quotes, tags, and one line end. */
const GAP =
  /(?:[ \t"'*_|:：`]|\\{1,3}["']|<\/?[a-z]{1,8}(?: [^<>\n]{0,80})?>){0,12}(?:\r?\n[ \t>]{0,8}(?:[*•–-] )?(?:<[a-z]{1,8}(?: [^<>\n]{0,80})?>)?)?["']?/uy;

function valueAfter(text: string, from: number): Value | null {
  GAP.lastIndex = from;
  const gap = GAP.exec(text)?.[0] ?? '';
  const start = from + gap.length;
  const stretch = text.slice(start, start + MAX_LENGTH);
  const first = stretch.slice(0, endOfFirst(stretch, gap));
  const isBelow = gap.includes('\n');
  if (isBelow && !isAddressLine(first)) {
    return null;
  }
  const value = stretch.slice(0, endOfContinuation(stretch, first.length, isBelow)).replace(/[\s.,"'*_\\]+$/, '');
  const plain = value.replaceAll(/\s*\n[ \t>]*/g, ' ');
  return isPlace(plain) ? { start, end: start + value.length } : null;
}

/** End of a line of prose or of a cell: a sentence, markup, another label. An abbreviation does not end a sentence. */
const LINE_END =
  /\r?\n|[|｜\t]|\\{0,3}["<>{}]|[;；]|\s{3,}|\s•\s|(?:(?<=[\p{L}\p{M}]{5}|\d[A-Z]{0,2})\.|[!?！？])\s+(?=\p{Lu}\p{Ll}+ \p{Ll})|[。！？]|(?:[,，]|\s{2})\s?(?=\p{L}[\p{L}.-]{1,20}\s?[:：])|\.\s(?!(?:No|Nr|Kat|Daire|Apt|Blok|Sok)\s?[:：])(?=\p{L}[\p{L}.-]{2,20}\s?[:：])/u;

function endOfFirst(stretch: string, gap: string): number {
  const quote = /["']$/.exec(gap)?.[0];
  const end = quote === undefined ? stretch.search(LINE_END) : stretch.search(/\\{0,3}["\n]|'(?!\p{L})/u);
  return end < 0 ? stretch.length : end;
}

/** Continuation line of an address: a postal code and a place, a suite, a city and its state. */
const CONTINUATION =
  /^(?:\p{L}{0,3}-?\d{3,7}[ -]\p{Lu}|(?:[Ss]uite|[Aa]pt|[Aa]partment|[Uu]nit|[Ff]loor|[Bb]uilding|[Cc]\/[Oo]|[Pp]\.?[Oo]\.? [Bb]ox|[Ee]tage|[Éé]tage|[Pp]iso|[Aa]pp?\.|кв|дом)(?![\p{L}])|\p{Lu}[\p{L}.' -]{1,30},? (?:[A-Z]{2}(?![\p{L}])|\p{Lu}{0,2}\d{3,6})|\p{Lu}[\p{L}.' -]{1,30}, \p{Lu}[\p{L}.' -]{1,30}$)/u;
const LINE = /\r?\n[ \t>]{0,8}([^\r\n<|"]{0,80})(?=(<\/[a-z]|["|])?)/uy;

/** Returns the end of the lines of an address. Below a label, every possible line belongs to it. */
function endOfContinuation(stretch: string, first: number, isBelow: boolean): number {
  let end = first;
  for (let line = 1; line < LINES; line += 1) {
    LINE.lastIndex = end;
    const next = LINE.exec(stretch);
    const text = next?.[1]?.replace(/\\+$/, '') ?? '';
    if (next === null || !isAddressLine(text) || !(CONTINUATION.test(text) || isBelow)) {
      break;
    }
    end = next.index + next[0].length;
    if (next[2] !== undefined) {
      break;
    }
  }
  return end;
}

/** Characters that no line of an address starts with or contains. */
const NO_LINE = /^(?:[-–*#•+·=~]|\d{1,2}[.)] |\[)|[:：@`{}<>=$|]|[.!?。！？]$(?<!\p{L}{1,4}\.)|:\/\//u;
/** Three words of a sentence in a row. */
const PROSE = /(?:^|\s)\p{Ll}[\p{Ll}\p{M}'’]+ \p{Ll}[\p{Ll}\p{M}'’]+ \p{Ll}[\p{Ll}\p{M}'’]+/u;

function isAddressLine(line: string): boolean {
  return line.trim().length > 1 && line.length <= 80 && !NO_LINE.test(line.trim()) && !PROSE.test(line);
}
