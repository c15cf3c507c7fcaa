/**
 * Handling of an error. Code decides by disposition or class, never by message.
 *
 * - `stall`: a person must act; a retry changes nothing.
 * - `wait`: it will work later; `after` is the time to wait, if known.
 * - `retry`: it may work now.
 */
export type Disposition = 'stall' | 'wait' | 'retry';

/** Exit codes of the commands. `docs/commands.md` lists them. */
export const EXIT = {
  done: 0,
  failed: 1,
  changes: 2,
  invalid: 3,
  held: 4,
  pending: 5,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Base class of Octavo's errors. The message is written for a person and contains no secrets. */
export abstract class AppError extends Error {
  /** Stable code for logs and metrics. */
  abstract readonly code: string;
  abstract readonly disposition: Disposition;
  /** Exit code of a command that fails with this error. */
  readonly exitCode: ExitCode = EXIT.failed;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Words for errors of the file system, and what to do, by the code of the operating system. */
const FILE_PROBLEMS: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  EACCES: ['permission denied', 'check the permissions of the path and its folders'],
  EPERM: ['the system does not allow it', 'check the owner and the permissions of the path'],
  EROFS: ['the file system is read-only', 'choose another place, or mount it writable'],
  ENOSPC: ['no space is left', 'free space, or choose another place'],
  EDQUOT: ['the disk quota is used up', 'free space, or choose another place'],
  ENOTDIR: ['a part of the path is not a folder', 'correct the path, or move the file away'],
  EISDIR: ['it is a folder, not a file', 'name a file'],
  ENOENT: ['no such file or folder', 'check the path, or create its folder'],
  ELOOP: ['symbolic links form a loop', 'correct the links'],
  ENAMETOOLONG: ['the name is too long', 'choose a shorter one'],
  EMFILE: ['too many files are open in this process', 'raise the limit (ulimit -n)'],
  ENFILE: ['too many files are open on this machine', 'close other programs, or raise the limit'],
  EEXIST: ['it already exists', 'move it away, or choose another name'],
  EBUSY: ['it is in use', 'close the program that uses it, and run the command again'],
  EXDEV: ['source and target are on different file systems', 'choose a place on the same file system'],
  ENOTEMPTY: ['the folder is not empty', 'empty it, or choose another one'],
  EIO: ['the disk reports an error', 'check the disk'],
};
const FILE_CALLS: Readonly<Record<string, string>> = {
  mkdir: 'create the folder',
  mkdtemp: 'create a folder at',
  scandir: 'list',
  opendir: 'list',
  read: 'read',
  write: 'write',
  rename: 'rename',
  unlink: 'remove',
  rm: 'remove',
  rmdir: 'remove',
  copyfile: 'copy',
};

/** Says what failed at which path and what to do. Null for anything but an error of the file system. */
export function describeFileError(error: unknown): string | null {
  const { code = '', syscall = '', path } = (error ?? {}) as NodeJS.ErrnoException;
  const problem = Object.hasOwn(FILE_PROBLEMS, code) ? FILE_PROBLEMS[code] : undefined;
  // Other calls (listen, connect, spawn) use the same codes, and have neither a path nor a name in the list.
  if (problem === undefined || syscall.startsWith('spawn') || (path === undefined && !(syscall in FILE_CALLS))) {
    return null;
  }
  const where = path === undefined ? 'a file' : String(path);
  return `cannot ${FILE_CALLS[syscall] ?? 'open'} ${where}: ${problem[0]} (${code}); ${problem[1]}`;
}

/** Problem in a file. Lines and columns count from 1. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Resource that it concerns, or the position inside the file; may be empty. */
  readonly address: string;
  readonly message: string;
}

/** Returns a problem of a whole file. */
export function problemOfFile(file: string, message: string): Problem {
  return { file, line: 1, column: 1, address: '', message };
}

/** Formats a problem as `file:line:column: address: message`. */
export function formatProblem(problem: Problem): string {
  const place = `${problem.file}:${problem.line}:${problem.column}`;
  return problem.address === '' ? `${place}: ${problem.message}` : `${place}: ${problem.address}: ${problem.message}`;
}

/** Manifests cannot be read as desired state. Contains every problem, not only the first. */
export class DesiredStateError extends AppError {
  readonly code = 'invalid-manifests';
  readonly disposition = 'stall';
  override readonly exitCode = EXIT.invalid;
  readonly problems: readonly Problem[];
  /** All manifests that were read, including those without problems, named as in problems. */
  readonly files: readonly string[];
  /** The lines of the files at the first problems, as they were read. They may contain secrets: for `excerptOf` only. */
  readonly lines: ReadonlyMap<Problem, string>;

  constructor(
    problems: readonly Problem[],
    files: readonly string[] = [],
    options: ErrorOptions & { readonly lines?: ReadonlyMap<Problem, string> } = {},
  ) {
    super(problems.map(formatProblem).join('\n'), options);
    this.problems = problems;
    this.files = files;
    this.lines = options.lines ?? new Map();
  }
}

/** Configuration, command line or environment is invalid. */
export class ConfigError extends AppError {
  readonly code = 'invalid-config';
  readonly disposition = 'stall';
  override readonly exitCode = EXIT.invalid;
}

/** A guard refuses the whole plan, or the plan differs from the approved one. */
export class RefusedPlanError extends AppError {
  readonly code = 'refused-plan';
  readonly disposition = 'stall';
  override readonly exitCode = EXIT.held;
}

abstract class RefusedRequestError extends AppError {
  readonly disposition = 'stall';
  readonly status: number;

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The platform rejects the token (401), or the token lacks a permission (403). */
export class AuthError extends RefusedRequestError {
  readonly code = 'not-authorized';
}

/** The platform understood the request and refused it (4xx other than 401, 403, 408 and 429). */
export class RejectedError extends RefusedRequestError {
  readonly code = 'rejected';
}

/** The rate limit is used up (429). `after` is the time to wait in milliseconds, if the platform named one. */
export class RateLimitedError extends AppError {
  readonly code = 'rate-limited';
  readonly disposition = 'wait';
  readonly after: number | null;

  constructor(message: string, after: number | null, options?: ErrorOptions) {
    super(message, options);
    this.after = after;
  }
}

/** A dependency of this change does not exist yet. */
export class DependencyNotReadyError extends AppError {
  readonly code = 'dependency-not-ready';
  readonly disposition = 'wait';
}

/**
 * Network error, timeout, or error of the platform (5xx).
 * `maybeDone` is true if the request may have reached the platform, so that a write must be looked up before it is sent
 * again.
 */
export class TransientError extends AppError {
  readonly code: string = 'transient';
  readonly disposition = 'retry';
  readonly maybeDone: boolean;

  constructor(message: string, maybeDone: boolean, options?: ErrorOptions) {
    super(message, options);
    this.maybeDone = maybeDone;
  }
}

/** The response is not from the platform: HTML, an unexpected redirect, or a body that is not JSON. */
export class NotThePlatformError extends AppError {
  readonly code = 'not-the-platform';
  readonly disposition = 'stall';
}

/** A request waited in the queue past its deadline, or was cancelled. */
export class CancelledError extends AppError {
  readonly code = 'cancelled';
  readonly disposition = 'wait';
}

/** The process was interrupted before the command was done. */
export class InterruptedError extends AppError {
  readonly code = 'interrupted';
  readonly disposition = 'stall';
  override readonly exitCode: ExitCode;

  constructor(signal: 'SIGINT' | 'SIGTERM' = 'SIGINT', options?: ErrorOptions) {
    super(signal === 'SIGINT' ? 'interrupted' : 'terminated', options);
    this.exitCode = signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
  }
}

/** A git repository, a directory or a file on disk cannot be read or written. */
export class SourceError extends AppError {
  readonly code = 'source';
  readonly disposition = 'retry';
}

/** The state file or the database cannot be used, such as one that is damaged, or that a newer version wrote. */
export class StoreError extends AppError {
  readonly code: string = 'store';
  readonly disposition = 'stall';
}

/**
 * Another replica may have claimed the lease of this work: nothing was written or sent, and the work ends here. `short`: the
 * lease was not renewed, and may end before a request does.
 */
export class LeaseLostError extends StoreError {
  override readonly code = 'lease-lost';
  readonly lease: string;

  constructor(lease: string, loss: 'lost' | 'short' = 'lost') {
    const what =
      loss === 'lost'
        ? 'was lost; nothing was written'
        : 'was not renewed in time; the request was not sent, because another replica may claim the lease before the answer';
    super(`the lease ${lease} ${what}. The replica that has the lease next continues the work`);
    this.lease = lease;
  }
}

/** Returns the message of an error; other values are converted to text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the error itself; other values become the message of one. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}
