/** Parses the times of tickets and mails, in declared formats. See docs/conversation-files.md. */

/** Order of day and month in dates that are all numbers. */
export type DateOrder = 'day-first' | 'month-first';

/** End of the reason for a value that cannot be read as a time. */
export const NOT_A_TIME = 'is not a time that can be read; write it as 2026-02-12T10:00:00Z';

const TIME = String.raw`(?:[T ,]+(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?([ap])\.?m\.?)?)?`;
const ZONE = String.raw`(?: *(Z|UT|UTC|GMT|[ECMP][SD]T|[+-]\d\d(?::?\d\d)?)(?: *\([^()]*\))?)?`;
const formatOf = (date: string) => new RegExp(`^${date}${TIME}${ZONE}$`, 'i');
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH = `(${MONTHS.join('|')})[a-z]*`;
const WEEKDAY = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +)?';

/** `2026-02-12`, `2026/2/12`. */
const YEAR_FIRST = formatOf(String.raw`(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})`);
/** `12.02.2026`: only countries that put the day first write dots. */
const DOTTED = formatOf(String.raw`(\d{1,2})\.(\d{1,2})\.(\d{4}|\d\d)`);
/** `12/02/2026`, `12-02-26`: either order. */
const NUMERIC = formatOf(String.raw`(\d{1,2})([-/])(\d{1,2})\2(\d{4}|\d\d)`);
/** `Thu, 12 Feb 2026`, `12-Feb-2026`. */
const DAY_NAMED = formatOf(String.raw`${WEEKDAY}(\d{1,2})[- ]+${MONTH}[-., ]+(\d{4}|\d\d)`);
/** `Feb 12, 2026`. */
const MONTH_NAMED = formatOf(String.raw`${WEEKDAY}${MONTH} +(\d{1,2}),? +(\d{4})`);
/** Days since 1899-12-30, as spreadsheets store dates: from 1954 to 2119. */
const SERIAL = /^[2-7]\d{4}(?:[.,]\d+)?$/;
/** Seconds or milliseconds since 1970. */
const EPOCH = /^\d{10}(?:\d{3})?$/;

/** Hours of the zones that RFC 5322 names. */
const ZONES: Readonly<Record<string, number>> = { e: -5, c: -6, m: -7, p: -8 };

/** Returns the order that a date proves, if one of its numbers is over 12; null otherwise. */
export function provenOrder(text: string): DateOrder | null {
  const [, first, , second] = NUMERIC.exec(text.trim()) ?? [];
  const [isDay, isMonth] = [Number(first) > 12, Number(second) > 12];
  return isDay === isMonth ? null : isDay ? 'day-first' : 'month-first';
}

/** Reports whether a date has another meaning in each order. */
export function isAmbiguous(text: string): boolean {
  const [first, second] = [parseTimestamp(text, 'day-first'), parseTimestamp(text, 'month-first')];
  return first !== null && second !== null && first !== second;
}

/**
 * Parses a time in one of the formats above to milliseconds since the epoch. Null if it has another format or is not a
 * date, and without `order` if the date does not prove its own. A time without a zone is in UTC.
 */
export function parseTimestamp(text: string | null | undefined, order: DateOrder | null = null): number | null {
  const trimmed = (text ?? '').replace(/[\s\u202f]+/g, ' ').trim();
  if (trimmed.length > 100) {
    return null;
  }
  if (SERIAL.test(trimmed)) {
    const seconds = Math.round((Number(trimmed.replace(',', '.')) - 25_569) * 86_400);
    return seconds * 1000;
  }
  if (EPOCH.test(trimmed)) {
    return Number(trimmed.padEnd(13, '0'));
  }
  for (const [format, [year, month, day]] of [
    [YEAR_FIRST, [1, 2, 3]],
    [DOTTED, [3, 2, 1]],
    [DAY_NAMED, [3, 2, 1]],
    [MONTH_NAMED, [3, 1, 2]],
  ] as const) {
    const found = format.exec(trimmed);
    if (found !== null) {
      return timeOf(found[year], found[month], found[day], found.slice(4));
    }
  }
  const found = NUMERIC.exec(trimmed);
  if (found === null) {
    return null;
  }
  const [, first, , second, year] = found;
  const proven = provenOrder(trimmed) ?? order ?? (first === second ? 'day-first' : null);
  const [day, month] = proven === 'day-first' ? [first, second] : [second, first];
  return proven === null ? null : timeOf(year, month, day, found.slice(5));
}

function timeOf(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  [hour = '0', minute = '0', second = '0', fraction = '', half, zone = 'Z']: readonly (string | undefined)[],
): number | null {
  const number = MONTHS.indexOf((month ?? '').toLowerCase()) + 1 || Number(month);
  const full = year?.length === 2 ? Number(year) + (Number(year) < 50 ? 2000 : 1900) : Number(year);
  const isHalf = half !== undefined;
  const hours = isHalf ? (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(hour);
  const isTime = hours < 24 && Number(minute) < 60 && Number(second) <= 60 && !(isHalf && Number(hour) > 12);
  const date = new Date(Date.UTC(full, number - 1, Number(day)));
  if (!isTime || date.getUTCMonth() !== number - 1 || date.getUTCDate() !== Number(day) || full < 1900) {
    return null;
  }
  const minutes = hours * 60 + Number(minute) - offsetOf(zone);
  return date.getTime() + minutes * 60_000 + Number(second) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/** Returns the minutes by which a zone is ahead of UTC. */
function offsetOf(zone: string): number {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  if (hours !== undefined) {
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  }
  const named = ZONES[zone.slice(0, 1).toLowerCase()];
  return named === undefined ? 0 : (named + (zone.slice(1, 2).toLowerCase() === 'd' ? 1 : 0)) * 60;
}
