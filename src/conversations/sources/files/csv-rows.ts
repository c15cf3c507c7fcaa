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

const NOT_CLOSED = 'has a quote that is not closed';
const NOT_RFC = 'has quotes that are not as in RFC 4180';
/** Messages for the errors of the parser, whose own messages quote the row. */
const PROBLEMS = {
  CSV_QUOTE_NOT_CLOSED: NOT_CLOSED,
  CSV_MAX_RECORD_SIZE: NOT_CLOSED,
  CSV_INVALID_CLOSING_QUOTE: NOT_RFC,
  INVALID_OPENING_QUOTE: NOT_RFC,
} as const;
type Problem = keyof typeof PROBLEMS;

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
  const waiting = new WaitingLines(delimiter, longest, block);
  for await (const lines of linesOf(asUtf8(input.open()), longest)) {
    yield* waiting.push(lines);
  }
  yield* waiting.end();
}

/**
 * Collects lines and parses them in blocks of whole lines. A row that does not end in a block starts the next one. Each
 * block is a complete document for the parser, whose stream ends at the first error. Blocks are large, because starting
 * a parse costs as much as some hundred rows.
 */
class WaitingLines {
  readonly #delimiter: string;
  readonly #longest: number;
  readonly #block: number;
  #lines: Line[] = [];
  #size = 0;
  /** Size of the next block in bytes, doubled each time a row does not end in it. */
  #enough: number;

  constructor(delimiter: string, longest: number, block: number) {
    this.#delimiter = delimiter;
    this.#longest = longest;
    this.#block = block;
    this.#enough = block;
  }

  *push(lines: readonly Line[]): Generator<readonly Row[]> {
    for (const line of lines) {
      if (line.bytes === null) {
        yield* this.end();
        yield [{ line: line.number, problem: largerThan(this.#longest) }];
      } else {
        this.#lines.push(line);
        this.#size += sizeOf(line);
      }
    }
    while (this.#size >= this.#enough || this.#lines.length >= MAX_LINES) {
      yield this.#next(false);
    }
  }

  /** Yields the last rows. A row that is still open at the end is rejected. */
  *end(): Generator<readonly Row[]> {
    while (this.#lines.length > 0) {
      yield this.#next(true);
    }
  }

  #next(isEnd: boolean): readonly Row[] {
    const lines = this.#nextLines();
    const isAll = lines.length === MAX_LINES || (isEnd && lines.length === this.#lines.length);
    const { rows, done } = new Block(lines, this.#delimiter, this.#longest).read();
    const open = lines[done];
    if (open !== undefined && done === 0 && isAll) {
      rows.push({ line: open.number, problem: NOT_CLOSED });
      this.#drop(1);
    } else {
      this.#drop(done);
    }
    return rows;
  }

  #nextLines(): readonly Line[] {
    let size = 0;
    let count = 0;
    for (; size < this.#enough && count < Math.min(MAX_LINES, this.#lines.length); count++) {
      size += sizeOf(this.#lines[count] as Line);
    }
    return this.#lines.slice(0, count);
  }

  #drop(count: number): void {
    for (const line of this.#lines.splice(0, count)) {
      this.#size -= sizeOf(line);
    }
    this.#enough = count === 0 ? this.#enough * 2 : this.#block;
  }
}

/** Returns the size with the newline. */
function sizeOf({ bytes }: Line): number {
  return (bytes?.length ?? 0) + 1;
}

/** A block of whole lines for the parser. */
class Block {
  readonly #lines: readonly Line[];
  readonly #delimiter: string;
  readonly #longest: number;
  readonly #bytes: Buffer;
  readonly #isText: boolean;
  readonly #rows: Row[] = [];
  /** Lines that were read, and the position of the next one. */
  #done = 0;
  #at = 0;

  constructor(lines: readonly Line[], delimiter: string, longest: number) {
    this.#lines = lines;
    this.#delimiter = delimiter;
    this.#longest = longest;
    this.#bytes = joined(lines);
    this.#isText = isUtf8(this.#bytes);
  }

  /** Returns the rows and their number of lines, which is smaller than that of the block if the last row is incomplete. */
  read(): { readonly rows: Row[]; readonly done: number } {
    for (let code = this.#parse(); code !== null && code !== 'CSV_QUOTE_NOT_CLOSED'; code = this.#parse()) {
      this.#rows.push({ line: this.#lineNumber(), problem: PROBLEMS[code] });
      this.#skipTo(this.#at + 1);
    }
    return { rows: this.#rows, done: this.#done };
  }

  /** Parses to the end, or to the first row with an error, which it returns. */
  #parse(): Problem | null {
    const start = this.#at;
    try {
      parse(this.#bytes.subarray(start), {
        delimiter: this.#delimiter,
        record_delimiter: '\n',
        relax_column_count: true,
        max_record_size: this.#longest,
        on_record: (fields: string[], { bytes }) => this.#take(fields, start + bytes),
      });
      return null;
    } catch (error) {
      if (error instanceof CsvError && error.code in PROBLEMS) {
        return error.code as Problem;
      }
      throw error;
    }
  }

  #take(fields: readonly string[], end: number): null {
    const line = this.#lineNumber();
    const start = this.#at;
    this.#skipTo(end);
    if (!(this.#isText || isUtf8(this.#bytes.subarray(start, end)))) {
      this.#rows.push({ line, problem: 'is not UTF-8' });
    } else if (fields.some((field) => field.trim() !== '')) {
      this.#rows.push({ line, fields });
    }
    return null;
  }

  #lineNumber(): number {
    return this.#lines[this.#done]?.number ?? 0;
  }

  /** Counts lines, because the parser also counts a single carriage return. */
  #skipTo(end: number): void {
    for (; this.#at < end; this.#done++) {
      this.#at += sizeOf(this.#lines[this.#done] as Line);
    }
  }
}

function joined(lines: readonly Line[]): Buffer {
  const all = Buffer.alloc(
    lines.reduce((size, line) => size + sizeOf(line), 0),
    '\n',
  );
  let at = 0;
  for (const line of lines) {
    line.bytes?.copy(all, at);
    at += sizeOf(line);
  }
  return all;
}
