/** Reads files by path without blocking: only regular files, and never more than a limit. */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';

/** No file that Octavo reads into memory may be larger, in bytes, unless its reader sets another limit. */
export const LARGEST_FILE = 64 * 1_048_576;

export interface ReadLimits {
  /** Bytes. */
  readonly limit: number;
  /**
   * The path has no symbolic link in it, as `realpath` returns it. Where one has been put into it meanwhile, the file is
   * refused. Default: links are followed.
   */
  readonly resolved?: boolean;
}

/** A FIFO has no reader to wait for, and a terminal is not adopted. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * The bytes of a regular file. Throws an Error that says why where it is something else (a FIFO, a device, a socket, a
 * directory), where it is larger than the limit, and where the file system refuses.
 */
export function readRegularFile(path: string, { limit, resolved = false }: ReadLimits): Buffer {
  // Checked before it is opened too: opening a device can be an action of its own.
  mustBeRegular(statSync(path), limit);
  const file = openSync(path, resolved ? FLAGS | (constants.O_NOFOLLOW ?? 0) : FLAGS);
  try {
    const stats = fstatSync(file);
    mustBeRegular(stats, limit);
    if (resolved && pathOf(file, path) !== path) {
      throw new Error('it was moved while it was opened; try again');
    }
    return readUpTo(file, stats.size, limit);
  } finally {
    closeSync(file);
  }
}

/** What an open file is called now: the system's own answer on Linux, else another look at its path. */
function pathOf(file: number, path: string): string {
  return process.platform === 'linux' ? readlinkSync(`/proc/self/fd/${file}`) : realpathSync.native(path);
}

/** The size is what the system says, which for generated files (`/proc`) is 0. */
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
  if (!stats.isFile()) {
    throw new Error(`it is ${typeOf(stats)}, not a regular file`);
  }
  if (stats.size > limit) {
    throw tooLarge(stats.size, limit);
  }
}

function typeOf(stats: Stats): string {
  if (stats.isDirectory()) {
    return 'a directory';
  }
  if (stats.isFIFO()) {
    return 'a FIFO';
  }
  return stats.isSocket() ? 'a socket' : 'a device';
}

function tooLarge(size: number, limit: number): Error {
  const megabytes = (bytes: number) => `${Math.ceil((bytes / 1_048_576) * 10) / 10} MB`;
  return new Error(`it is ${megabytes(size)}; at most ${megabytes(limit)} are read`);
}
