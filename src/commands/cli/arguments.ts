/** Options that commands share, and parsers of option values. The parsers throw InvalidArgumentError. */
import { InvalidArgumentError } from 'commander';
import { readDuration } from '../../config/values.ts';
import type { ExitCode } from '../../core/errors.ts';

/** Sets the exit code of the process. */
export type SetExitCode = (code: ExitCode) => void;

/** `--config`. */
export const CONFIG = [
  '--config <file>',
  'Configuration file (default: OCTAVO_CONFIG, then the environment, then config.yaml)',
] as const;
export const ORGANIZATION = ['--organization <id>', 'Organization to use when several are configured'] as const;

export const SCOPE = [
  '--scope <name>',
  'Scope of the manifest directory when an organization has several (default: its path in the repository)',
] as const;

/** Parses a whole number. */
export function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) {
    throw new InvalidArgumentError('It must be a whole number.');
  }
  return value;
}

/** Returns a parser of whole numbers up to `most`. */
export function upTo(most: number): (text: string) => number {
  return (text) => {
    const value = count(text);
    if (value > most) {
      throw new InvalidArgumentError(`It must be at most ${most}.`);
    }
    return value;
  };
}

/** Parses a duration such as 30s, or 0, to milliseconds. */
export function durationOrZero(text: string): number {
  return text === '0' ? 0 : duration(text);
}

/** Parses a duration such as 30d to milliseconds. */
export function duration(text: string): number {
  const milliseconds = readDuration(text);
  if (milliseconds === undefined) {
    throw new InvalidArgumentError('It must be a duration such as 30d or 12h.');
  }
  return milliseconds;
}
