// Scan of one text: settles overlaps between findings and replaces what remains.

import { largest } from '../../core/lists.ts';
import { type Finder, type PrivateValue, replaceSpans, settle } from './model/found.ts';
import { type Reading, readingOf } from './model/reading.ts';

/** Finders and allow list of a scan. */
export interface Scan {
  /** In order of precedence: the first finder determines the type of a value. */
  readonly finders: readonly Finder[];
  /** Also finds values in the text as written, where a view would break lines: files in a ticket. */
  readonly asWritten: (text: string) => readonly PrivateValue[];
  readonly isAllowed: (found: PrivateValue) => boolean;
}

/** Maximum number of rounds. Each reads only the lines around new values, for what shows after their redaction. */
const ROUNDS = 6;

/** Number of lines before and after a change that are scanned again: a label may be before it, or the headings of a table. */
const LINES_AROUND = 4;
/** Maximum length that is scanned again on each side, in characters. */
const REACH = 600;

/** Returns the values to redact in a text, by position and without overlaps. */
export function scanText(reading: Reading, scan: Scan): readonly PrivateValue[] {
  const found = scanStretch(reading, scan);
  return scanAround(reading.written, found, found, scan);
}

/**
 * Adds the values that show once others are removed: the lines around each fresh value are scanned until nothing more is
 * found, so that redaction is idempotent. `found`: all values of the text, by position.
 */
export function scanAround(
  text: string,
  found: readonly PrivateValue[],
  fresh: readonly PrivateValue[],
  scan: Scan,
): readonly PrivateValue[] {
  let spans = found;
  let last = fresh;
  for (let round = 1; round < ROUNDS && last.length > 0; round += 1) {
    const draft = draftOf(text, spans);
    last = linesAround(
      draft.text,
      last.map(({ start, end }) => [draft.at(start), draft.at(end)]),
    ).flatMap(([from, to]) =>
      scanPart(draft.text, from, to, scan).map((each) => ({
        ...each,
        start: draft.origin(each.start),
        end: draft.origin(each.end - 1) + 1,
      })),
    );
    spans = last.length === 0 ? spans : [...spans, ...last].sort((a, b) => a.start - b.start);
  }
  return spans;
}

/** Scans a part of a text. Its first and last line are context only, unless the text starts or ends there. */
function scanPart(text: string, from: number, to: number, scan: Scan): readonly PrivateValue[] {
  const first = from > 0 && text[from] === '\n' ? text.indexOf('\n', from + 1) : -1;
  const last = text[to] === '\n' ? text.lastIndexOf('\n', to - 1) : to;
  return scanStretch(readingOf(text.slice(from, to)), scan)
    .map((found) => ({ ...found, start: from + found.start, end: from + found.end }))
    .filter(({ start, end }) => start > first && end <= last);
}

function scanStretch(reading: Reading, { finders, asWritten, isAllowed }: Scan): readonly PrivateValue[] {
  const { written, text } = reading;
  const all: PrivateValue[] = [];
  for (const find of finders) {
    for (const found of find(reading)) {
      all.push(found.rule === undefined ? { ...found, rule: nameOf(find, found) } : found);
    }
  }
  const allowed = all.filter((found) => isAllowed(found));
  const wanted = allowed.length === 0 ? all : all.filter((found) => !isAllowed(found));
  const seen = settle(wanted, allowed, text).map((found) => ({ ...found, ...reading.place(found.start, found.end) }));
  const inFiles = asWritten(written);
  return inFiles.length === 0 ? seen : settle([...inFiles, ...seen], [], written);
}

/** Returns the name of a finder in words: `national ids` for `findNationalIds`; its type if it has none. */
function nameOf(find: Finder, { type }: PrivateValue): string {
  const [, name = type] = /^find([A-Z]\w+)$/.exec(find.name) ?? [];
  return name.replaceAll(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

type LineRange = readonly [from: number, to: number];

/** Returns the lines around spans, merged and by position. */
function linesAround(text: string, places: readonly LineRange[]): readonly LineRange[] {
  const ranges: [number, number][] = [];
  for (const [start, end] of places) {
    const last = ranges.at(-1);
    const from = lineStart(text, start);
    const to = lineEnd(text, end);
    if (last !== undefined && from <= last[1]) {
      last[1] = Math.max(last[1], to);
    } else {
      ranges.push([from, to]);
    }
  }
  return ranges;
}

/** Characters between values. */
const SIGNS = [' ', ',', ';', '"'] as const;

/** Searches no further than `REACH`, and as far again for the end of a word: a text of one line is long. */
function lineStart(text: string, place: number): number {
  const from = Math.max(0, place - REACH);
  let at = place;
  for (let line = 0; line <= LINES_AROUND && at > 0; line += 1) {
    const before = text.slice(from, at).lastIndexOf('\n');
    if (before < 0) {
      const first = Math.max(0, from - REACH);
      const piece = text.slice(first, from + 1);
      return from === 0
        ? 0
        : first +
            largest(
              SIGNS.map((sign) => piece.lastIndexOf(sign)),
              -1,
            ) +
            1;
    }
    at = from + before;
  }
  return at;
}

function lineEnd(text: string, place: number): number {
  const to = Math.min(text.length, place + REACH);
  let at = place;
  for (let line = 0; line <= LINES_AROUND && at < text.length; line += 1) {
    const next = text.slice(at + 1, to).indexOf('\n');
    if (next < 0) {
      const piece = text.slice(to, to + REACH);
      const ends = SIGNS.map((sign) => piece.indexOf(sign)).filter((end) => end >= 0);
      return to + ends.reduce((first, end) => Math.min(first, end), piece.length);
    }
    at += 1 + next;
  }
  return at;
}

/** Replaces the spans of a text with one placeholder per type, and maps positions between both texts. */
function draftOf(
  text: string,
  spans: readonly PrivateValue[],
): { readonly text: string; origin(at: number): number; at(origin: number): number } {
  const drafted = replaceSpans(text, spans, ({ label }) => `[${label}_1]`);
  const starts: { readonly draft: number; readonly origin: number }[] = [{ draft: 0, origin: 0 }];
  let shift = 0;
  for (const { start, end, label } of spans) {
    shift += label.length + 4 - (end - start);
    starts.push({ draft: end + shift, origin: end });
  }
  const pieceAt = (place: number, side: 'draft' | 'origin') => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle]?.[side] ?? 0) <= place) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return starts[low] ?? { draft: 0, origin: 0 };
  };
  return {
    text: drafted,
    origin(at) {
      const piece = pieceAt(at, 'draft');
      return piece.origin + at - piece.draft;
    },
    at(origin) {
      const piece = pieceAt(origin, 'origin');
      return Math.min(drafted.length, piece.draft + origin - piece.origin);
    },
  };
}
