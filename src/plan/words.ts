import type { FieldChange } from '../core/change.ts';
import { isObject, type Json, sameJson } from '../core/json.ts';

/** Longest value that is written out in full, in characters. */
const LONGEST = 72;
/** Most leaves of one object that are listed one by one. */
const LEAVES = 6;

/** One line of a changed field: what it is, and how it changes. */
export interface FieldLine {
  readonly name: string;
  readonly text: string;
}

/**
 * Characters that nobody sees, so that two names that differ would look the same (Unicode, Default_Ignorable_Code_Point),
 * without those that make letters and pictures: selectors of a variant, and joiners but between ASCII.
 */
const UNSEEN =
  /(?!\u034f|\u200c|\u200d|[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}])\p{DI}|(?<=[!-~])(?:\u200c|\u200d)(?=[!-~])/gu;

/**
 * Text that cannot move the cursor, change colours, turn the reading direction or speak to the program that reads a CI
 * job's output (`##[…]` of runners, `##vso[…]`, `##teamcity[…]`): what a manifest or the platform says is shown, never
 * obeyed.
 */
export function printable(text: string): string {
  return text
    .replace(UNSEEN, writtenOut)
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u202a-\u202e\u2066-\u2069\u200e\u200f\ufeff]/gu, writtenOut)
    .replace(/##(?=\w*\[)/g, `#${writtenOut('#')}`);
}

/**
 * Lines of which each is printable, and none is a workflow command: those begin with `::`, whatever spaces are before
 * it.
 */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).map(noCommand).join('\n');
}

/** A line that no runner takes for a workflow command. */
export function noCommand(line: string): string {
  return line.replace(/^(\s*):(?=:)/, `$1${writtenOut(':')}`);
}

function writtenOut(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16).padStart(4, '0');
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`;
}

/** A value as a plan shows it: short, on one line, and inert. */
export function valueWords(value: Json | undefined): string {
  if (value === undefined || value === null) {
    return 'none';
  }
  if (typeof value === 'string') {
    const lines = value.split('\n').length;
    const first = lines > 1 ? `${value.split('\n')[0] ?? ''}…` : value;
    const shown = shorten(printable(first));
    const quote = shown.includes('"') && !shown.includes("'") ? "'" : '"';
    return `${quote}${shown}${quote}${lines > 1 ? ` (${lines} lines)` : ''}`;
  }
  return shorten(printable(isObject(value) || Array.isArray(value) ? plainJson(value) : String(value)));
}

function plainJson(value: Json): string {
  if (isObject(value) && typeof value.sha256 === 'string') {
    return `${String(value.file)} (sha256 ${value.sha256.slice(0, 7)})`;
  }
  return JSON.stringify(value);
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= LONGEST ? text : `${characters.slice(0, LONGEST - 1).join('')}…`;
}

/** How one field changes, in as many lines as that needs. */
export function fieldLines(change: FieldChange): readonly FieldLine[] {
  const { path, from, to } = change;
  if (path === 'members') {
    return [{ name: path, text: peopleWords(from, to) }];
  }
  if (Array.isArray(from ?? to) && Array.isArray(to ?? from)) {
    return [{ name: path, text: listWords(from, to) }];
  }
  if (isObject(from) && isObject(to) && typeof to.sha256 !== 'string') {
    return leafLines(path, from as Json, to as Json);
  }
  return [{ name: path, text: from === undefined ? valueWords(to) : `${valueWords(from)} → ${valueWords(to)}` }];
}

function peopleWords(from: Json | undefined, to: Json | undefined): string {
  const before = isObject(from) ? from : {};
  const after = isObject(to) ? to : {};
  const words: string[] = [];
  for (const person of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
    const [was, is] = [before[person], after[person]];
    if (was === undefined) {
      words.push(`+ ${printable(person)} (${String(is)})`);
    } else if (is === undefined) {
      words.push(`- ${printable(person)}`);
    } else if (was !== is) {
      words.push(`~ ${printable(person)} (${String(was)} → ${String(is)})`);
    }
  }
  return words.join('  ');
}

function listWords(from: Json | undefined, to: Json | undefined): string {
  const before = Array.isArray(from) ? (from as Json[]) : [];
  const after = Array.isArray(to) ? (to as Json[]) : [];
  const added = after.filter((item) => !before.some((other) => sameJson(item, other)));
  const gone = before.filter((item) => !after.some((other) => sameJson(item, other)));
  return [...added.map((item) => `+ ${valueWords(item)}`), ...gone.map((item) => `- ${valueWords(item)}`)].join('  ');
}

function leafLines(path: string, from: Json, to: Json): readonly FieldLine[] {
  const before = new Map(leaves(path, from));
  const after = new Map(leaves(path, to));
  const lines: FieldLine[] = [];
  for (const name of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [was, is] = [before.get(name), after.get(name)];
    if (!sameJson(was, is)) {
      lines.push({ name: printable(name), text: `${valueWords(was)} → ${valueWords(is)}` });
    }
  }
  const more = lines.length - LEAVES;
  return more > 0 ? [...lines.slice(0, LEAVES), { name: path, text: `and ${more} more inside it` }] : lines;
}

function leaves(path: string, value: Json): readonly (readonly [string, Json])[] {
  if (isObject(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([name, member]) => leaves(`${path}.${name}`, (member ?? null) as Json));
  }
  return [[path, value]];
}

/** A number with the word it counts: `1 change`, `2 changes`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** A time in words: `under 1 s`, `about 40 s`, `about 12 min`, `about 3.5 h`. */
export function durationWords(seconds: number): string {
  if (seconds < 1) {
    return 'under 1 s';
  }
  if (seconds < 120) {
    return `about ${Math.round(seconds)} s`;
  }
  if (seconds < 7200) {
    return `about ${Math.round(seconds / 60)} min`;
  }
  return `about ${(seconds / 3600).toFixed(1)} h`;
}
