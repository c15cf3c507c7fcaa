/** Files with tickets as bytes, as lines and as records. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { messageOf, SourceError } from '../../../core/errors.ts';
import { problemOfKey, type SourceRecord } from '../../model/ticket.ts';

/** One record of a file. */
export interface TicketRecord {
  /** Index, from 0. The same bytes and options always give the same records in the same order. */
  readonly index: number;
  readonly found: SourceRecord;
}

export interface ReadOptions {
  /** Account in keys: `file/ACCOUNT/ID`. Ids are unique in one account only. */
  readonly account: string;
  /** Names of columns of CSV that differ from the default: `{ ticket_id: 'Case No.' }`. */
  readonly columns?: Readonly<Record<string, string | undefined>>;
  /** Domains of the team, including their subdomains. */
  readonly teamDomains?: readonly string[];
  /** Largest record that is read, in bytes: a ticket or a mail. */
  readonly longest?: number;
}

/** Default of `longest`: longer than any real ticket, and a few of them fit into memory. */
export const MAX_LENGTH = 16 * 1024 * 1024;

/** Maximum length of the text in one deposit, in UTF-16 units: memory holds it several times. */
export const MAX_BATCH_SIZE = 512 * 1024;

/** Returns the length of a record's text, in UTF-16 units. */
export function sizeOf(found: SourceRecord): number {
  return found.kind === 'ticket' ? found.ticket.parts.reduce((size, { body }) => size + body.length, 0) : 0;
}

/** Creates a rejected record; `line` counts from 1. The reason never quotes the record. */
export function rejected(name: string, line: number, reason: string): SourceRecord {
  return { kind: 'rejected', place: `${name}:${line}`, reason };
}

/**
 * Adds the position to an empty record; `line` counts from 1. A record whose id is too long can never be sent, and is
 * rejected, so that the reject file lists it.
 */
export function placed(found: SourceRecord, name: string, line: number): SourceRecord {
  const problem = found.kind === 'ticket' ? problemOfKey(found.ticket.key) : null;
  if (problem !== null) {
    return rejected(name, line, problem);
  }
  return found.kind === 'skipped' && found.reason === 'empty' ? { ...found, place: `${name}:${line}` } : found;
}

/** Returns the position and reason for the reject file; null if the record is not listed there. */
export function rejectionOf({ found }: TicketRecord): { readonly line: number; readonly reason: string } | null {
  if (found.kind !== 'rejected' && (found.kind !== 'skipped' || found.place === undefined)) {
    return null;
  }
  const line = Number(/:(\d+)$/.exec(found.place ?? '')?.[1] ?? 1);
  return { line, reason: found.kind === 'rejected' ? found.reason : 'skipped: no part has any text' };
}

/** Formats a limit as `larger than 16 MiB`, or in bytes below 1 MiB. */
export function largerThan(bytes: number): string {
  return `is larger than ${bytes < 2 ** 20 ? `${bytes} bytes` : `${Math.floor(bytes / 2 ** 20)} MiB`}`;
}

/** A file whose bytes can be read several times and from any position. */
export interface FileInput {
  /** Name in places: `tickets.csv`. Its extension determines the format. */
  readonly name: string;
  /** Reads the bytes from `start` inclusive to `end` exclusive, by default all. Throws the errors of the file system. */
  open(range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>;
}

const CHUNK = 64 * 1024;
type Decoder = InstanceType<typeof TextDecoder>;

/** Creates an input for a local file without opening it. Reading fails once the signal aborts. */
export function fileInput(path: string, signal?: AbortSignal): FileInput {
  return {
    name: basename(path),
    open: (range) => readFileInput(path, signal, range),
  };
}

/** Code of the error for a path that is neither a file nor a directory. */
export const NOT_REGULAR = 'NOT_REGULAR';

/** Flags for opening a file without waiting for the writer of a FIFO and without acquiring a controlling terminal. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Reads regular files only: anything else could block forever. */
async function* readFileInput(
  path: string,
  signal: AbortSignal | undefined,
  range: { readonly start: number; readonly end: number } | undefined,
): AsyncGenerator<Uint8Array> {
  signal?.throwIfAborted();
  await using file = await open(path, FLAGS);
  const stats = await file.stat();
  if (!stats.isFile()) {
    const code = stats.isDirectory() ? 'EISDIR' : NOT_REGULAR;
    throw Object.assign(new Error('it is not a regular file'), { code, syscall: 'read' });
  }
  // A stream that is created with an aborted signal fails outside of the iteration.
  signal?.throwIfAborted();
  yield* file.createReadStream({
    highWaterMark: CHUNK,
    autoClose: false,
    ...(signal === undefined ? {} : { signal }),
    ...(range === undefined ? {} : { start: range.start, end: Math.max(range.start, range.end - 1) }),
  });
}

/** Awaits work with files. Throws SourceError, which says what failed, and why. */
export async function orSourceError<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new SourceError(`${what}: ${messageOf(error)}`, { cause: error });
  }
}

/** Returns the first bytes, at most `length`. */
export async function firstBytes(input: FileInput, length: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of input.open()) {
    pieces.push(piece);
    size += piece.length;
    if (size >= length) {
      break;
    }
  }
  return Buffer.concat(pieces).subarray(0, length);
}

/**
 * Converts to UTF-8 without a byte order mark. The mark identifies UTF-8 and UTF-16; without one, the text is UTF-8.
 */
export async function* asUtf8(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0);
  let decoder: Decoder | null = null;
  for await (const chunk of chunks) {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    if (head !== null) {
      bytes = Buffer.concat([head, bytes]);
      if (bytes.length < 3) {
        head = bytes;
        continue;
      }
      head = null;
      decoder = decoderOf(bytes);
      bytes = withoutMark(bytes);
    }
    yield decoder === null ? bytes : Buffer.from(decoder.decode(bytes, { stream: true }));
  }
  if (head !== null) {
    const whole = decoderOf(head);
    yield whole === null ? withoutMark(head) : Buffer.from(whole.decode(head));
  } else if (decoder !== null) {
    yield Buffer.from(decoder.decode());
  }
}

function decoderOf(bytes: Buffer): Decoder | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) {
    return new TextDecoder('utf-16le');
  }
  return bytes[0] === 0xfe && bytes[1] === 0xff ? new TextDecoder('utf-16be') : null;
}

/** Removes the byte order mark of UTF-8; the decoder of UTF-16 removes its own. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8; null if it is invalid. */
export function utf8Text(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

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
    yield [close(Buffer.alloc(0), position)];
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
