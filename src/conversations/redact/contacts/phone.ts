/** Finds phone numbers: of any country with a plus, and those of the configured regions by their notation and context. */

import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  Metadata,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { ConfigError } from '../../../core/errors.ts';
import { largest } from '../../../core/lists.ts';
import data from '../data/labels.json' with { type: 'json' };
import { type DigitSequence, findDigitRuns, sequencesFrom } from '../model/digits.ts';
import type { Finder } from '../model/found.ts';
import { labelBefore, labelsFrom } from '../model/label-words.ts';
import { ending, isBefore } from '../model/matches.ts';
import type { Reading } from '../model/reading.ts';

/** Numbers of digits: of any number (E.164, and a prefix for calls abroad), and of some kinds at least. */
const DIGITS = { fewest: 7, most: 17, labelled: 8, grouped: 9, trunk: 9, bare: 10 };
/** Maximum number of groups: national, with a plus, and of one digit, which are prefixes and area codes. */
const GROUPS = { national: 6, international: 9, trunk: 5, single: 3 };
/** Number of characters around a number that are read as its context. */
const CONTEXT = 40;
const AFTER = 24;

const SEPARATOR = {
  pattern:
    /^(?: {1,2}|[-./]| [-–/] | {0,2}[-.]? {0,2}\(0?\) {0,2}|\)(?:[-./ ]{0,2}| [-–/] )| ?[-–./]? ?\(|\s?\r?\n[ >]{0,4})$/,
  longest: 8,
  known: new Map(),
};
const EXTENSION =
  /^[ ,;]{0,2}[(]?(?:x|ext\.?|extn\.?|extension|#|durchwahl|dw\.?|app\.?|poste|int\.?|interno|anexo|ramal|toestel|wew\.?|доб\.?|вн\.?|dahili|內線|内線|分机|分機|내선)[ :.]{0,2}\d{1,6}\)?(?![\w-])/i;
/** Separator between two numbers of one person. */
const NEXT = /^ ?(?:\/|,|;|or|oder|ou|o|y|et|und|eller|или|або|veya|и|、|或) ?$/i;
/** A number that is removed already, and such a separator. */
const AFTER_PHONE = ending(new RegExp(`\\[PHONE_[1-9]\\d{0,6}\\]${NEXT.source.slice(1, -1)}`, 'i'));
const UNSPACED = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Hangul}]';
const AFTER_UNSPACED = ending(new RegExp(UNSPACED, 'u'));
/** Text before and after a number that makes it part of a word or of another number. */
const RUNS_INTO = ending(/[\p{L}\p{N}_$€£#@\\%+]|[\p{N}_][-.,/:]|(?:^|\s)[-.,]/u);
const RUNS_ON = new RegExp(`^(?!${UNSPACED})(?:[\\p{L}\\p{N}_%@]|\\\\(?![\\\\"'])|[-.:/][\\p{L}\\p{N}]|,\\p{N})`, 'u');

/** Words for a phone in many languages, and for other things that have a number. */
const PHONE = labelsFrom(data.phone.join('|'));
const OTHER_NUMBER = labelsFrom(data.otherNumber.join('|'));
/** English verbs and phrases before a number, and protocols. */
const PHONE_PHRASE = ending(
  /(?<![a-z])(?:call(?:ed|ing)?|phone|tel(?:efon|ephone)?|mobile?|mobil|cell|fax|whats ?app|sms|text(?:ed)?|ring|dial|hotline|contact|reach|handy|rufnummer|(?:my|our|new|the) n(?:umber|ummer|o)|t[eé]l[eé]phone|wa\.me\/|port\.\s?:)[^\d\n]{0,24}/i,
);
/** Words and signs before a number of another kind, units after it, and fields of code and records before it. */
const OTHER_BEFORE = ending(
  /(?:#|№|[$€£¥₩₹₽₺]\s?|(?<![a-z])(?:orders?|invoices?|tickets?|cases?|tracking|parcel|shipment|refs?|reference|ids?|uuid|sku|isbn|imei|serial|batch|parts?|model|transaction|txn|payment|account|acct|customer|receipt|policy|claim|po|build|version|commit|timestamp|epoch|unix|time|bytes?|size|offset|line|pid|port|zip|usd|eur|bestellung|bestellnummer|rechnung|\w{0,20}id|code|key|duration|amount|total|hash|trace|span|request)[ \t]{0,2}(?:number|no|nr|id|code|is|was|#)?\.?["']?[ \t]{0,2}[:=#.]{0,2}[ \t]{0,2}["'#]{0,2})/i,
);
const UNIT =
  /^\s?(?:%|°|[$€£¥₩₹₽₺]|(?:[kmgtp]i?b|bytes?|bits?|[mnµu]?s(?:ec(?:ond)?s?)?|min(?:ute)?s?|hours?|days?|px|r?em|pt|ms|rows?|records?|users?|requests?|items?|tokens?|lines?|chars?|characters?|times?|points?|views?|hits?|pieces|units?|km|cm|mm|kg|usd|eur|gbp|jpy|cny|inr|brl|krw|btc|eth|sats?|gwei|wei|sol|ada|xrp|ltc|doge|usdt|usdc|円|元|원|руб|aufrufe|zeilen|stück|mal)(?![\p{L}\p{N}]))/iu;
const CODE_BEFORE = ending(
  /(?:(?:[A-Za-z_]\w{0,40} ?=|[A-Za-z_]\w{0,40}["'] ?[:=]) ?["']?|[\w\])]\(|[[{<>=&|^!?;`]|[\w)\]] [*+/%&|^=<>-]{1,3} |\breturn |\bcase |0x[\da-f]{1,32}[ (]{1,2})/i,
);
const FIELD = ending(/(?:[A-Za-z_]\w{0,40} ?=|[A-Za-z_]\w{0,40}["'] ?[:=]) ?["']?/);
const CODE_AFTER = /^[\])}]? ?(?:[=<>*/%&|^]|[)\]];|\) ?[{=])/;
const TECHNICAL = /[=:{}<>\\/_`#[\]|$&;*+%"]|\d[\d.:-]{3}|\b(?:0x|id|ids|log|code|error|line|at)\b/i;
/** A line, a cell or an item starts, or ends; a clause ends. */
const LINE_START = ending(/(?:^|[\n\t|｜>]|(?:^|\n)[ \t]{0,8}(?:[-*•·–]|\d{1,2}[.)]))[ \t*_]{0,8}/);
const LINE_END = /^[*_]{0,3}[ \t]{0,8}[.,;]?[ \t]{0,2}(?:\r?\n|[\t|｜<]|$)/;
const CLAUSE_END = /^[\s.,;:!?)\]"'*_|]*(?:\n|$)|^[.,;:!?)\]]/;
/** Dates in any notation. */
const DATED =
  /(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])(?!\d)|(?<!\d)(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)\d\d(?!\d)/;
/** A Brazilian postal code, whose name is a word for a phone in Turkish. */
const POSTAL = /^\d{5}-\d{3}$/;
const POSTAL_BEFORE = ending(/(?<!\p{L})CEP[: ]{0,2}/iu);
/** Seconds since the epoch, the largest integers of 31 and 32 bits, round numbers, and equal or ascending digits. */
const NO_PHONE = /^1[4-9]\d{8}$|^(?:214748364[5-9]|429496729[3-7])$|0{6}$|^(.)\1+$|^0?123456789/;

/**
 * Creates a finder of phone numbers with the metadata of libphonenumber: numbers of any country with a plus, and those
 * of the configured regions without one. Throws ConfigError for an unknown region.
 */
export function phoneFinder(regions: readonly string[]): Finder {
  const countries = regions.map((region) => countryOf(region));
  return (reading) => {
    const { text } = reading;
    const found: ReturnType<Finder>[number][] = [];
    for (const run of findDigitRuns(reading, SEPARATOR, DIGITS.fewest)) {
      for (let first = 0; first < run.groups.length; first += 1) {
        for (const sequence of sequencesFrom(text, run, first, DIGITS.fewest, DIGITS.most)) {
          const place = placeOf(reading, sequence, found.at(-1)?.end ?? -1, countries);
          const key = place === null ? null : numberOf(text, sequence, place, countries);
          if (place !== null && key !== null) {
            const end = place.end + (EXTENSION.exec(place.after)?.[0].length ?? 0);
            const rule = place.isInternational ? 'phone number with +' : 'phone number';
            found.push({ type: 'phone', label: 'PHONE', rule, start: place.start, end, key });
            first = sequence.last;
            break;
          }
        }
      }
    }
    return found;
  };
}

/** The text is a number, and none has to be found in it. */
const WHOLE = { extract: false } as const;
/** Digits of a number with a prefix for calls abroad. */
const ABROAD = /^(?:00|011)([1-9]\d{6,14})$/;

interface Country {
  readonly code: CountryCode;
  /** True if numbers are dialed with a leading zero; a number without it is rarely a phone number. */
  readonly hasTrunkZero: boolean;
  /** Digits that can be a number of this country, with its prefix or calling code: a quick test that is not exact. */
  readonly mayBe: RegExp;
}

/** Metadata of a country that the library's types do not declare. */
interface NumberingPlan {
  nationalPrefix(): string | undefined;
  nationalNumberPattern(): string;
  nationalPrefixForParsing(): string | undefined;
}

function countryOf(region: string): Country {
  const code = getCountries().find((known) => known === region.toUpperCase());
  if (code === undefined) {
    throw new ConfigError(`no phone region ${JSON.stringify(region)}; two letters of ISO 3166, such as "US" or "DE"`);
  }
  const metadata = new Metadata();
  metadata.selectNumberingPlan(code);
  const plan = metadata.numberingPlan as unknown as NumberingPlan;
  const prefix = plan.nationalPrefix();
  const own = `(?:${getCountryCallingCode(code)}|${prefix ?? ''})?(?:${plan.nationalNumberPattern()})$`;
  // With a carrier code, or a mobile prefix between the area code and the number.
  const dialled = `(?=0\\d{10})(?:${plan.nationalPrefixForParsing() ?? '(?!)'})`;
  return { code, hasTrunkZero: prefix === '0', mayBe: new RegExp(`^(?:${own}|${dialled})`) };
}

/** A number with its plus and brackets, and the text around it. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly written: string;
  readonly before: string;
  readonly after: string;
  readonly isInternational: boolean;
  /** True if a noun for a phone precedes it; and if any words nearby mark it as a phone number. */
  readonly isLabelled: boolean;
  readonly isNearPhoneWord: boolean;
  /** True if it makes up a line, a cell of a table or an item; and between the separators of a record. */
  readonly isAlone: boolean;
  readonly isCell: boolean;
}

/** Returns the bounds of the whole number with its plus and brackets; null if it is part of something else. */
function placeOf(
  { text, bits }: Reading,
  { start: first, end, sizes, digits }: DigitSequence,
  lastEnd: number,
  countries: readonly Country[],
): Place | null {
  const signs = signsBefore(text, first);
  // A bracket around the whole number belongs to the sentence.
  const head = signs === '(' && !text.slice(first, end).includes(')') ? '' : signs;
  const isInternational = head.includes('+');
  const most = isInternational ? GROUPS.international : GROUPS.national;
  if (sizes.length > most || sizes.filter((size) => size === 1).length > GROUPS.single) {
    return null;
  }
  const start = first - head.length;
  const isLabelled =
    ((bits & PHONE.bit) !== 0 && labelBefore(text, start, PHONE) !== null) || isBefore(AFTER_PHONE, text, start);
  const isDialled = isInternational || ABROAD.test(digits) || countries.some(({ mayBe }) => mayBe.test(digits));
  if (!isDialled && !isLabelled && digits.length < DIGITS.bare) {
    return null;
  }
  const near = text.slice(Math.max(0, start - 2), start);
  const after = text.slice(end, end + AFTER);
  // A number with a plus or separators can be a cell of a record, between commas.
  const isRecord = isInternational && /\d[,;]$/.test(near);
  const isField =
    (isRecord || /[^\d\s][,;]$/.test(near)) && (head !== '' || sizes.length > 1) && /^,["']?\p{N}/u.test(after);
  const written = text.slice(start, end);
  if (
    (isBefore(RUNS_INTO, text, start) && !isBefore(AFTER_UNSPACED, text, start) && !isRecord) ||
    (RUNS_ON.test(after) && !EXTENSION.test(after) && !isField) ||
    isTwoNumbers(text.slice(first, end))
  ) {
    return null;
  }
  const isNext = lastEnd >= 0 && start - lastEnd < 6 && NEXT.test(text.slice(lastEnd, start));
  const isNearPhoneWord = isNext || isLabelled || isBefore(PHONE_PHRASE, text, start);
  // Among other numbers, or over two lines, it is part of a table of figures or a dump.
  const isFigure = () =>
    written.includes('\n') ||
    /\d[ \t]{1,2}$/.test(text.slice(Math.max(0, start - 3), start)) ||
    /^[ \t]{1,2}\d/.test(after);
  if (
    (POSTAL.test(written) && isBefore(POSTAL_BEFORE, text, start)) ||
    (!isInternational && !isNearPhoneWord && (isFigure() || /\p{L}[-./]$/u.test(near) || isOther(text, start, after)))
  ) {
    return null;
  }
  const isAlone = isBefore(LINE_START, text, start) && LINE_END.test(after);
  const isCell = /[^\s\d][,;]$/.test(near) && /^(?:[,;]\S|\s*(?:\n|$))/.test(after);
  const before = text.slice(Math.max(0, start - CONTEXT), start);
  return { start, end, written, before, after, isInternational, isLabelled, isNearPhoneWord, isAlone, isCell };
}

/** Returns the plus and the brackets before a number. */
function signsBefore(text: string, at: number): string {
  const last = text[at - 1];
  return last === '+' || last === '(' || last === ' '
    ? (/(?:\(?\+ ?\(?|\()$/.exec(text.slice(Math.max(0, at - 3), at))?.[0] ?? '')
    : '';
}

function isOther(text: string, start: number, after: string): boolean {
  return (
    text[start - 1] === '/' ||
    isBefore(OTHER_BEFORE, text, start) ||
    UNIT.test(after) ||
    labelBefore(text, start, OTHER_NUMBER) !== null
  );
}

/** Reports whether a spaced slash or dash separates two numbers (`01296 335361 / 07985 379024`), not an area code. */
function isTwoNumbers(written: string): boolean {
  const [left = 0, right = 0] = written.split(/ [-–/] /, 2).map((part) => part.replaceAll(/\(0\)|\D/g, '').length);
  return left < written.length && right > 0 && (left >= 8 || (left >= 6 && right >= 6));
}

/** Returns the number as E.164, or its digits if it matches no configured country; null if it is not a phone number. */
function numberOf(text: string, sequence: DigitSequence, place: Place, countries: readonly Country[]): string | null {
  const { digits, sizes } = sequence;
  if (place.isInternational) {
    const number = parsePhoneNumberFromString(`+${place.written.replaceAll(/\(0\)|\D/g, '')}`, WHOLE);
    return number?.isPossible() === true ? number.number : null;
  }
  const abroad = ABROAD.exec(digits)?.[1];
  const isLabelled = place.isLabelled && digits.length >= DIGITS.labelled;
  const isLong = place.isNearPhoneWord && digits.length >= DIGITS.bare;
  const possible = countries.filter(({ mayBe }) => isLong || mayBe.test(digits));
  if ((abroad === undefined && possible.length === 0 && !isLabelled) || DATED.test(place.written)) {
    return null;
  }
  if (
    !place.isNearPhoneWord &&
    (isNoPhone(text, sequence, place) || (abroad === undefined && sizes.length === 1 && !mayBeBare(sequence, place)))
  ) {
    return null;
  }
  const number = abroad === undefined ? undefined : parsePhoneNumberFromString(`+${abroad}`, WHOLE);
  if (number?.isValid() === true) {
    return number.number;
  }
  for (const { code, hasTrunkZero } of possible) {
    const own = parsePhoneNumberFromString(digits, { ...WHOLE, defaultCountry: code });
    if (
      own?.isValid() === true ? isUsedAsPhone(own, sequence, place, hasTrunkZero) : isLong && own?.isPossible() === true
    ) {
      return own?.number ?? null;
    }
  }
  return isLabelled && !isLikeVersion(place.written, sizes) ? digits : null;
}

/** Reports whether the notation, or code around it, shows that a number without a word for a phone is another one. */
function isNoPhone(text: string, { sizes }: DigitSequence, { start, written, after, isAlone }: Place): boolean {
  const isList = /^\d+(?: ?\/ ?\d+){2,}$/.test(written);
  const isPlain = /^\d+$/.test(written);
  const isRound = NO_PHONE.test(written) || Number.isInteger(Math.log2(Number(written)));
  const isCode = !isAlone && (isBefore(CODE_BEFORE, text, start) || CODE_AFTER.test(after));
  return isList || isLikeVersion(written, sizes) || (isPlain && (isRound || isBefore(FIELD, text, start) || isCode));
}

/** Reports whether dots make a number a decimal (one dot, unless after an area code), a version or an IP address. */
function isLikeVersion(written: string, sizes: readonly number[]): boolean {
  const dots = written.match(/\./g)?.length ?? 0;
  if (dots === 0 || /^0\d{1,5}\.\d{5,8}$/.test(written)) {
    return false;
  }
  if (dots !== sizes.length - 1 || /[^\d.]/.test(written)) {
    // Columns of decimals.
    return /\.\d{1,2}(?!\d)/.test(written) && / \d/.test(written) && dots < sizes.length - 1;
  }
  return (
    (dots === 1 && !/^0\d{2}/.test(written)) || sizes.includes(1) || sizes.slice(1).some((size) => size < 2 || size > 4)
  );
}

/** Reports whether a number of one group may be a phone number where it is: a quick test before its digits are read. */
function mayBeBare({ digits }: DigitSequence, place: Place): boolean {
  const isLong = digits.length >= DIGITS.bare || (digits.startsWith('0') && digits.length >= DIGITS.trunk);
  return place.isAlone || (isLong && (place.isCell || isInProse(place)));
}

/** Reports whether words are before a number, and nothing technical is on its line. */
function isInProse({ before, after }: Place): boolean {
  const line = (before.split('\n').at(-1) ?? '') + (after.split('\n', 1)[0] ?? '');
  return !TECHNICAL.test(line) && /(?:^|\p{L}{2,}[ ,]{1,2})$/u.test(before);
}

/** Reports whether a valid number is used as a phone number, by its label or its format. */
function isUsedAsPhone(own: PhoneNumber, sequence: DigitSequence, place: Place, hasTrunkZero: boolean): boolean {
  const { digits, sizes } = sequence;
  const { written, after, isAlone, isCell } = place;
  if (place.isNearPhoneWord) {
    return true;
  }
  if (sizes.length === 1) {
    const isDialled = digits.startsWith('0') && digits.length >= DIGITS.trunk;
    const isBare = (!hasTrunkZero || own.getType() === 'MOBILE') && digits.length >= DIGITS.bare;
    return isAlone || (isCell && isDialled) || ((isDialled || isBare) && isInProse(place));
  }
  const isExact = hasTrunkZero && !digits.startsWith('0') && !written.includes('(');
  // All groups have three digits, as in an amount: `1.234.567`.
  const isAmount = /^[1-9]\d{0,2}(?:([ .,'])\d{3})(?:\1\d{3})+$/.test(written);
  if (!matchesFormat(own, sequence, isExact) || (isAmount && !isAlone && !CLAUSE_END.test(after))) {
    return false;
  }
  // A few digits in groups are ambiguous.
  return digits.length >= DIGITS.grouped || isAlone || isCell || digits.startsWith('0');
}

/**
 * Reports whether a number without a plus is grouped as is usual in its country: in the official groups, in coarser
 * ones, or in finer ones of at least two digits. With `isExact`, only the official groups match.
 */
function matchesFormat(number: PhoneNumber, { digits, sizes }: DigitSequence, isExact: boolean): boolean {
  const isAnyWay = digits.startsWith('0') && sizes.length <= GROUPS.trunk && !sizes.slice(1).includes(1);
  if (isAnyWay || (digits.length === 9 && sizes.every((size) => size === 3))) {
    return true;
  }
  const own = borders(sizes);
  const formats = [() => number.formatNational(), () => number.formatInternational().replace(/^\+\d+ /, '')];
  return formats.some((format) => {
    const usual = borders((format().match(/\d+/g) ?? []).map((group) => group.length));
    if (isExact) {
      const isEqual = own.length >= usual.length - 1 && own.every((border, index) => border === usual[index]);
      return isEqual || (number.getType() === 'MOBILE' && usual.every((border) => own.includes(border)));
    }
    const widest = largest(usual, 0);
    const isCoarser = own.every((border) => usual.includes(border) || border > widest);
    return isCoarser || (!sizes.includes(1) && usual.every((border) => own.includes(border)));
  });
}

/** Returns the boundaries of groups, counted in digits from the end, because the prefix is optional. */
function borders(sizes: readonly number[]): readonly number[] {
  let sum = 0;
  const ends = sizes.toReversed().map((size) => {
    sum += size;
    return sum;
  });
  return ends.slice(0, -1);
}
