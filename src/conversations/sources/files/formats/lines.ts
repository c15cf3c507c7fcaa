/** A line of a file, without its end. */
export interface Line {
  /** Number, from 1. */
  readonly number: number;
  /** Start in bytes. */
  readonly start: number;
  /** Start of the next line, in bytes. */
  readonly end: number;
  /** Null if the line is longer than the limit. */
  readonly bytes: Buffer | null;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;

/** Yields the lines of a file, one array per chunk. A line longer than `longest` bytes is not kept. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, longest: number): AsyncGenerator<readonly Line[]> {
  let number = 1;
  let start = 0;
  let position = 0;
  let held: Buffer[] = [];
  let size = 0;
  const close = (rest: Buffer, end: number): Line => {
    const isLong = size + rest.length > longest;
    const bytes = isLong ? null : withoutReturn(held.length === 0 ? rest : Buffer.concat([...held, rest]));
    const line = { number, start, end, bytes };
    held = [];
    size = 0;
    number += 1;
    start = end;
    return line;
  };
  for await (const bytes of withLineFeeds(chunks)) {
    const lines: Line[] = [];
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      lines.push(close(bytes.subarray(from, at), position + at + 1));
      from = at + 1;
    }
    const rest = bytes.subarray(from);
    size += rest.length;
    if (size > longest) {
      held = [];
    } else if (rest.length > 0) {
      held.push(rest);
    }
    position += bytes.length;
    if (lines.length > 0) {
      yield lines;
    }
  }
  if (position > start) {
    const total = size;
    size = 0;
    yield [total > longest ? { number, start, end: position, bytes: null } : close(Buffer.alloc(0), position)];
  }
}

/**
 * Converts single carriage returns to line feeds if the first line ends with one outside quotes, as in files of Excel for
 * Mac. Positions stay the same.
 */
async function* withLineFeeds(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let isReturn: boolean | null = null;
  let isQuoted = false;
  let isAfterReturn = false;
  /** Chunks that are kept until it is decided. */
  let held: Buffer[] = [];
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    for (let at = 0; isReturn === null && at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        isQuoted = !isQuoted;
      }
      if (byte !== RETURN && (isAfterReturn || (byte === NEWLINE && !isQuoted))) {
        isReturn = byte !== NEWLINE;
      }
      isAfterReturn = byte === RETURN && (isAfterReturn || !isQuoted);
    }
    held.push(bytes);
    if (isReturn !== null || !isAfterReturn) {
      yield* isReturn === true ? held.map(lineFeeds) : held;
      held = [];
    }
  }
  yield* held.map(lineFeeds);
}

function lineFeeds(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => (byte === RETURN ? NEWLINE : byte)));
}

function withoutReturn(bytes: Buffer): Buffer {
  return bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes;
}
