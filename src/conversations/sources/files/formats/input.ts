import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';

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
export async function* asUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
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
