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

/** The largest body that is read, in bytes; packed, unpacked, or all of a stream. */
export const LARGEST_BODY = 64 * 1024 * 1024;

/** A whole body as text, or what cut it off. Throws the signal's reason when that aborts. */
export async function readBody(
  answer: Dispatcher.ResponseData,
  origin: string,
  signal: AbortSignal,
  encoding: 'utf8' | 'latin1' = 'utf8',
): Promise<string | TransientError | NotThePlatformError> {
  if (answer.statusCode === 204 || answer.statusCode === 205) {
    // No body by definition; some servers do not say where it ends, and waiting for that would end in a timeout.
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
  try {
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return unpack(body, String(answer.headers['content-encoding'] ?? '').toLowerCase()).toString(encoding);
  } catch (error) {
    return cannotUnpack(error, origin);
  }
}

function unpack(bytes: Buffer, encoding: string): Buffer {
  const limits = { maxOutputLength: LARGEST_BODY };
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

/** Why a body could not be read to its end. */
function readError(error: unknown, origin: string): TransientError | NotThePlatformError {
  const tooLarge = error instanceof errors.ResponseExceededMaxSizeError;
  return tooLarge ? tooMuch(origin, error) : networkError(error, origin, true);
}

function tooMuch(origin: string, cause?: unknown): NotThePlatformError {
  return new NotThePlatformError(`${origin} answered with more than ${LARGEST_BODY / 2 ** 20} MiB`, { cause });
}

function cannotUnpack(cause: unknown, origin: string): NotThePlatformError {
  return new NotThePlatformError(`${origin} answered with a body that cannot be unpacked`, { cause });
}

/** A body as text, piece by piece; see {@link HttpStream}. */
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
      if (length > LARGEST_BODY) {
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
  // Errors are thrown by whoever reads the last of the two.
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
