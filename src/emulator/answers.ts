/** What an operation answers, before it is written to the connection. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly location?: string | undefined;
  /** What is sent instead of a body, one after the other, and `done` (platform API, Ask). */
  readonly events?: readonly unknown[];
  /** The preference of the request that the answer follows. */
  readonly preference?: string;
}

/** Ends an operation with an error status (supplement, section 2: Error body). */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** `{"error": {"code", "message"}}`, the code being the status (supplement, section 2). */
export function errorBody(status: number, message: string): unknown {
  return { error: { code: status, message } };
}

/** 400: the body or the query says something that cannot be; names the field. */
export function invalid(field: string, problem: string): ApiError {
  return new ApiError(400, `${field}: ${problem}`);
}

/** 404: a path names something that does not exist. */
export function notFound(what: string, id: string): ApiError {
  return new ApiError(404, `${what} "${id}" not found`);
}

/** 409: a move or transfer that would change nothing (platform API, Errors). */
export function noUpdate(): ApiError {
  return new ApiError(409, 'Nothing to update: it is already there');
}

export function ok(body: unknown): Answer {
  return { status: 200, body };
}

/** 200, in pieces. */
export function streamed(events: readonly unknown[]): Answer {
  return { status: 200, events };
}

/** 201; with `Location` for the kinds that the supplement lists (section 2, Write status codes). */
export function created(body: unknown, location?: string): Answer {
  return { status: 201, body, location };
}

export function noContent(): Answer {
  return { status: 204 };
}

/** 205 when something was deleted, 204 when it did not exist (supplement, section 2). */
export function deleted(existed: boolean): Answer {
  return { status: existed ? 205 : 204 };
}
