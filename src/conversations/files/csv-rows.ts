import { asUtf8, type FileInput, utf8Text } from './input.ts';
import { type Line, linesOf } from './lines.ts';
import { largerThan } from './record.ts';

/** A row, or why there is none; `line` is the one it begins on, from 1. */
export type Row =
  | { readonly line: number; readonly fields: readonly string[] }
  | { readonly line: number; readonly problem: string };

const QUOTE = 0x22;
/** As many lines as one row may have: a quote that is never closed costs one row, and not the rest of the file. */
const MOST_LINES = 10_000;

/**
 * The rows of CSV (RFC 4180), in order, the first line's included. A row that cannot be read is told, and reading goes
 * on with the line behind the one it began on.
 */
export async function* rowsOf(input: FileInput, delimiter: string, longest: number): AsyncGenerator<Row> {
  const waiting = new RowQueue(delimiter, longest);
  for await (const lines of linesOf(asUtf8(input.open()), longest)) {
    yield* waiting.push(lines);
  }
  yield* waiting.end();
}

/** Lines become rows here: one with an open quote waits for the line that closes it. */
class RowQueue {
  readonly #delimiter: string;
  readonly #longest: number;
  #open: Line[] = [];
  #size = 0;

  constructor(delimiter: string, longest: number) {
    this.#delimiter = delimiter;
    this.#longest = longest;
  }

  *push(lines: readonly Line[]): Generator<Row> {
    // What is taken back is looked at before what comes next; the list is reversed, so that its end is its head.
    const todo = lines.toReversed();
    for (let line = todo.pop(); line !== undefined; line = todo.pop()) {
      const row = this.#take(line);
      if (row !== null) {
        todo.push(...row.back.toReversed());
        yield* row.rows;
      }
    }
  }

  /** What is still open at the end was never closed. */
  *end(): Generator<Row> {
    while (this.#open.length > 0) {
      const [first, ...rest] = this.#clear();
      if (first !== undefined) {
        yield this.#unclosed(first);
        yield* this.push(rest);
      }
    }
  }

  #clear(): Line[] {
    const lines = this.#open;
    this.#open = [];
    this.#size = 0;
    return lines;
  }

  #unclosed(first: Line): Row {
    return { line: first.number, problem: 'has a quote that is not closed' };
  }

  #take(line: Line): { readonly rows: readonly Row[]; readonly back: readonly Line[] } | null {
    const size = line.bytes?.length ?? this.#longest + 1;
    if (size > this.#longest && this.#open.length === 0) {
      return { rows: [{ line: line.number, problem: largerThan(this.#longest) }], back: [] };
    }
    if (this.#open.length > 0 && (this.#size + size > this.#longest || this.#open.length >= MOST_LINES)) {
      const [first, ...rest] = this.#clear();
      return first === undefined ? null : { rows: [this.#unclosed(first)], back: [...rest, line] };
    }
    const closes = hasOddQuotes(line.bytes as Buffer);
    this.#size += size;
    this.#open.push(line);
    const isWhole = this.#open.length === 1 ? !closes : closes;
    return isWhole ? this.#rowOf(this.#clear()) : null;
  }

  #rowOf(lines: readonly Line[]): { readonly rows: readonly Row[]; readonly back: readonly Line[] } {
    const [first, ...rest] = lines as [Line, ...Line[]];
    const bytes = Buffer.concat(lines.flatMap(({ bytes }) => [bytes as Buffer, Buffer.from('\n')]));
    const text = utf8Text(bytes.subarray(0, -1));
    if (text === null && rest.length === 0) {
      return { rows: [{ line: first.number, problem: 'is not UTF-8' }], back: [] };
    }
    if (text?.trim() === '') {
      return { rows: [], back: [] };
    }
    const fields = text === null ? null : fieldsOf(text, this.#delimiter);
    if (fields !== null) {
      return { rows: [{ line: first.number, fields }], back: [] };
    }
    const problem = `${text === null ? 'is not UTF-8, or ' : ''}has quotes that are not as in RFC 4180`;
    return { rows: [{ line: first.number, problem }], back: rest };
  }
}

function hasOddQuotes(bytes: Buffer): boolean {
  let count = 0;
  for (let at = bytes.indexOf(QUOTE); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    count += 1;
  }
  return count % 2 === 1;
}

/**
 * The fields of one row; null where its quotes are not as in RFC 4180. It has to be told apart from other rows before,
 * so that a broken one costs no other; what is left of the work is this, at a hundred times the pace of csv-parse, which
 * the tests hold it against.
 */
export function fieldsOf(text: string, delimiter: string): readonly string[] | null {
  const fields: string[] = [];
  for (let at = 0; ; at += delimiter.length) {
    const field = text[at] === '"' ? quotedAt(text, at) : plainAt(text, at, delimiter);
    if (field === null) {
      return null;
    }
    fields.push(field.value);
    at = field.end;
    if (at === text.length) {
      return fields;
    }
    if (!text.startsWith(delimiter, at)) {
      return null;
    }
  }
}

function plainAt(text: string, at: number, delimiter: string): { value: string; end: number } | null {
  const next = text.indexOf(delimiter, at);
  const end = next < 0 ? text.length : next;
  const value = text.slice(at, end);
  return value.includes('"') || value.includes('\n') ? null : { value, end };
}

function quotedAt(text: string, at: number): { value: string; end: number } | null {
  const pieces: string[] = [];
  for (let from = at + 1; ; ) {
    const end = text.indexOf('"', from);
    if (end < 0) {
      return null;
    }
    if (text[end + 1] !== '"') {
      pieces.push(text.slice(from, end));
      return { value: pieces.join(''), end: end + 1 };
    }
    pieces.push(text.slice(from, end + 1));
    from = end + 2;
  }
}
