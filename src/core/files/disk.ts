/** Regular files and directories on disk. */
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Default limit on files that are read into memory, in bytes. */
export const MAX_FILE_BYTES = 64 * 1_048_576;

interface ReadLimits {
  /** Bytes. */
  readonly limit: number;
  /**
   * Path of the file without symbolic links. The file is refused if it is a link, or if what was opened is elsewhere. By
   * default, links are followed.
   */
  readonly expected?: string;
}

/** Opening a FIFO does not wait for a writer, and a terminal does not become the controlling one. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * Reads a regular file. Throws an Error if it is something else (a FIFO, a device, a socket, a directory), larger than
 * the limit, or not readable.
 */
export function readRegularFile(path: string, { limit, expected }: ReadLimits): Buffer {
  // Also checked before opening, because opening a device can have side effects.
  mustBeRegular(statSync(path), limit);
  const file = openSync(path, expected === undefined ? FLAGS : FLAGS | (constants.O_NOFOLLOW ?? 0));
  try {
    const stats = fstatSync(file);
    mustBeRegular(stats, limit);
    if (expected !== undefined && pathOf(file, path) !== expected) {
      throw new Error('it was moved while it was opened; try again');
    }
    return readUpTo(file, stats.size, limit);
  } finally {
    closeSync(file);
  }
}

/** Returns the current path of an open file: from the kernel on Linux, otherwise by resolving the path again. */
function pathOf(file: number, path: string): string {
  return process.platform === 'linux' ? readlinkSync(`/proc/self/fd/${file}`) : realpathSync.native(path);
}

/** Reads at most `limit` bytes; `size` is an estimate, which is 0 for generated files (`/proc`). */
function readUpTo(file: number, size: number, limit: number): Buffer {
  let buffer = Buffer.allocUnsafe(Math.min(size, limit) + 1);
  let length = 0;
  for (;;) {
    const read = readSync(file, buffer, length, buffer.length - length, null);
    length += read;
    if (read === 0) {
      return buffer.subarray(0, length);
    }
    if (length > limit) {
      throw tooLarge(length, limit);
    }
    if (length === buffer.length) {
      buffer = Buffer.concat([buffer, Buffer.allocUnsafe(Math.max(65_536, length))]);
    }
  }
}

function mustBeRegular(stats: Stats, limit: number): void {
  const type = stats.isDirectory() ? 'a directory' : irregularType(stats);
  if (type !== null) {
    throw new Error(`it is ${type}, not a regular file`);
  }
  if (stats.size > limit) {
    throw tooLarge(stats.size, limit);
  }
}

/** Returns what something is that is neither a file nor a directory: "a FIFO". Returns null for those. */
export function irregularType(stats: Stats): string | null {
  if (stats.isFile() || stats.isDirectory()) {
    return null;
  }
  if (stats.isFIFO()) {
    return 'a FIFO';
  }
  return stats.isSocket() ? 'a socket' : 'a device';
}

/** Formats a size, rounded up so that a size above a limit is never shown as equal to the limit. */
export function megabytes(bytes: number): string {
  return `${Math.ceil((bytes / 1_048_576) * 10) / 10} MB`;
}

function tooLarge(size: number, limit: number): Error {
  return new Error(`it is ${megabytes(size)}; at most ${megabytes(limit)} are read`);
}

/**
 * Creates a directory and its missing parents, with this mode. Throws the error of the file system. The recursive mkdir
 * of Node never ends where nothing can be created but creation answers "does not exist", such as in /proc.
 */
export function makeDirectory(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isDirectory(at); at = dirname(at)) {
    missing.push(at);
  }
  for (const each of missing.reverse()) {
    try {
      mkdirSync(each, { mode });
    } catch (error) {
      // Another process may have created it.
      if (!isDirectory(each)) {
        throw error;
      }
    }
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
