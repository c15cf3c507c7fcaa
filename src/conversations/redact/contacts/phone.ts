// Finder for phone numbers.

import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  Metadata,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { ConfigError } from '../../../core/errors.ts';
import { type DigitSequence, findDigitRuns, sequencesFrom } from '../model/digits.ts';
import type { Finder, PrivateValue } from '../model/found.ts';
import { contextOf, type PhoneContext } from './phone-context.ts';
import { isLikeAmount, isLikeList, isLikeVersion, isRound, matchesFormat } from './phone-format.ts';

/** Minimum and maximum number of digits (E.164, and the prefix for international calls). */
const FEWEST = 7;
const MOST = 17;
/** Maximum number of groups of one digit, which are prefixes and area codes; more of them form a list. */
const SINGLES = 3;
const GROUPS = 6;
const SEPARATOR =
  /^(?: {1,2}|[-./]| [-–/] |[-.]? {0,2}\(0?\) {0,2}|\)(?:[-. ]{0,2}| [-–/] )| ?[-–./]? ?\(|\s?\r?\n[ >]{0,4})$/;
/** Separator between two numbers of one person. */
const NEXT = /^ ?(?:\/|,|;|or|oder|ou|o|y|et|und|eller|или|або|veya|и|、|或) ?$/i;
/** Text after a number that makes it part of a word or of another number. */
const RUNS_ON = /^(?:[\p{L}\p{N}_%@\\]|[-.:/][\p{L}\p{N}]|,\p{N})/u;
/** The next cell of a record, after a number with a plus or separators that makes up a cell. */
const NEXT_CELL = /^,["']?\p{N}/u;
/** Scripts without a space between a number and a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Hangul}]$/u;
const UNSPACED_NEXT = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Hangul}]/u;
/**
 * Minimum numbers of digits: after a leading zero, after a label but of no configured country, without separators, in
 * groups.
 */
const TRUNK_FEWEST = 9;
const LABELLED_FEWEST = 8;
const BARE_FEWEST = 10;
const GROUPED_FEWEST = 9;
const EXTENSION = /^[ ,]{0,2}(?:x|ext\.?|extension|#)\s?\d{1,6}(?![\w-])/i;

/** Number of digits from which a labelled number counts as a phone number, even if it is not assigned. */
const LABELLED_DIGITS = 10;
/** Dates and times in any notation, including seconds since the epoch. */
const DATED =
  /(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])(?!\d)|(?<!\d)(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)\d\d(?!\d)/;
const EPOCH = /^1[4-9]\d{8}$/;
/** The largest integers of 31 and 32 bits, and their neighbors. */
const LIMIT = /^(?:214748364[5-9]|429496729[3-7])$/;

/**
 * Creates a finder of phone numbers with the metadata of libphonenumber: numbers of any country with a plus, and those
 * of the configured regions without one. Throws ConfigError for an unknown region.
 */
export function phoneFinder(regions: readonly string[]): Finder {
  const countries = regions.map((region) => countryOf(region));
  return (text) => {
    const found: PrivateValue[] = [];
    for (const run of findDigitRuns(text, SEPARATOR, 8)) {
      for (let first = 0; first < run.groups.length; first += 1) {
        const phone = phoneFrom(
          text,
          sequencesFrom(text, run, first, FEWEST, MOST),
          countries,
          found.at(-1)?.end ?? -1,
        );
        if (phone !== null) {
          found.push(phone.found);
          first = phone.last;
        }
      }
    }
    return found;
  };
}

interface Country {
  readonly code: CountryCode;
  /** True if numbers are dialed with a leading zero; a number without it is rarely a phone number. */
  readonly hasTrunkZero: boolean;
  /**
   * Reports whether digits may be a number of this country, with its prefix or calling code: a quick test that is not
   * exact.
   */
  mayBe(digits: string): boolean;
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
  const own = new RegExp(`^(?:${plan.nationalNumberPattern()})$`);
  const prefix = plan.nationalPrefix();
  // With a carrier code, or a mobile prefix between the area code and the number.
  const dialled = new RegExp(`^(?:${plan.nationalPrefixForParsing() ?? '(?!)'})`);
  const calling = getCountryCallingCode(code);
  return {
    code,
    hasTrunkZero: prefix === '0',
    mayBe(digits) {
      const isWithin = prefix !== undefined && digits.startsWith(prefix) && own.test(digits.slice(prefix.length));
      const isDialled = digits.startsWith('0') && digits.length > 10 && dialled.test(digits);
      return (
        isWithin ||
        isDialled ||
        own.test(digits) ||
        (digits.startsWith(calling) && own.test(digits.slice(calling.length)))
      );
    },
  };
}

function phoneFrom(text: string, sequences: readonly DigitSequence[], countries: readonly Country[], lastEnd: number) {
  for (const sequence of sequences) {
    const place = placeOf(text, sequence, lastEnd);
    const number = place === null ? null : numberOf(sequence, place, countries);
    if (place !== null && number !== null) {
      const extension = EXTENSION.exec(text.slice(place.end, place.end + 20))?.[0].length ?? 0;
      const end = place.end + extension;
      const found: PrivateValue = { type: 'phone', label: 'PHONE', start: place.start, end, key: number };
      return { found, last: sequence.last };
    }
  }
  return null;
}

interface Place {
  readonly start: number;
  readonly end: number;
  readonly written: string;
  readonly isInternational: boolean;
  readonly context: PhoneContext;
}

/** Returns the bounds of the whole number with its plus and brackets; null if it is part of something else. */
function placeOf(text: string, { start: first, end, sizes }: DigitSequence, lastEnd: number): Place | null {
  if (sizes.length > GROUPS || sizes.filter((size) => size === 1).length > SINGLES) {
    return null;
  }
  const signs = /(?:\(?\+ ?\(?|\()$/.exec(text.slice(Math.max(0, first - 3), first))?.[0] ?? '';
  // A bracket around the whole number belongs to the sentence.
  const head = signs === '(' && !text.slice(first, end).includes(')') ? '' : signs;
  const start = first - head.length;
  const isPiece = /[\p{L}\p{N}_$€£#@\\%]$|[\p{N}_][-.,/:]$|(?:^|\s)[-.,]$|\+$/u;
  const near = text.slice(Math.max(0, start - 2), start);
  const after = text.slice(end, end + 20);
  const isUnspaced = UNSPACED.test(near);
  const isRecord = head.includes('+') && /\d[,;]$/.test(near);
  const isCell = (isRecord || /[^\d\s][,;]$/.test(near)) && (head !== '' || sizes.length > 1) && NEXT_CELL.test(after);
  if (
    (isPiece.test(near) && !isUnspaced && !isRecord) ||
    (RUNS_ON.test(after) && !EXTENSION.test(after) && !UNSPACED_NEXT.test(after) && !isCell)
  ) {
    return null;
  }
  const isInternational = head.includes('+');
  const isNext = lastEnd >= 0 && start - lastEnd < 6 && NEXT.test(text.slice(lastEnd, start));
  const context = contextOf(text, start, end, isNext);
  if (
    isTwoNumbers(text.slice(first, end)) ||
    (!isInternational && !context.isNearPhoneWord && isInTable(text, first, end))
  ) {
    return null;
  }
  const isAttached = !isInternational && /[\p{L}][-./]$/u.test(near) && !context.isNearPhoneWord;
  return isAttached ? null : { start, end, written: text.slice(start, end), isInternational, context };
}

/** Reports whether a spaced slash or dash separates two numbers (`01296 335361 / 07985 379024`), not an area code. */
function isTwoNumbers(written: string): boolean {
  const [left = 0, right = 0] = written.split(/ [-–/] /, 2).map((part) => part.replaceAll(/\D/g, '').length);
  return left < written.length && right > 0 && (left >= 8 || (left >= 6 && right >= 6));
}

/**
 * Reports whether a number is part of a table of figures, a drawing or a dump: among other numbers, or over two lines.
 */
function isInTable(text: string, start: number, end: number): boolean {
  const isSplit = text.slice(start, end).includes('\n');
  return (
    isSplit ||
    /\d[ \t]{1,2}$/.test(text.slice(Math.max(0, start - 3), start)) ||
    /^[ \t]{1,2}\d/.test(text.slice(end, end + 3))
  );
}

/** Returns the number as E.164, or its digits if it matches no configured country; null if it is not a phone number. */
function numberOf(sequence: DigitSequence, place: Place, countries: readonly Country[]): string | null {
  if (place.isInternational) {
    const number = parsePhoneNumberFromString(`+${place.written.replaceAll(/\(0\)|\D/g, '')}`);
    return number?.isPossible() === true ? number.number : null;
  }
  const abroad = /^(?:00|011)([1-9]\d{6,14})$/.exec(sequence.digits)?.[1];
  const number = abroad === undefined ? undefined : parsePhoneNumberFromString(`+${abroad}`);
  const isLong = sequence.digits.length >= LABELLED_FEWEST;
  const isLabelledNumber = sequence.digits.length >= LABELLED_DIGITS && place.context.isNearPhoneWord;
  const possible = countries.filter(({ mayBe }) => isLabelledNumber || mayBe(sequence.digits));
  const mayBe = number !== undefined || possible.length > 0 || (isLong && place.context.isLabelled);
  if (!mayBe || isSomethingElse(place, sequence)) {
    return null;
  }
  if (number?.isValid() === true) {
    return number.number;
  }
  for (const country of possible) {
    const own = ownNumber(sequence, place, country);
    if (own !== null) {
      return own.number;
    }
  }
  const isAnyones = isLong && place.context.isLabelled && !isLikeVersion(place.written, sequence.sizes);
  return isAnyones ? sequence.digits : null;
}

function ownNumber(sequence: DigitSequence, place: Place, country: Country): PhoneNumber | null {
  const own = parsePhoneNumberFromString(sequence.digits, country.code);
  if (own === undefined) {
    return null;
  }
  const isLabelledNumber = sequence.digits.length >= LABELLED_DIGITS && place.context.isNearPhoneWord;
  const isOwn = own.isValid() ? isUsedAsPhone(own, sequence, place, country) : isLabelledNumber && own.isPossible();
  return isOwn ? own : null;
}

/** Reports whether a valid number is used as a phone number, by its label or its format. */
function isUsedAsPhone(
  own: PhoneNumber,
  sequence: DigitSequence,
  { written, context }: Place,
  { hasTrunkZero }: Country,
): boolean {
  if (context.isNearPhoneWord) {
    return true;
  }
  if (sequence.sizes.length === 1) {
    const isDialled = sequence.digits.startsWith('0') && sequence.digits.length >= TRUNK_FEWEST;
    const isMobile = own.getType() === 'MOBILE';
    const isBare = (!hasTrunkZero || isMobile) && sequence.digits.length >= BARE_FEWEST;
    return context.isAlone || (context.isCell && isDialled) || ((isDialled || isBare) && context.isProse);
  }
  const isExact = hasTrunkZero && !sequence.digits.startsWith('0') && !written.includes('(');
  if (!matchesFormat(own, sequence, isExact) || (isLikeAmount(written) && !context.isAlone && !context.isLast)) {
    return false;
  }
  // A few digits in groups are ambiguous.
  return (
    sequence.digits.length >= GROUPED_FEWEST || context.isAlone || context.isCell || sequence.digits.startsWith('0')
  );
}

function isSomethingElse({ written, context }: Place, { sizes }: DigitSequence): boolean {
  if (DATED.test(written)) {
    return true;
  }
  if (context.isNearPhoneWord) {
    return false;
  }
  if (/\/$/.test(context.before) || isLikeVersion(written, sizes) || isLikeList(written) || context.isOtherNumber) {
    return true;
  }
  const isPlain = /^\d+$/.test(written);
  return (
    isPlain && (EPOCH.test(written) || LIMIT.test(written) || isRound(written) || context.isField || context.isCode)
  );
}
