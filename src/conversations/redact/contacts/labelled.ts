/** Finds values that only the words around them give away: dates of birth, identity numbers, security codes of cards. */

import data from '../data/labels.json' with { type: 'json' };
import type { Finder, PrivateValue } from '../model/found.ts';
import { isHeading, type Labels, labelBefore, labelsFrom, mayEndLabel } from '../model/label-words.ts';
import { ending, isBefore, matchesIn } from '../model/matches.ts';
import { bitOf, nearAfter, type Reading } from '../model/reading.ts';
import { cellsUnder } from '../model/table-columns.ts';
import { passesLuhn } from './accounts.ts';

/** A kind of value, and how it is recognized. */
interface LabelledValue extends Pick<PrivateValue, 'type' | 'label' | 'rule'> {
  readonly labels: Labels;
  /** Notations of the value, which are tried in this order. Sticky. */
  readonly patterns: readonly RegExp[];
  /** Text that can belong to the value before its first digit, the shortest first: the first group of patterns that end there. */
  readonly heads: readonly RegExp[];
  /** Checks a value, such as its check digit. `label`: the label as it is in the list; empty for other context. */
  readonly isValue: (key: string, label: string) => boolean;
  /** Reports whether something else than a label marks the value. */
  readonly isMarked?: (text: string, start: number, end: number) => boolean;
  /** Reports whether a text has what marks a value. */
  readonly mayMark?: (reading: Reading) => boolean;
}

/** Longest distance from the start of a label to the first digit of its value, in characters. */
const LABEL_REACH = 160;

/** Creates a finder for values after their label, or below the heading of their column. */
function labelledFinder(value: LabelledValue): Finder {
  const { type, label, rule = label } = value;
  return (reading) => {
    const mayBeMarked = value.mayMark?.(reading) === true;
    if ((reading.bits & value.labels.bit) === 0 && !mayBeMarked) {
      return [];
    }
    const { text, digits } = reading;
    const mayFollow = nearAfter(reading, value.labels.bit, LABEL_REACH);
    const found: PrivateValue[] = [];
    const add = (start: number, written: string) =>
      found.push({ type, label, rule, start, end: start + written.length, key: keyOf(written) });
    let done = 0;
    for (let group = 0; group < digits.length; group += 2) {
      const index = digits[group] as number;
      const match =
        index >= done && (mayFollow(index) || mayBeMarked) ? valueAt(text, index, value, mayBeMarked) : null;
      if (match !== null) {
        done = match.start + match.written.length;
        add(match.start, match.written);
      }
    }
    for (const { cell, heading } of cellsUnder(text, (heading) => isHeading(heading, value.labels))) {
      const own = labelBefore(`${heading}:`, heading.length + 1, value.labels) ?? '';
      const isWhole = value.patterns.some((pattern) => matchAt(pattern, cell.text, 0) === cell.text);
      if (isWhole && value.isValue(keyOf(cell.text), own)) {
        add(cell.start, cell.text);
      }
    }
    return found;
  };
}

/** Returns the value with this first digit; null if nothing marks it. */
function valueAt(
  text: string,
  digit: number,
  { labels, patterns, heads, isValue, isMarked }: LabelledValue,
  mayBeMarked: boolean,
) {
  for (const head of heads) {
    if (head === AFTER_UNSPACED && !(text.charCodeAt(digit - 1) > 127)) {
      continue;
    }
    head.lastIndex = digit;
    const start = digit - (head.exec(text)?.[1]?.length ?? Number.NaN);
    if (Number.isNaN(start) || !(mayBeMarked || mayEndLabel(text, start, labels.lastWords))) {
      continue;
    }
    for (const pattern of patterns) {
      const written = matchAt(pattern, text, start)?.trimEnd() ?? '';
      const key = keyOf(written);
      if (written === '' || !isValue(key, '')) {
        continue;
      }
      const label = labelBefore(text, start, labels);
      const isOne = label === null ? isMarked?.(text, start, start + written.length) === true : isValue(key, label);
      if (isOne) {
        return { start, written };
      }
    }
  }
  return null;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function keyOf(written: string): string {
  return written.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase();
}

/** A word of a script without spaces may adjoin a value. */
const AFTER_UNSPACED = ending(/((?<=[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Thai}]))/u);

/** Words and signs before and after a date that mark it as one of birth: `(* 12.03.1980)`, `nata a Roma il …`. */
const BORN_BEFORE = ending(
  /\(\* ?|(?<!\p{L})nat[oa] a [\p{L}' ]{2,30} il["':：*_|\t ]{0,4}|<(?:birth[_-]?da(?:te|y)|dob|date[_-]?of[_-]?birth|geburtsdatum)(?: [^<>]{0,40})?>\s?/iu,
);
const BORN_AFTER = /\s?(?:生まれ|生(?![\p{L}])|출생|doğumlu|geboren|né\b|nascid)/uy;

const BORN = bitOf(
  'nato nata birth birthdate birthday dob date geburtsdatum 生 생 doğumlu geboren né'.split(' '),
  /^nascid/,
);

export const findBirthDates = labelledFinder({
  type: 'birthdate',
  label: 'BIRTHDATE',
  rule: 'date of birth',
  labels: labelsFrom(data.birthdate.join('|')),
  patterns: [
    // In figures, in any order and with any separator, also with the characters for year, month and day.
    /(?:\d{4}[-./ ]{1,2}\d{1,2}[-./ ]{1,2}\d{1,2}|\d{1,2}[-./ ]{1,2}\d{1,2}[-./ ]{1,2}(?:\d{4}|\d{2})|\d{8})(?:\.|T[\d:.]{5,12}Z?)?(?![\w-]|[./]\d)|(?:(?:昭和|平成|令和|大正|民国|民國) ?)?(?:\d{1,4}|元)\s?[年년]\s?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日号號일]?/uy,
    // With the name of a month, before or after the day.
    /(?:\d{1,2}(?:st|nd|rd|th|er|º|ª|\.)?[ -](?:de |of |d['’]|ng |tháng )?\p{L}[\p{L}\p{M}.׳'’]{1,14}\.?,?[ -](?:de |del |năm |ค\.ศ\. ?|พ\.ศ\. ?)?\d{2,4}(?: (?:г|р)\.?| года| року)?|\d{1,2} (?:tháng|thg) \d{1,2},? (?:năm )?\d{4}|\p{L}[\p{L}\p{M}]{2,14}\.? \d{1,2}(?:st|nd|rd|th|\.)?,? \d{4}|\d{4}[. ]{1,3}\p{L}[\p{L}\p{M}]{2,14}\.? \d{1,2}\.?)(?![\p{L}\p{N}])/uy,
  ],
  heads: [
    ending(/((?<![\p{L}\p{N}_]))/u),
    AFTER_UNSPACED,
    ending(/((?:昭和|平成|令和|大正|民国|民國) ?)/),
    ending(/((?<![\p{L}\p{N}])\p{L}[\p{L}\p{M}]{2,14}\.? )/u),
  ],
  isValue: () => true,
  isMarked: (text, start, end) => isBefore(BORN_BEFORE, text, start) || matchAt(BORN_AFTER, text, end) !== undefined,
  mayMark: ({ text, bits }) => (bits & BORN) !== 0 || text.includes('(*'),
});

/** Shortest and longest number of a document, in letters and digits, and the fewest digits of one. */
const NUMBER = { fewest: 5, most: 24, digits: 4 };

/** Checks of the numbers after labels that mean other things too. */
const CHECKS: ReadonlyMap<string, (key: string) => boolean> = new Map([
  // India: Permanent Account Number.
  ['pan', (key) => /^[A-Z]{5}\d{4}[A-Z]$/.test(key)],
  // Mexico: Registro Federal de Contribuyentes.
  ['rfc', (key) => /^[A-Z]{3,4}\d{6}[A-Z0-9]{3}$/.test(key)],
  // Canada: Social Insurance Number.
  ['sin', (key) => /^\d{9}$/.test(key) && passesLuhn(key)],
  // Colombia: cédula de ciudadanía.
  ['c.c', (key) => /^\d{6,10}$/.test(key)],
]);

/** The start of a number of letters and digits, not of a part of a longer one or of an argument: `sin(046454286)`. */
const NUMBER_HEAD = ending(/((?<![\p{L}\p{N}_./-]|\d:|[\w.]\()[A-Z]{0,6}-?)/iu);

export const findNationalIds = labelledFinder({
  type: 'national_id',
  label: 'NATIONAL_ID',
  rule: 'identity number',
  labels: labelsFrom(data.nationalId.join('|')),
  patterns: [
    /[A-Z]{0,6}-?\d[A-Z0-9]{0,24}(?:[ ./-](?=[A-Z0-9.-]{0,6}\d)[A-Z0-9]{1,12}){0,6}(?:-[A-Z0-9]|\([0-9A]\))?(?![\p{L}\p{N}_])/iuy,
  ],
  heads: [NUMBER_HEAD, AFTER_UNSPACED],
  isValue: (key, label) =>
    key.length >= NUMBER.fewest &&
    key.length <= NUMBER.most &&
    key.replaceAll(/\D/g, '').length >= NUMBER.digits &&
    (CHECKS.get(label)?.(key) ?? true),
});

/** Finds the codes of three or four digits that prove who holds a card. */
export const findCardCodes = labelledFinder({
  type: 'secret',
  label: 'SECRET',
  rule: 'security code of a card',
  labels: labelsFrom(data.cardCode.join('|')),
  patterns: [/\d{3,4}(?![\w/-]|[.,:]\d)/y],
  heads: [ending(/((?<![\w./-]|\d:))/)],
  isValue: () => true,
});

const SSN = /(?<![A-Za-z0-9_.-])\d{3}([- .])\d{2}\1\d{4}(?![A-Za-z0-9_]|[-.]\w)/g;
/** Numbers on sample cards, in advertisements and in forms, which are not redacted. */
const SAMPLES = new Set(['078051120', '219099999', '457555462', '123456789', '111111111', '333333333', '666666666']);
const isSsn = (key: string) => !/^(?:000|666|9)|^...00|0000$/.test(key) && !SAMPLES.has(key);

/** Nine digits without separators are ambiguous without a label. */
const findLabelledSsns = labelledFinder({
  type: 'ssn',
  label: 'SSN',
  rule: 'social security number',
  labels: labelsFrom(data.ssn.join('|')),
  patterns: [/\d{9}(?!\w)/y],
  heads: [ending(/((?<![\w.-]))/)],
  isValue: isSsn,
});

/** Finds US social security numbers by the valid range of each group (SSA: invalid and unassigned numbers). */
export const findSsns: Finder = (reading) => [
  ...matchesIn(reading.text, SSN).flatMap(({ index, 0: written }): readonly PrivateValue[] => {
    const key = keyOf(written);
    const end = index + written.length;
    return isSsn(key) ? [{ type: 'ssn', label: 'SSN', rule: 'social security number', start: index, end, key }] : [];
  }),
  ...findLabelledSsns(reading),
];
