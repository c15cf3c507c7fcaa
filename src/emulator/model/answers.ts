/** Answers of operations, and the errors that end operations. */

/** Answer of an operation, before it is written to the connection. */
export interface ApiAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly location?: string | undefined;
  /** Events that are sent instead of a body, followed by `done`. Source: docs/platform-notes.md#ask */
  readonly events?: readonly unknown[];
  /** Preference of the request that the answer honors. */
  readonly preference?: string;
}

/** Error that ends an operation with an HTTP status. Source: docs/platform-notes.md#errors */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Returns `{"error": {"code", "message"}}`, where the code is the status. Source: docs/platform-notes.md#errors */
export function errorBody(status: number, message: string): unknown {
  return { error: { code: status, message } };
}

/** Creates a 400 that names the field and its problem. */
export function invalid(field: string, problem: string): ApiError {
  return new ApiError(400, `${field}: ${problem}`);
}

/** Creates a 404 for a resource in a path that does not exist. */
function notFound(what: string, id: string): ApiError {
  return new ApiError(404, `${what} "${id}" not found`);
}

/** Creates a 409 for a move or transfer that would change nothing. Source: docs/platform-notes.md#errors */
export function noUpdate(): ApiError {
  return new ApiError(409, 'Nothing to update: it is already there');
}

export function ok(body: unknown): ApiAnswer {
  return { status: 200, body };
}

/** Creates a 200 that is streamed in pieces. */
export function streamed(events: readonly unknown[]): ApiAnswer {
  return { status: 200, events };
}

/** Creates a 201, with `Location` for the kinds that have one. Source: docs/platform-notes.md#write-status-codes */
export function created(body: unknown, location?: string): ApiAnswer {
  return { status: 201, body, location };
}

export function noContent(): ApiAnswer {
  return { status: 204 };
}

/** Creates a 205 if the resource was deleted, or a 204 if it did not exist. Source: docs/platform-notes.md#deletions */
export function deleted(existed: boolean): ApiAnswer {
  return { status: existed ? 205 : 204 };
}

/** Returns the record that a path names, or throws a 404. */
export function found<R>(record: R | undefined, what: string, id: string): R {
  if (record === undefined) {
    throw notFound(what, id);
  }
  return record;
}

/** Returns the record that a body names, or throws a 400 that names the field. */
export function referenced<R>(record: R | undefined, field: string, what: string, id: string): R {
  if (record === undefined) {
    throw invalid(field, `${what} "${id}" does not exist`);
  }
  return record;
}

/** A file to download. */
export interface Download {
  readonly contentType: string;
  readonly bytes: Buffer;
}
