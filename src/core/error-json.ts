/** Errors as JSON, for another process: the class, the message and what the class needs. */
import {
  AppError,
  AuthError,
  CancelledError,
  ConfigError,
  DependencyNotReadyError,
  DesiredStateError,
  InterruptedError,
  messageOf,
  NotThePlatformError,
  type Problem,
  RateLimitedError,
  RefusedPlanError,
  RejectedError,
  SourceError,
  StoreError,
  TransientError,
} from './errors.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

/** Error of another process whose class is not known here. */
class ForeignError extends Error {}

/** Creates an error of each class, from its message and its other members. */
const CLASSES: Readonly<Record<string, (message: string, members: JsonObject) => AppError>> = {
  'invalid-manifests': (message, { problems }) => {
    const error = new DesiredStateError(Array.isArray(problems) ? problems.filter(isProblem) : []);
    return error.problems.length === 0 ? withMessage(error, message) : error;
  },
  'invalid-config': (message) => new ConfigError(message),
  'refused-plan': (message) => new RefusedPlanError(message),
  'not-authorized': (message, { status }) => new AuthError(message, Number(status)),
  rejected: (message, { status }) => new RejectedError(message, Number(status)),
  'rate-limited': (message, { after }) => new RateLimitedError(message, after === null ? null : Number(after)),
  'dependency-not-ready': (message) => new DependencyNotReadyError(message),
  transient: (message, { maybeDone }) => new TransientError(message, maybeDone === true),
  'not-the-platform': (message) => new NotThePlatformError(message),
  cancelled: (message) => new CancelledError(message),
  interrupted: (message) => new InterruptedError(message === 'terminated' ? 'SIGTERM' : 'SIGINT'),
  source: (message) => new SourceError(message),
  store: (message) => new StoreError(message),
};

/** Describes an error. Its cause, its stack and the list of all manifests stay here. */
export function errorToJson(error: unknown): JsonObject {
  const message = messageOf(error);
  if (!(error instanceof AppError)) {
    return { code: null, message };
  }
  const code = codeOf(error);
  if (error instanceof DesiredStateError) {
    return { code, ...(error.problems.length === 0 ? { message } : {}), problems: error.problems as unknown as Json };
  }
  if (error instanceof AuthError || error instanceof RejectedError) {
    return { code, message, status: error.status };
  }
  if (error instanceof RateLimitedError) {
    return { code, message, after: error.after };
  }
  return error instanceof TransientError ? { code, message, maybeDone: error.maybeDone } : { code, message };
}

/** Returns the code of an error's class, or of the class that it extends. */
function codeOf(error: AppError): string | null {
  if (CLASSES[error.code] !== undefined) {
    return error.code;
  }
  return error instanceof TransientError ? 'transient' : error instanceof StoreError ? 'store' : null;
}

/** Creates the error that was described, also by another version or another program. A code of a newer version becomes an error without a code. */
export function errorFromJson({ code, message, ...members }: JsonObject): Error {
  const text = String(message ?? '');
  const create = typeof code === 'string' && Object.hasOwn(CLASSES, code) ? CLASSES[code] : undefined;
  return create === undefined ? withMessage(new ForeignError(text), text) : create(text, members);
}

function isProblem(value: unknown): value is Problem {
  return (
    isObject(value) &&
    ['file', 'address', 'message'].every((name) => typeof value[name] === 'string') &&
    ['line', 'column'].every((name) => typeof value[name] === 'number')
  );
}

function withMessage<T extends Error>(error: T, message: string): T {
  error.message = message;
  return error;
}
