import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';

/** Where the bytes of a file come from; may be read more than once, from anywhere. */
export interface FileInput {
  /** What places name: `tickets.csv`. Its end says what format it is in. */
  readonly name: string;
  /** The bytes from `start` up to and without `end`; all of them by default. Fails as the file system does. */
  open(range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>;
}

const CHUNK = 64 * 1024;
type Decoder = InstanceType<typeof TextDecoder>;

/** A file on this machine. Nothing is opened yet. Reading it fails once the signal aborts, wherever it is. */
export function fileInput(path: string, signal?: AbortSignal): FileInput {
  return {
    name: basename(path),
    open: (range) => readFileInput(path, signal, range),
  };
}

/** The code of the error for what is neither a file nor a folder. */
export const NOT_REGULAR = 'NOT_REGULAR';

/** A FIFO has no reader to wait for, and a terminal is not adopted. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Only regular files are read: anything else could keep its reader waiting for ever. */
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
  yield* file.createReadStream({
    highWaterMark: CHUNK,
    autoClose: false,
    ...(signal === undefined ? {} : { signal }),
    ...(range === undefined ? {} : { start: range.start, end: Math.max(range.start, range.end - 1) }),
  });
}

/** The first bytes, `length` at most. */
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

/** The same text as UTF-8 with no byte order mark: a mark says whether it was UTF-8 or UTF-16; without one it is UTF-8. */
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

/** The decoder of UTF-16 takes its own mark away. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of UTF-8; null where it is none. */
export function utf8Text(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}
