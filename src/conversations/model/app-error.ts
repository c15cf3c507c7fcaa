import { AppError, SourceError } from '../../core/errors.ts';

/** An error that may be told: another's message may quote what it was about. */
export function tellable(error: unknown, source: string): AppError {
  if (error instanceof AppError) {
    return error;
  }
  const name = error instanceof Error ? error.name : 'an error';
  return new SourceError(`${source}: unexpected ${name} while reading the source`, { cause: error });
}
