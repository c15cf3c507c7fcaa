import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  Metadata,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { ConfigError } from '../../core/errors.ts';
import { runsOf, type Stretch, stretchesFrom } from './digits.ts';
import type { Finder, Found } from './found.ts';

/** The fewest and most digits of a number (E.164, and the prefix for calls abroad). */
const FEWEST = 7;
const MOST = 17;
/** Groups of one digit are prefixes and area codes; where there are more, it is a list. */
const SINGLES = 3;
const GROUPS = 6;
const SEPARATOR = /^(?: {1,2}|[-./]| [-–/] |\.? ?\(0?\) ?|\) ?-? ?| ?\(|\s?\r?\n[ >]{0,4})$/;
const EXTENSION = /^[ ,]{0,2}(?:x|ext\.?|extension|#)\s?\d{1,6}(?![\w-])/i;

/** Where the text says that a number follows. */
const CALLED =
  /(?<![a-z])(?:call(?:ed|ing)?|phone|tel(?:efon|ephone)?|mobile?|mobil|cell|fax|whats ?app|sms|text(?:ed)?|ring|dial|hotline|contact|reach|handy|rufnummer|(?:my|our|new|the) n(?:umber|ummer|o)|t[eé]l[eé]phone|wa\.me\/)[^\d\n]{0,24}$/i;
/** Where it says that something else does. */
const COUNTED =
  /(?:#|№|[$€£¥]\s?|(?<![a-z])(?:orders?|invoices?|tickets?|cases?|tracking|parcel|shipment|refs?|reference|ids?|uuid|sku|isbn|imei|serial|batch|parts?|model|transaction|txn|payment|account|acct|customer|receipt|policy|claim|po|build|version|commit|timestamp|epoch|unix|time|bytes?|size|offset|line|pid|port|zip|usd|eur|bestellung|bestellnummer|rechnung|\w{0,20}id|code|key|duration|amount|total|hash|trace|span|request)[ \t]{0,2}(?:number|no|nr|id|code|is|was|#)?\.?["']?[ \t]{0,2}[:=#.]{0,2}[ \t]{0,2}["'#]{0,2})$/i;
/** Where the text says it, a number of so many digits is one, whoever it was given to. */
const TOLD = 10;
/** How far before a number its context is looked at, in characters. */
const CONTEXT = 40;
/** Dates and times of day, however they are written; seconds since the epoch. */
const DATED =
  /(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])(?!\d)|(?<!\d)(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)\d\d(?!\d)/;
const EPOCH = /^1[4-9]\d{8}$/;
/** A field of a program or of a record: what it holds is a phone number only where its name says so. */
const FIELD = /(?:[A-Za-z_]\w{0,40} ?=|[A-Za-z_]\w{0,40}["'] ?[:=]) ?["']?$/;
/** The largest numbers of 31 and 32 bits, and their neighbours. */
const LIMIT = /^(?:214748364[5-9]|429496729[3-7])$/;

/**
 * Finds phone numbers: with a plus those of any country, without one those of the regions, as libphonenumber knows
 * them. Throws ConfigError for a region that is none.
 */
export function phoneFinder(regions: readonly string[]): Finder {
  const countries = regions.map((region) => countryOf(region));
  return (text) => {
    const found: Found[] = [];
    for (const run of runsOf(text, SEPARATOR, 8)) {
      for (let first = 0; first < run.groups.length; first += 1) {
        const phone = phoneFrom(text, stretchesFrom(text, run, first, FEWEST, MOST), countries);
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
  /** Whether digits can be a number written for this country, with its prefix or its calling code: quick, not exact. */
  mayBe(digits: string, isCalled: boolean): boolean;
}

/** What the library's metadata knows of a country and its types do not tell. */
interface NumberingPlan {
  nationalPrefix(): string | undefined;
  nationalNumberPattern(): string;
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
  const calling = getCountryCallingCode(code);
  return {
    code,
    mayBe(digits, isCalled) {
      const isWithin = prefix !== undefined && digits.startsWith(prefix) && own.test(digits.slice(prefix.length));
      const isFromAbroad = digits.startsWith(calling) && own.test(digits.slice(calling.length));
      // Where there is a zero to dial first, a number without it is mostly something else.
      return isWithin || isFromAbroad || ((prefix !== '0' || isCalled) && own.test(digits));
    },
  };
}

function phoneFrom(text: string, stretches: readonly Stretch[], countries: readonly Country[]) {
  for (const stretch of stretches) {
    const place = placeOf(text, stretch);
    const number = place === null ? null : numberOf(text, stretch, place, countries);
    if (place !== null && number !== null) {
      const extension = EXTENSION.exec(text.slice(place.end, place.end + 20))?.[0].length ?? 0;
      const end = place.end + extension;
      const found: Found = { type: 'phone', label: 'PHONE', start: place.start, end, key: number.number };
      return { found, last: stretch.last };
    }
  }
  return null;
}

interface Place {
  readonly start: number;
  readonly end: number;
  /** What the text says just before. */
  readonly before: string;
  readonly isCalled: boolean;
  readonly isInternational: boolean;
}

/** Where the whole number stands, with its plus and its brackets; null where it is a piece of something else. */
function placeOf(text: string, { start: first, end, sizes }: Stretch): Place | null {
  if (sizes.length > GROUPS || sizes.filter((size) => size === 1).length > SINGLES) {
    return null;
  }
  const head = /(?:\(?\+ ?\(?|\()$/.exec(text.slice(Math.max(0, first - 3), first))?.[0] ?? '';
  const start = first - head.length;
  const before = text.slice(Math.max(0, start - CONTEXT), start);
  const after = text.slice(end, end + 20);
  const isInternational = head.includes('+');
  const isCalled = CALLED.test(before);
  const isPiece = /[\p{L}\p{N}_$€£#@\\%]$|[\p{N}_][-.,/:]$|(?:^|\s)[-.,]$/u.test(before) || /\+$/.test(before);
  const runsOn = /^(?:[\p{L}\p{N}_%@\\]|[-.,:/][\p{L}\p{N}])/u.test(after) && !EXTENSION.test(after);
  const isGlued = !isCalled && !isInternational && /[\p{L}][-./]$/u.test(before);
  return isPiece || runsOn || isGlued ? null : { start, end, before, isInternational, isCalled };
}

function numberOf(text: string, stretch: Stretch, place: Place, countries: readonly Country[]): PhoneNumber | null {
  if (place.isInternational) {
    const number = parsePhoneNumberFromString(`+${text.slice(place.start, place.end).replaceAll(/\(0\)|\D/g, '')}`);
    return number?.isPossible() === true ? number : null;
  }
  if (isSomethingElse(text.slice(place.start, place.end), place)) {
    return null;
  }
  const abroad = /^(?:00|011)([1-9]\d{6,14})$/.exec(stretch.digits)?.[1];
  const number = abroad === undefined ? undefined : parsePhoneNumberFromString(`+${abroad}`);
  if (number?.isValid() === true) {
    return number;
  }
  for (const { code, mayBe } of countries) {
    // Asked first, as the library takes its time.
    const isTold = place.isCalled && stretch.digits.length >= TOLD;
    const own =
      isTold || mayBe(stretch.digits, place.isCalled) ? parsePhoneNumberFromString(stretch.digits, code) : undefined;
    if (own?.isValid() === true && isWrittenSo(own, stretch, place.isCalled)) {
      return own;
    }
    if (isTold && own?.isPossible() === true) {
      return own;
    }
  }
  return null;
}

function isSomethingElse(written: string, { before, isCalled }: Place): boolean {
  return (
    DATED.test(written) ||
    (!isCalled &&
      (COUNTED.test(before) ||
        EPOCH.test(written) ||
        LIMIT.test(written) ||
        (FIELD.test(before) && /^\d+$/.test(written)) ||
        /\/$/.test(before)))
  );
}

/** Without its prefix and in odd groups, a number that could be dialled is mostly something else. */
function isWrittenSo(number: PhoneNumber, { digits, sizes }: Stretch, isCalled: boolean): boolean {
  // Where its prefix is there, its groups are as people like them.
  const isPrefixed = digits.startsWith('0') && sizes.length < GROUPS;
  if (isCalled || isPrefixed || sizes.length === 1) {
    return true;
  }
  const national = number.formatNational();
  const usual = borders((national.match(/\d+/g) ?? []).map((group) => group.length));
  const own = borders(sizes);
  const widest = Math.max(...usual, 0);
  return (
    own.every((border) => usual.includes(border) || border > widest) || usual.every((border) => own.includes(border))
  );
}

/** Where groups meet, in digits from the end: prefixes may be there or not. */
function borders(sizes: readonly number[]): readonly number[] {
  const ends = sizes.toReversed().map((_, index, all) => all.slice(0, index + 1).reduce((sum, size) => sum + size, 0));
  return ends.slice(0, -1);
}
