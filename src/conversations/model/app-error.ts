import { AppError, SourceError } from '../../core/errors.ts';

/** Converts an error to an AppError. The message of any other error is omitted, because it may quote a conversation. */
export function toAppError(error: unknown, source: string): AppError {
  if (error instanceof AppError) {
    return error;
  }
  const name = error instanceof Error ? error.name : 'an error';
  return new SourceError(`${source}: unexpected ${name} while reading the source`, { cause: error });
}
