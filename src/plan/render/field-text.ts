/** Renders the values and changes of fields for plans: short, inert, and never the same text for different values. */
import type { FieldChange } from '../../core/change.ts';
import { canonicalJson, isObject, type Json, sameJson } from '../../core/json.ts';
import { counted, printable } from './words.ts';

/** Longest value that is written out in full, in characters. */
const MAX_LENGTH = 72;
/** Characters shown before the first difference of two long values. */
const CONTEXT = 20;
/** Maximum number of leaves of an object that are listed one by one. */
const MAX_LEAVES = 6;
/** Maximum number of lines of a text that are listed as removed, and as added. */
const MAX_LINES = 6;

/** One line about a changed field. `name` is empty if the line continues the field above it. */
export interface FieldLine {
  readonly name: string;
  readonly text: string;
  /** The old and the new value as people write them, where a line is about values; absent if there is none. */
  readonly from?: string;
  readonly to?: string;
  /** The value of a new resource. */
  readonly value?: string;
  /** Items of a list, or people, each with its sign. */
  readonly items?: readonly string[];
}

/** Formats a value on one line, shortened and escaped. */
export function valueText(value: Json | undefined): string {
  if (typeof value !== 'string') {
    return shorten(literal(value));
  }
  const count = lineCount(value);
  return count === 1
    ? inQuotes(shorten(printable(value)))
    : `${inQuotes(shorten(printable(`${value.split('\n', 1)[0]}…`)))} (${count} lines)`;
}

/** Formats the value of a field as people write it: without quotes, and an emoji instead of its code points. */
export function plainText(field: string, value: Json): string {
  return withEmoji(field, typeof value === 'string' ? bare(valueText(value)) : valueText(value));
}

/** Returns the text of a field, or its emoji instead of the code points that the platform stores. */
export function withEmoji(field: string, text: string): string {
  const points = field === 'emoji' && /^[0-9a-f]{4,6}(?:-[0-9a-f]{4,6})*$/.test(text) ? text.split('-') : [];
  const codes = points.map((point) => Number.parseInt(point, 16));
  const isText = codes.length === 0 || codes.some((code) => code > 0x10ffff);
  // Code points can also be those of control characters.
  return isText ? text : printable(codes.map((code) => String.fromCodePoint(code)).join(''));
}

/**
 * Describes how one field changes, in as many lines as that needs.
 *
 * @param whole writes values out in full: for fields that decide who may see or change something
 */
export function fieldLines({ path, from, to }: FieldChange, whole = false): readonly FieldLine[] {
  const name = printable(path);
  if (path === 'members' || path.startsWith('permissions.')) {
    const items = peopleTexts(from, to);
    return [{ name, text: items.join('  '), items }];
  }
  if (Array.isArray(from ?? to) && Array.isArray(to ?? from)) {
    const items = listTexts(from, to, whole);
    return items === null ? [pairLine(name, from, to, whole)] : [{ name, text: items.join('  '), items }];
  }
  if (isObject(from) && isObject(to) && typeof to.sha256 !== 'string') {
    return leafLines(name, from as Json, to as Json, whole);
  }
  if (from === undefined) {
    const text = single(to, whole);
    return [{ name, text, value: typeof to === 'string' ? bare(text) : text }];
  }
  if (typeof from === 'string' && typeof to === 'string' && Math.max(lineCount(from), lineCount(to)) > 1) {
    return changedLines(from, to, whole).map((text, at) => ({ name: at === 0 ? name : '', text }));
  }
  return [pairLine(name, from, to, whole)];
}

function pairLine(name: string, from: Json | undefined, to: Json | undefined, whole: boolean): FieldLine {
  const [before, after] = differingTexts(from, to, whole);
  const written = (value: Json | undefined, text: string) =>
    value === undefined || value === null ? undefined : typeof value === 'string' ? bare(text) : text;
  const [old, now] = [written(from, before), written(to, after)];
  // Without quotes, a number looks like its text, and a space at an end like none.
  const isClear = old === undefined || now === undefined || !looksTheSame(old.trim(), now.trim());
  return { name, text: `${before} → ${after}`, from: isClear ? old : before, to: isClear ? now : after };
}

/** Removes the quotes that {@link inQuotes} adds. */
export function bare(text: string): string {
  return /^(["']).*\1(?: \(\d+ lines\))?$/s.test(text)
    ? text.slice(1).replace(/["']((?: \(\d+ lines\))?)$/, '$1')
    : text;
}

/**
 * Formats two different values so that a reader can tell them apart: long values around the first difference, and in
 * ASCII if they would look alike.
 */
export function differingTexts(
  from: Json | undefined,
  to: Json | undefined,
  whole: boolean,
): readonly [string, string] {
  const [before, after] = [literal(from), literal(to)];
  const spelledOut = [asciiJson(from), asciiJson(to)] as const;
  if (looksTheSame(before, after)) {
    return whole ? spelledOut : around(...spelledOut);
  }
  if (whole || (isShort(before) && isShort(after))) {
    return [before, after];
  }
  if (typeof from !== 'string' || typeof to !== 'string') {
    const short = [valueText(from), valueText(to)] as const;
    return looksTheSame(...short) ? around(before, after) : short;
  }
  const [left, right] = around(printable(from), printable(to));
  return looksTheSame(left, right) ? around(...spelledOut) : [inQuotes(left), inQuotes(right)];
}

/** Returns true if two texts differ only in invisible ways: kinds of spaces, and forms of one character. */
function looksTheSame(a: string, b: string): boolean {
  const seen = (text: string) => text.normalize('NFKC').replace(/\s+/g, ' ');
  return seen(a) === seen(b);
}

/** Cuts two texts to the part around their first difference, each to the maximum length of a value. */
function around(a: string, b: string): readonly [string, string] {
  const [left, right] = [[...a], [...b]];
  let common = 0;
  while (common < left.length && common < right.length && left[common] === right[common]) {
    common++;
  }
  const start = Math.max(0, common - CONTEXT);
  const part = (characters: readonly string[]) => `${start > 0 ? '…' : ''}${shorten(characters.slice(start).join(''))}`;
  return [part(left), part(right)];
}

/** Formats a value as JSON in ASCII, with consecutive spaces escaped, so that every difference is visible. */
function asciiJson(value: Json | undefined): string {
  return JSON.stringify(value ?? null).replace(/[^ -~]|(?<= ) | (?= )/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Formats the whole value on one line, escaped. */
function literal(value: Json | undefined): string {
  if (value === undefined || value === null) {
    return 'none';
  }
  if (typeof value === 'string') {
    return inQuotes(printable(value));
  }
  if (isObject(value) && typeof value.sha256 === 'string') {
    return printable(`${String(value.file)} (sha256 ${value.sha256.slice(0, 12)})`);
  }
  return printable(JSON.stringify(value));
}

function single(value: Json | undefined, whole: boolean): string {
  return whole ? literal(value) : valueText(value);
}

function inQuotes(text: string): string {
  const quote = text.includes('"') && !text.includes("'") ? "'" : '"';
  return `${quote}${text}${quote}`;
}

function isShort(text: string): boolean {
  return text.length <= MAX_LENGTH || [...text.slice(0, 2 * MAX_LENGTH + 2)].length <= MAX_LENGTH;
}

function shorten(text: string): string {
  return isShort(text) ? text : `${[...text.slice(0, 2 * MAX_LENGTH)].slice(0, MAX_LENGTH - 1).join('')}…`;
}

/** Counts the lines of a text; a line break at its end begins no new line. */
function lineCount(text: string): number {
  return text.replace(/\r?\n$/, '').split('\n').length;
}

/** Returns the removed and added lines, without the common lines at the start and end. */
function changedLines(from: string, to: string, whole: boolean): readonly string[] {
  const [before, after] = [from.split('\n'), to.split('\n')];
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) {
    start++;
  }
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) {
    end++;
  }
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  const most = whole ? Number.POSITIVE_INFINITY : MAX_LINES;
  const [minus, plus] = pairedTexts(removed.slice(0, most), added.slice(0, most), whole);
  return [
    `line ${start + 1}`,
    ...minus,
    ...(removed.length > most ? [`- and ${counted(removed.length - most, 'more line')}`] : []),
    ...plus,
    ...(added.length > most ? [`+ and ${counted(added.length - most, 'more line')}`] : []),
  ];
}

/** Returns the removed and the added items, each so that it differs from the one at the same index. */
function pairedTexts(removed: readonly Json[], added: readonly Json[], whole: boolean) {
  const pairs = removed.slice(0, added.length).map((item, at) => differingTexts(item, added[at], whole));
  return [
    removed.map((item, at) => `- ${pairs[at]?.[0] ?? single(item, whole)}`),
    added.map((item, at) => `+ ${pairs[at]?.[1] ?? single(item, whole)}`),
  ] as const;
}

/** Returns the people whose role changes between two values of a field with the shape `people`, in order. */
export function changedPeople(from: Json | undefined, to: Json | undefined) {
  const [before, after] = [from, to].map((value) => (isObject(value) ? (value as Record<string, string>) : {}));
  const people = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].sort();
  return people
    .map((person) => ({ person, was: before?.[person], is: after?.[person] }))
    .filter(({ was, is }) => was !== is);
}

function peopleTexts(from: Json | undefined, to: Json | undefined): readonly string[] {
  return changedPeople(from, to).map(({ person, was, is }) => {
    if (is === undefined) {
      return `- ${printable(person)}`;
    }
    // A role before a change is what the platform answered.
    const role = printable(was === undefined ? is : `${was} → ${is}`);
    return `${was === undefined ? '+' : '~'} ${printable(person)} (${role})`;
  });
}

/** Returns the added and removed items; null if only their order or repetition differs. */
function listTexts(from: Json | undefined, to: Json | undefined, whole: boolean): readonly string[] | null {
  const before = Array.isArray(from) ? (from as Json[]) : [];
  const after = Array.isArray(to) ? (to as Json[]) : [];
  const [had, has] = [new Set(before.map(canonicalJson)), new Set(after.map(canonicalJson))];
  const added = after.filter((item) => !had.has(canonicalJson(item)));
  const removed = before.filter((item) => !has.has(canonicalJson(item)));
  if (added.length === 0 && removed.length === 0) {
    return null;
  }
  const [minus, plus] = pairedTexts(removed, added, whole);
  return [...plus, ...minus];
}

function leafLines(path: string, from: Json, to: Json, whole: boolean): readonly FieldLine[] {
  const before = new Map(leaves(path, from));
  const after = new Map(leaves(path, to));
  const changed = [...new Set([...before.keys(), ...after.keys()])]
    .sort()
    .filter((name) => !sameJson(before.get(name) ?? null, after.get(name) ?? null));
  const most = whole ? changed.length : MAX_LEAVES;
  const lines = changed
    .slice(0, most)
    .map((name) => pairLine(printable(name), before.get(name), after.get(name), whole));
  const more = changed.length - lines.length;
  return more > 0 ? [...lines, { name: path, text: `and ${more} more inside it` }] : lines;
}

function leaves(path: string, value: Json): readonly (readonly [string, Json])[] {
  if (isObject(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([name, member]) => leaves(`${path}.${name}`, (member ?? null) as Json));
  }
  return [[path, value]];
}
