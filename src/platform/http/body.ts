import { pipeline } from 'node:stream';
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzipSync,
  inflateSync,
} from 'node:zlib';
import { type Dispatcher, errors } from 'undici';
import { NotThePlatformError, type TransientError } from '../../core/errors.ts';
import { networkError } from './network-error.ts';

/** Maximum size of a body in bytes: compressed, decompressed, or of a whole stream. */
export const MAX_BODY_SIZE = 64 * 1024 * 1024;

/** Reads a whole body as text, or returns the error that ended it. Throws the reason of the signal if it aborts. */
export async function readBody(
  answer: Dispatcher.ResponseData,
  origin: string,
  signal: AbortSignal,
): Promise<string | TransientError | NotThePlatformError> {
  if (answer.statusCode === 204 || answer.statusCode === 205) {
    // No body by definition. Some servers do not mark its end, and waiting for it would time out.
    answer.body.dump().catch(() => {});
    return '';
  }
  let bytes: Uint8Array;
  try {
    bytes = await answer.body.bytes();
  } catch (error) {
    if (signal.aborted) {
      throw signal.reason;
    }
    return readError(error, origin);
  }
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return decodeBody(body, String(answer.headers['content-encoding'] ?? '').toLowerCase(), origin, 'utf8');
}

/** Decompresses and decodes a whole body; `coding` is its content coding. Returns the error if it is damaged. */
export function decodeBody(
  bytes: Buffer,
  coding: string,
  origin: string,
  encoding: 'utf8' | 'latin1',
): string | NotThePlatformError {
  try {
    return unpack(bytes, coding).toString(encoding);
  } catch (error) {
    return cannotUnpack(error, origin);
  }
}

function unpack(bytes: Buffer, encoding: string): Buffer {
  const limits = { maxOutputLength: MAX_BODY_SIZE };
  if (bytes.length === 0) {
    return bytes;
  }
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(bytes, limits);
    case 'deflate':
      return inflateSync(bytes, limits);
    case 'br':
      return brotliDecompressSync(bytes, limits);
    default:
      return bytes;
  }
}

/** Returns the error for a body that could not be read completely. */
export function readError(error: unknown, origin: string): TransientError | NotThePlatformError {
  const tooLarge = error instanceof errors.ResponseExceededMaxSizeError;
  return tooLarge ? tooMuch(origin, error) : networkError(error, origin, true);
}

function tooMuch(origin: string, cause?: unknown): NotThePlatformError {
  return new NotThePlatformError(`${origin} answered with more than ${MAX_BODY_SIZE / 2 ** 20} MiB`, { cause });
}

function cannotUnpack(cause: unknown, origin: string): NotThePlatformError {
  return new NotThePlatformError(`${origin} answered with a body that cannot be decompressed`, { cause });
}

/** Reads a body as text, in chunks; see {@link HttpStream}. */
export async function* readChunks(
  answer: Dispatcher.ResponseData,
  origin: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let length = 0;
  try {
    for await (const bytes of unpacked(answer)) {
      length += bytes.length;
      if (length > MAX_BODY_SIZE) {
        throw tooMuch(origin);
      }
      yield decoder.decode(bytes, { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    if (signal.aborted) {
      throw signal.reason;
    }
    if (error instanceof NotThePlatformError) {
      throw error;
    }
    throw isUnpacking(error) ? cannotUnpack(error, origin) : readError(error, origin);
  }
}

function unpacked(answer: Dispatcher.ResponseData): AsyncIterable<Buffer> {
  const stream = unpacker(String(answer.headers['content-encoding'] ?? '').toLowerCase());
  // Errors are thrown when the last of the two is read.
  return stream === null ? answer.body : pipeline(answer.body, stream, () => {});
}

function unpacker(encoding: string) {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return null;
  }
}

function isUnpacking(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('Z_') || code.startsWith('ERR_BROTLI') || code.startsWith('ERR__ERROR');
}
