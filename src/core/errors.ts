/**
 * Errors are named by what happens next, never matched by message.
 *
 * - `stall`: a person must act; trying again changes nothing.
 * - `wait`: it will work later; `after` says when, where that is known.
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

/** Base of every error that Octavo raises on purpose. Its message is written for a person and carries no secret. */
export abstract class AppError extends Error {
  /** Stable, for logs and metrics. */
  abstract readonly code: string;
  abstract readonly disposition: Disposition;
  /** What a command that ends with this error exits with. */
  readonly exitCode: ExitCode = EXIT.failed;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** One thing that is wrong with a file, and what would be right. Lines and columns count from 1. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The resource it concerns, or the place inside the file; may be empty. */
  readonly address: string;
  readonly message: string;
}

/** Formats a problem as `file:line:column: address: what is wrong, and what would be right`. */
export function formatProblem(problem: Problem): string {
  const place = `${problem.file}:${problem.line}:${problem.column}`;
  return problem.address === '' ? `${place}: ${problem.message}` : `${place}: ${problem.address}: ${problem.message}`;
}

function listProblems(problems: readonly Problem[]): string {
  return problems.map(formatProblem).join('\n');
}

/** The manifests cannot be read as a desired state. Carries every problem found, not the first. */
export class DesiredStateError extends AppError {
  readonly code = 'invalid-manifests';
  readonly disposition = 'stall';
  override readonly exitCode = EXIT.invalid;
  readonly problems: readonly Problem[];
  /** The manifests that were read, those without a problem included, as problems name them. */
  readonly files: readonly string[];

  constructor(problems: readonly Problem[], files: readonly string[] = [], options?: ErrorOptions) {
    super(listProblems(problems), options);
    this.problems = problems;
    this.files = files;
  }
}

/** The daemon's configuration, the command line or the environment is wrong. */
export class ConfigError extends AppError {
  readonly code = 'invalid-config';
  readonly disposition = 'stall';
  override readonly exitCode = EXIT.invalid;
}

/** Damage control refuses the plan as a whole, or what was approved is not what would be done. */
export class RefusedPlanError extends AppError {
  readonly code = 'refused-plan';
  readonly disposition = 'stall';
  override readonly exitCode = EXIT.held;
}

/** The platform does not accept the token (401), or the token may not do this (403). */
export class AuthError extends AppError {
  readonly code = 'not-authorized';
  readonly disposition = 'stall';
  readonly status: number;

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The platform understood the request and refused it (4xx other than 401, 403, 408 and 429). */
export class RejectedError extends AppError {
  readonly code = 'rejected';
  readonly disposition = 'stall';
  readonly status: number;

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The rate limit is used up. `after` is how long to wait, in milliseconds, where the platform said so. */
export class RateLimitedError extends AppError {
  readonly code = 'rate-limited';
  readonly disposition = 'wait';
  readonly after: number | null;

  constructor(message: string, after: number | null, options?: ErrorOptions) {
    super(message, options);
    this.after = after;
  }
}

/** Something this change stands on is not there yet. */
export class DependencyNotReadyError extends AppError {
  readonly code = 'dependency-not-ready';
  readonly disposition = 'wait';
}

/**
 * Network trouble, a timeout, or a fault of the platform (5xx).
 * `maybeDone` is true when the request may have reached the platform, so that a write must be looked up before it is
 * sent again.
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

/** What answers is not the platform: HTML, an unexpected redirect, a body that is no JSON. */
export class NotThePlatformError extends AppError {
  readonly code = 'not-the-platform';
  readonly disposition = 'stall';
}

/** A job waited in the queue past its deadline, or was cancelled. */
export class CancelledError extends AppError {
  readonly code = 'cancelled';
  readonly disposition = 'wait';
}

/** The process was asked to end before the command was done. */
export class InterruptedError extends AppError {
  readonly code = 'interrupted';
  readonly disposition = 'stall';
  override readonly exitCode: ExitCode;

  constructor(signal: 'SIGINT' | 'SIGTERM' = 'SIGINT', options?: ErrorOptions) {
    super(signal === 'SIGINT' ? 'interrupted' : 'terminated', options);
    this.exitCode = signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
  }
}

/** A git repository, a directory or a file on disk could not be read or written. */
export class SourceError extends AppError {
  readonly code = 'source';
  readonly disposition = 'retry';
}

/** The state file cannot be used: locked by another process, of a newer version, or damaged. */
export class StoreError extends AppError {
  readonly code = 'store';
  readonly disposition = 'stall';
}

/** An error's message for a person; what is no `Error` is written out. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
