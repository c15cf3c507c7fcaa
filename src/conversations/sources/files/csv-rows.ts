/** Rows of CSV (RFC 4180), read in blocks, with an error for each invalid row. */
import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';
import { asUtf8, type FileInput, type Line, largerThan, linesOf } from './input.ts';

/** A row or its error; `line` is the number of its first line, from 1. */
export type Row =
  | { readonly line: number; readonly fields: readonly string[] }
  | { readonly line: number; readonly problem: string };

/** Maximum number of lines in one row. An unclosed quote costs one row, not the rest of the file. */
const MAX_LINES = 10_000;
/** Number of bytes that are parsed at once, unless a row is longer. */
const BLOCK = 256 * 1024;

const NEWLINE = Buffer.from('\n');
const NOT_CLOSED = 'has a quote that is not closed';
const NOT_RFC = 'has quotes that are not as in RFC 4180';
/** Messages for the errors of the parser, whose own messages quote the row. */
const PROBLEMS = {
  CSV_QUOTE_NOT_CLOSED: NOT_CLOSED,
  CSV_MAX_RECORD_SIZE: NOT_CLOSED,
  CSV_INVALID_CLOSING_QUOTE: NOT_RFC,
  INVALID_OPENING_QUOTE: NOT_RFC,
} as const;

/**
 * Yields the rows of CSV (RFC 4180) in order, including the first line, in blocks as they were parsed; empty rows are
 * omitted. After an invalid row, reading continues with the line after its first one. `longest` and `block` are in
 * bytes; `block` only affects the speed.
 */
export async function* rowsOf(
  input: FileInput,
  delimiter: string,
  longest: number,
  block = BLOCK,
): AsyncGenerator<readonly Row[]> {
  const waiting: Waiting = { lines: [], size: 0, enough: block };
  for await (const lines of linesOf(asUtf8(input.open()), longest)) {
    for (const line of lines) {
      if (line.bytes === null) {
        yield* drain(true);
        yield [{ line: line.number, problem: largerThan(longest) }];
      } else {
        waiting.lines.push(line);
        waiting.size += sizeOf(line);
      }
    }
    yield* drain(false);
  }
  yield* drain(true);

  /** Parses full blocks; `isEnd`: all lines. A row that is still open at the end is rejected. */
  function* drain(isEnd: boolean): Generator<readonly Row[]> {
    while (waiting.size >= waiting.enough || waiting.lines.length >= (isEnd ? 1 : MAX_LINES)) {
      const lines = nextBlock(waiting);
      const isAll = lines.length === MAX_LINES || (isEnd && lines.length === waiting.lines.length);
      const { rows, done } = parseBlock(lines, delimiter, longest);
      const [open] = lines;
      const isOpen = open !== undefined && done === 0 && isAll;
      const count = isOpen ? 1 : done;
      for (const line of waiting.lines.splice(0, count)) {
        waiting.size -= sizeOf(line);
      }
      waiting.enough = count === 0 ? waiting.enough * 2 : block;
      yield isOpen ? [...rows, { line: open.number, problem: NOT_CLOSED }] : rows;
    }
  }
}

/**
 * Lines that are parsed in blocks of whole lines. A row that does not end in a block starts the next one. Each block is a
 * complete document for the parser, whose stream ends at the first error. Blocks are large, because starting a parse
 * costs as much as some hundred rows.
 */
interface Waiting {
  readonly lines: Line[];
  size: number;
  /** Size of the next block in bytes, doubled each time a row does not end in it. */
  enough: number;
}

function nextBlock({ lines, enough }: Waiting): readonly Line[] {
  let size = 0;
  let count = 0;
  for (; size < enough && count < Math.min(MAX_LINES, lines.length); count++) {
    size += sizeOf(lines[count] as Line);
  }
  return lines.slice(0, count);
}

/** Returns the size with the newline. */
function sizeOf({ bytes }: Line): number {
  return (bytes?.length ?? 0) + 1;
}

/**
 * Parses a block. Returns its rows and their number of lines, which is smaller than that of the block if the last row is
 * incomplete.
 */
function parseBlock(lines: readonly Line[], delimiter: string, longest: number) {
  const bytes = Buffer.concat(lines.flatMap((line) => (line.bytes === null ? [] : [line.bytes, NEWLINE])));
  const isText = isUtf8(bytes);
  const rows: Row[] = [];
  /** Lines that were read, and the position of the next one. */
  let done = 0;
  let at = 0;
  const lineNumber = () => lines[done]?.number ?? 0;
  // Counts lines, because the parser also counts a single carriage return.
  const skipTo = (end: number) => {
    for (; at < end; done++) {
      at += sizeOf(lines[done] as Line);
    }
  };
  const take = (fields: readonly string[], end: number) => {
    const line = lineNumber();
    const start = at;
    skipTo(end);
    if (!(isText || isUtf8(bytes.subarray(start, end)))) {
      rows.push({ line, problem: 'is not UTF-8' });
    } else if (fields.some((field) => field.trim() !== '')) {
      rows.push({ line, fields });
    }
    return null;
  };
  for (;;) {
    const start = at;
    try {
      parse(bytes.subarray(start), {
        delimiter,
        record_delimiter: '\n',
        relax_column_count: true,
        max_record_size: longest,
        on_record: (fields: string[], { bytes: read }) => take(fields, start + read),
      });
      return { rows, done };
    } catch (error) {
      if (!(error instanceof CsvError && error.code in PROBLEMS)) {
        throw error;
      }
      if (error.code === 'CSV_QUOTE_NOT_CLOSED') {
        return { rows, done };
      }
      rows.push({ line: lineNumber(), problem: PROBLEMS[error.code as keyof typeof PROBLEMS] });
      skipTo(at + 1);
    }
  }
}
